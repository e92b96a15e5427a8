"""A run queue for a large store: of a hundred entries ninety are done, six wait, three are leased, one is dead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from tests.bench.seed_money import BATCH, NUMBERS

if TYPE_CHECKING:
    from engine import Store

_MINUTE: Final = 60_000_000_000
_STATE: Final = (
    "CASE WHEN n % 100 < 90 THEN 'done' WHEN n % 100 < 96 THEN 'queued'"
    " WHEN n % 100 < 99 THEN 'leased' ELSE 'dead' END"
)
_LEASED: Final = "n % 100 BETWEEN 96 AND 98"
_ENTRIES: Final = f"""
INSERT INTO queue_entry (id, thread_id, tenant, input, state, available_at, lease_owner, lease_token, lease_until,
  attempts, max_attempts, last_error)
SELECT 'entry-' || CAST(1000000000 + n AS text), 'thread-' || CAST(1000000000 + n AS text),
  CASE WHEN n % 10 = 0 THEN NULL ELSE 'tenant-' || CAST(n % 50 AS text) END, '{{}}', {_STATE},
  :now + (n % 600 - 300) * {_MINUTE}, CASE WHEN {_LEASED} THEN 'worker-' || CAST(n % 40 AS text) END, 1,
  CASE WHEN {_LEASED} THEN :now + (n % 60 - 5) * {_MINUTE} END, 1, 5,
  CASE WHEN n % 100 = 99 THEN 'it never came to an end' END
FROM (@numbers) AS numbers
"""


def seed_queue(store: Store, entries: int, now: int) -> None:
    """So many entries, one a thread, due within five hours of `now` (ns) either way."""
    statement = text(_ENTRIES.replace("@numbers", NUMBERS[store.engine.dialect.name]))
    for low in range(1, entries + 1, BATCH):
        with store.engine.begin() as connection:
            values = {"now": now, "low": low, "high": min(low + BATCH - 1, entries)}
            connection.execute(statement, values)
