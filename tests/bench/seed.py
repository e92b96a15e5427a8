"""`python -m tests.bench.seed URL --threads 1000000 --reservations 100000`: a large store, filled by the database.

The rows are what commits would have left: a checkpoint and some events a thread, fifty owners, every status, live
and lapsed claims. Threads are three seconds apart, the newest committed just now.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from engine import open_store
from tests.bench.seed_money import NUMBERS as _NUMBERS
from tests.bench.seed_money import seed_money
from tests.bench.seed_queue import seed_queue

if TYPE_CHECKING:
    from sqlalchemy import Connection

OWNERS: Final = 50
APART: Final = 3_000_000_000
"""Nanoseconds between two threads."""
DAY: Final = 86_400_000_000_000
BATCH: Final = 100_000
"""Threads in one statement."""

_STATUS = (
    "CASE WHEN n % 100 < 2 THEN 'running' WHEN n % 100 < 7 THEN 'suspended' "
    "WHEN n % 100 < 10 THEN 'failed' ELSE 'completed' END"
)
_ID = "'thread-' || CAST(1000000000 + n AS text)"
_OWNER = f"CASE WHEN n % 10 = 0 THEN '' ELSE 'ttenant-' || CAST(n % {OWNERS} AS text) END"
_AT = f":now - (:threads - n) * {APART}"
_CLAIMED = "n % 200 < 2"
_THREADS = f"""
INSERT INTO thread (thread_id, tenant_key, latest_id, latest_place, latest_status, latest_run_id, last_place,
  created_at, updated_at, first_seq, next_seq, floor_seq, claim_token, claim_holder, claim_tenant,
  claim_tenant_recorded, claim_granted_at, claim_renewed_at, claim_renewals, claim_expires_at)
SELECT {_ID}, {_OWNER}, 'c1', 1, {_STATUS}, 'run-' || CAST(n AS text), 1, {_AT}, {_AT}, 1, :events + 1, 1,
  CASE WHEN {_CLAIMED} THEN n END, CASE WHEN {_CLAIMED} THEN 'worker-' || CAST(n % 40 AS text) END, NULL, {{false}},
  CASE WHEN {_CLAIMED} THEN {_AT} END, CASE WHEN {_CLAIMED} THEN {_AT} END, CASE WHEN {_CLAIMED} THEN 0 END,
  CASE WHEN n % 200 = 0 THEN :now + {DAY} WHEN n % 200 = 1 THEN {_AT} END
FROM ({{numbers}}) AS numbers
"""
_CHECKPOINTS = f"""
INSERT INTO checkpoint (thread_id, place, checkpoint_id, run_id, status, committed_at, created_at, first_seq, format,
  tenant, body)
SELECT {_ID}, 1, 'c1', 'run-' || CAST(n AS text), {_STATUS}, {_AT}, {_AT}, 1, 1,
  CASE WHEN n % 10 = 0 THEN NULL ELSE 'tenant-' || CAST(n % {OWNERS} AS text) END,
  '{{{{"state":{{{{"messages":["seeded"],"number":' || CAST(n AS text) || '}}}}}}}}'
FROM ({{numbers}}) AS numbers
"""
_EVENTS = f"""
INSERT INTO event (thread_id, seq, kind, run_id, checkpoint_id, timestamp, committed_at, token, payload)
SELECT {_ID}, :seq, 'step.done', 'run-' || CAST(n AS text), 'c1', {_AT}, {_AT}, 1,
  '{{{{"step":' || CAST(n AS text) || '}}}}'
FROM ({{numbers}}) AS numbers
"""


def seed(url: str, threads: int, events: int, reservations: int = 0, queue: int = 0) -> None:
    """Fill an empty store; `reservations` of a day, and as many of a meter; `queue` entries of the run queue."""
    with open_store(url) as store:
        now = time.time_ns() // 1000 * 1000
        for low in range(1, threads + 1, BATCH):
            high = min(low + BATCH - 1, threads)
            values = {"low": low, "high": high, "now": now, "threads": threads, "events": events}
            with store.engine.begin() as connection:
                _batch(connection, values)
        if reservations:
            seed_money(store, reservations, now)
        if queue:
            seed_queue(store, queue, now)
        with store.engine.begin() as connection:
            _settle(connection, threads)


def _batch(connection: Connection, values: dict[str, int]) -> None:
    for template in (_THREADS, _CHECKPOINTS):
        connection.execute(text(_filled(connection, template)), _used(template, values))
    for seq in range(1, values["events"] + 1):
        connection.execute(text(_filled(connection, _EVENTS)), _used(_EVENTS, {**values, "seq": seq}))


def _filled(connection: Connection, template: str) -> str:
    name = connection.dialect.name
    return template.format(numbers=_NUMBERS[name], false="false" if name == "postgresql" else "0")


def _used(template: str, values: dict[str, int]) -> dict[str, int]:
    always = ("low", "high")
    return {key: value for key, value in values.items() if key in always or f":{key}" in template}


def _settle(connection: Connection, threads: int) -> None:
    """Counters past what was used, and fresh statistics."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT setval('token', :last)"), {"last": threads})
    else:
        connection.execute(text("UPDATE meta SET last_token = :last"), {"last": threads})
    connection.execute(text("ANALYZE"))


def main() -> None:
    """Seed the store named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.seed", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--threads", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=2, help="events of each thread")
    parser.add_argument("--reservations", type=int, default=0, help="of days, and as many of a meter")
    parser.add_argument("--queue", type=int, default=0, help="entries of the run queue")
    given = parser.parse_args()
    seed(given.url, given.threads, given.events, given.reservations, given.queue)


if __name__ == "__main__":
    main()
