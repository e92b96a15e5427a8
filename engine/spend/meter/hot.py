"""Reserve and settle as one statement each, for back ends with data-modifying CTEs (design rule 4, rulings 1 and 2).

One round trip, committed by itself. Each decides by rows that it locks itself, the reservation's before the
account's. No row in the answer means "not done" and nothing else: the ordinary form then decides and names the reason.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engine.database.prepared import Prepared
from engine.database.statement import begun
from engine.spend.meter.model import ReservationState
from engine.spend.meter.tables import MOST_PREFIXES

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.reserve import Request
    from engine.spend.meter.settle import Settling
    from engine.spend.meter.tables import MeterTables

ROOM_LOST: Final = "22012"
"""Division by zero, which undoes a reservation whose room went to another while it waited for the account's row."""

# The first leg looks at the account without a lock, so that a full one costs no error. What decides is the second
# leg, which has waited for the row; without it the first must not stay, and only an error takes a statement back.
_RESERVE: Final = """
WITH r AS (
  INSERT INTO {reservations} (operation_id, account_id, period, units, state, attempts, reserved_at, expires_at{fenced})
  SELECT %(op)s::text, %(account)s::text, %(label)s::text, %(units)s::bigint, 'reserved', 1, %(at)s::bigint,
    %(until)s::bigint{fence}
  WHERE EXISTS (
    SELECT FROM {meter} WHERE account_id = %(account)s::text AND period = %(label)s::text
      AND reserved + %(units)s::bigint <= %(limit)s::bigint - used
  )
  ON CONFLICT (operation_id) DO NOTHING
  RETURNING units
), m AS (
  UPDATE {meter} AS a SET allowance = %(limit)s::bigint, reserved = a.reserved + r.units, updated_at = %(at)s::bigint
  FROM r
  WHERE a.account_id = %(account)s::text AND a.period = %(label)s::text
    AND a.reserved + r.units <= %(limit)s::bigint - a.used
  RETURNING a.allowance - a.used - a.reserved AS remaining
)
SELECT coalesce((SELECT remaining FROM m), 1 / (SELECT count(*) FROM m)) FROM r
"""
_SETTLE: Final = """
WITH r AS (
  UPDATE {reservations} SET state = %(word)s::text, outcome = %(how)s::text, settled_at = %(at)s::bigint,
    usage_json = %(usage)s::text
  WHERE operation_id = %(op)s::text AND state = 'reserved'
    AND (%(attempt)s::bigint IS NULL OR attempts = %(attempt)s::bigint)
  RETURNING account_id, period, units
), m AS (
  UPDATE {meter} AS a SET reserved = greatest(a.reserved - r.units, 0), used = a.used + r.units * %(spent)s::bigint,
    updated_at = %(at)s::bigint
  FROM r WHERE a.account_id = r.account_id AND a.period = r.period
)
SELECT 1 FROM r
"""


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _reserve(tables: MeterTables) -> Prepared:
    fenced, fence = (", fenced", ", %(fenced)s::boolean") if tables.has_fences else ("", "")
    return Prepared(_RESERVE.format(**_names(tables), fenced=fenced, fence=fence))


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _settle(tables: MeterTables) -> Prepared:
    return Prepared(_SETTLE.format(**_names(tables)))


def _names(tables: MeterTables) -> dict[str, str]:
    return {"meter": tables.meter.name, "reservations": tables.reservations.name}


def reserve(connection: Connection, tables: MeterTables, request: Request) -> int | None:
    """A first attempt under an account that has a row and room: what remains, or None for "not done".

    A StoreFailure with the SQLSTATE of ROOM_LOST means the same.
    """
    values = {
        "op": request.operation_id,
        "account": request.account_id,
        "label": request.period,
        "units": request.units,
        "limit": request.allowance,
        "fenced": "true" if request.fenced else "false",
        "at": request.at,
        "until": request.until,
    }
    remaining: int | None = begun(connection).number(_reserve(tables), values)
    return remaining


def settle(connection: Connection, tables: MeterTables, settling: Settling) -> bool:
    """Settle a reserved row; False for "not done"."""
    values = {
        "op": settling.operation_id,
        "word": settling.state.value,
        "how": settling.outcome.value,
        "at": settling.at,
        "usage": settling.usage,
        "attempt": settling.attempt,
        "spent": int(settling.state is ReservationState.CONSUMED),
    }
    return begun(connection).number(_settle(tables), values) is not None
