"""The meter's two verbs by hand on psycopg, for a period meter with room: one statement a verb, and one a step."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from engine.spend import Reserved, Settlement, SettlementStatus

if TYPE_CHECKING:
    from tests.bench.floor_postgres import Pool

LEASE_MS = 45_000
PLENTY = 10**12
_INSERT = """
INSERT INTO bench_reservations (operation_id, account_id, period, units, state, attempts, reserved_at, expires_at)
VALUES (%(operation)s, %(account)s, %(period)s, 1, 'reserved', 1, %(now)s, %(until)s)
ON CONFLICT DO NOTHING RETURNING operation_id
"""
_ADD = """
UPDATE bench_meter SET reserved = reserved + 1, allowance = %(allowance)s
WHERE account_id = %(account)s AND period = %(period)s AND used + reserved + 1 <= %(allowance)s
"""
_LEFT = "RETURNING allowance - used - reserved"
_RESERVE = f"""
WITH r AS ({_INSERT}), m AS ({_ADD} AND EXISTS (SELECT 1 FROM r) {_LEFT}) SELECT * FROM m
"""
_SETTLE = """
WITH r AS (
  UPDATE bench_reservations SET state = 'consumed', outcome = 'consumed', settled_at = %(now)s
  WHERE operation_id = %(operation)s AND state = 'reserved' RETURNING account_id, period, units
), m AS (
  UPDATE bench_meter SET reserved = greatest(0, reserved - r.units), used = used + r.units, updated_at = %(now)s
  FROM r WHERE bench_meter.account_id = r.account_id AND bench_meter.period = r.period
)
SELECT units FROM r
"""
_OPEN_ACCOUNT = """
INSERT INTO bench_meter (account_id, period, allowance, updated_at)
VALUES (%(account)s, %(period)s, %(allowance)s, %(now)s) ON CONFLICT DO NOTHING
"""
_READ = "SELECT account_id, period, units, state FROM bench_reservations WHERE operation_id = %(operation)s"
_STATE = """
UPDATE bench_reservations SET state = 'consumed', outcome = 'consumed', settled_at = %(now)s
WHERE operation_id = %(operation)s AND state = 'reserved'
"""
_MOVE = """
UPDATE bench_meter SET reserved = greatest(0, reserved - %(units)s), used = used + %(units)s, updated_at = %(now)s
WHERE account_id = %(account)s AND period = %(period)s
"""


class Asking:
    """What every contender is given: an operation and the account it is for, accounts in turn."""

    def __init__(self, worker: str, accounts: int) -> None:
        self._worker, self._accounts, self._numbers = worker, accounts, count()

    def inputs(self, many: int) -> list[tuple[str, str]]:
        """Operations with their accounts."""
        numbers = [next(self._numbers) for _ in range(many)]
        return [(f"{self._worker}-{n}", f"account-{n % self._accounts}") for n in numbers]


class _ByHand(Asking):
    def __init__(self, pool: Pool, worker: str, accounts: int) -> None:
        super().__init__(worker, accounts)
        self._pool = pool
        with pool.checkout() as connection:
            for n in range(accounts):
                connection.execute(_OPEN_ACCOUNT, _values("", f"account-{n}"))


class OneStatement(_ByHand):
    """One statement that commits by itself, for each verb."""

    def do(self, given: tuple[str, str]) -> None:
        """Reserve, then settle."""
        values = _values(*given)
        with self._pool.checkout() as connection:
            left = connection.execute(_RESERVE, values).fetchone()
        _reserved(values, left)
        with self._pool.checkout() as connection:
            settled = connection.execute(_SETTLE, _values(*given)).fetchone()
        assert settled is not None
        Settlement(SettlementStatus.SETTLED, "consumed")


class StepByStep(_ByHand):
    """A transaction of one statement for each step."""

    def do(self, given: tuple[str, str]) -> None:
        """Reserve, then settle."""
        values = _values(*given)
        with self._pool.checkout() as connection, connection.transaction():
            assert connection.execute(_INSERT, values).fetchone() is not None
            connection.execute(_OPEN_ACCOUNT, values)
            left = connection.execute(f"{_ADD} {_LEFT}", values).fetchone()
        _reserved(values, left)
        values = _values(*given)
        with self._pool.checkout() as connection, connection.transaction():
            row = connection.execute(_READ, values).fetchone()
            assert row is not None
            assert connection.execute(_STATE, values).rowcount == 1
            connection.execute(_MOVE, {**values, "units": row[2]})
        Settlement(SettlementStatus.SETTLED, "consumed")


def period_of(now: datetime, _account: str) -> str:
    """The month in UTC."""
    return f"{now:%Y-%m}"


def _values(operation: str, account: str) -> dict[str, Any]:
    now = datetime.now(UTC)
    ms = int(now.timestamp() * 1000)
    return {
        "operation": operation,
        "account": account,
        "period": period_of(now, account),
        "allowance": PLENTY,
        "now": ms,
        "until": ms + LEASE_MS,
    }


def _reserved(values: dict[str, Any], left: Any) -> Reserved:
    assert left is not None
    expires = datetime.fromtimestamp(values["until"] / 1000, UTC)
    return Reserved(values["operation"], values["account"], values["period"], 1, 1, left[0], expires)
