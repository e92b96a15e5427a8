"""Money for a large store: reservations of a week's days and of a meter, made by the database itself.

Of a hundred, ninety are settled; the others are open, expired, fenced with evidence (due and not yet due), and a
day's operation that nobody works on. The totals of days and accounts are the sums of their rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import text

if TYPE_CHECKING:
    from engine import Store

PREFIX: Final = "seeded_units"
"""Of the meter's tables."""
WEEK: Final = 7 * 86_400_000_000_000
"""Nanoseconds over which the reservations are spread; the last is made now."""
BATCH: Final = 100_000
"""Reservations in one statement."""

NUMBERS: Final = {
    "postgresql": "SELECT generate_series(CAST(:low AS bigint), CAST(:high AS bigint)) AS n",
    "sqlite": "WITH RECURSIVE s(n) AS (SELECT :low UNION ALL SELECT n + 1 FROM s WHERE n < :high) SELECT n FROM s",
}
_DAY = {
    "postgresql": "to_char(to_timestamp(made / 1000000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
    "sqlite": "strftime('%Y-%m-%d', made / 1000000000, 'unixepoch')",
}
_EVIDENCE = (
    """'{"charge":"ch_' || CAST(n AS text) || '","status":"held","ticket":"OPS-' || CAST(n AS text) || '"}'"""
)
_PLACED = (
    "(SELECT n, n % 100 AS sort, :now - (:most - n) * :apart AS made FROM (@numbers) AS numbers) AS placed"
)
_HOUR, _MINUTE = 3_600_000_000_000, 60_000_000_000
_EXPIRES = f"""CASE WHEN sort < 90 THEN made + {_MINUTE} WHEN sort < 94 THEN :now + (n % 600 + 1) * {_MINUTE}
  ELSE made + {_MINUTE} END"""
_CHECK = (
    f"CASE WHEN sort = 97 THEN made + 2 * {_MINUTE} WHEN sort = 98 THEN :now + (n % 900 + 1) * {_MINUTE} END"
)
_RESERVATIONS = f"""
INSERT INTO spend_day_reservations (id, day, kind, micro, created_at, expires_at, due_at, require_fence, next_check_at,
  evidence, deferrals, operation_id, thread_id, recorded_micro, runs, settled_micro, settled_at)
SELECT 'reservation-' || CAST(1000000000 + n AS text), @day,
  CASE WHEN sort = 99 THEN 'operation' WHEN sort IN (97, 98) THEN 'charge'
    WHEN n % 7 = 0 THEN 'session' ELSE 'call' END,
  1000 + n % 9000, made, {_EXPIRES}, coalesce({_CHECK}, {_EXPIRES}), sort IN (97, 98), {_CHECK},
  CASE WHEN sort IN (97, 98) THEN {_EVIDENCE} END, CASE WHEN sort IN (97, 98) THEN 1 + n % 5 ELSE 0 END,
  CASE WHEN sort = 99 THEN 'operation-' || CAST(n AS text) END, 'thread-' || CAST(1000000000 + n AS text),
  CASE WHEN sort = 99 THEN 500 END, CASE WHEN sort = 99 THEN 1 END,
  CASE WHEN sort < 90 THEN 500 + n % 500 END, CASE WHEN sort < 90 THEN made + {_MINUTE} / 2 END
FROM {_PLACED}
"""
_RUNS = f"""
INSERT INTO spend_day_runs (reservation_id, run, bound_micro, began_at)
SELECT 'reservation-' || CAST(1000000000 + n AS text), 1, 500, made FROM {_PLACED} WHERE sort = 99
"""
_DAYS = """
INSERT INTO spend_days (day, reserved_micro, settled_micro)
SELECT day, sum(CASE WHEN settled_at IS NULL THEN micro ELSE 0 END), sum(coalesce(settled_micro, 0))
FROM spend_day_reservations GROUP BY day
"""
_UNITS = f"""
INSERT INTO {PREFIX}_reservations (operation_id, account_id, period, units, state, outcome, attempts, reserved_at,
  expires_at, settled_at, fenced, evidence_json)
SELECT 'run-' || CAST(1000000000 + n AS text), 'tenant-' || CAST(n / 7 % 50 AS text), @day, 1 + n % 3,
  CASE WHEN sort < 80 THEN 'consumed' WHEN sort < 90 THEN 'released' ELSE 'reserved' END,
  CASE WHEN sort < 80 THEN 'consumed' WHEN sort < 90 THEN 'released' END, 1 + n % 2, made / 1000000,
  coalesce({_CHECK}, {_EXPIRES}) / 1000000, CASE WHEN sort < 90 THEN (made + {_MINUTE} / 2) / 1000000 END,
  sort IN (97, 98), CASE WHEN sort IN (97, 98) THEN {_EVIDENCE} END
FROM {_PLACED}
"""
_ACCOUNTS = f"""
INSERT INTO {PREFIX}_meter (account_id, period, allowance, used, reserved, updated_at)
SELECT account_id, period, 10000000, sum(CASE WHEN state = 'consumed' THEN units ELSE 0 END),
  sum(CASE WHEN state = 'reserved' THEN units ELSE 0 END), max(reserved_at)
FROM {PREFIX}_reservations GROUP BY account_id, period
"""


def seed_money(store: Store, reservations: int, now: int) -> None:
    """So many reservations of days and of the meter, the last made at `now` (ns)."""
    options = {"allowance_for": lambda *_: 0, "period_of": lambda *_: "day", "require_shared": False}
    store.meter(**options, table_prefix=PREFIX).ensure_schema()
    always = {"now": now, "most": reservations, "apart": WEEK // reservations}
    for low in range(1, reservations + 1, BATCH):
        values = {**always, "low": low, "high": min(low + BATCH - 1, reservations)}
        for template in (_RESERVATIONS, _RUNS, _UNITS):
            _run(store, template, values)
    for template in (_DAYS, _ACCOUNTS):
        _run(store, template, {})


def _run(store: Store, template: str, values: dict[str, int]) -> None:
    name = store.engine.dialect.name
    statement = text(template.replace("@numbers", NUMBERS[name]).replace("@day", _DAY[name]))
    wanted = statement.compile().params
    with store.engine.begin() as connection:
        connection.execute(statement, {key: value for key, value in values.items() if key in wanted})
