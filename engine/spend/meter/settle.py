"""Settling: the one place where a reservation's state and its account's counters change together (2B.5, 3.2)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, Text, bindparam, select, update

from engine.arguments import member
from engine.database.statement import Statement
from engine.spend.meter.counters import counters, ended, refunded
from engine.spend.meter.model import Outcome, ReservationState, Settlement, SettlementStatus
from engine.spend.meter.tables import MOST_PREFIXES

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables

_log: Final = logging.getLogger("engine.spend.meter")
STATES: Final = {
    Outcome.CONSUMED: ReservationState.CONSUMED,
    Outcome.RELEASED: ReservationState.RELEASED,
    Outcome.REPLACED: ReservationState.RELEASED,
}


@dataclass(frozen=True, slots=True)
class Settling:
    """What is to be settled and how; `attempt` and `expires` are what the caller knows of the row, if it says so."""

    operation_id: str
    outcome: Outcome
    at: int
    usage: str | None = None
    attempt: int | None = None
    expires: int | None = None

    @property
    def state(self) -> ReservationState:
        """Where the reservation ends."""
        return STATES[self.outcome]


class _Rows:
    def __init__(self, tables: MeterTables) -> None:
        row = tables.reservations
        operation = row.c.operation_id == bindparam("op")
        seen = (row.c.account_id, row.c.period, row.c.units, row.c.state, row.c.outcome)
        times = (row.c.attempts, row.c.expires_at, row.c.settled_at)
        self.lock = Statement(select(*seen, *times).where(operation).with_for_update())
        self.write = Statement(
            update(row)
            .where(operation)
            .values(
                state=bindparam("word"),
                outcome=bindparam("how"),
                settled_at=bindparam("at", type_=BigInteger),
                usage_json=bindparam("usage", type_=Text),
            )
        )


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _rows(tables: MeterTables) -> _Rows:
    return _Rows(tables)


def outcome_of(word: str) -> Outcome:
    """The member; ValidationError for a word that is none."""
    return member("outcome", Outcome, word)


def settle(connection: Connection, tables: MeterTables, settling: Settling) -> Settlement:
    """Write the outcome if the row's state allows it, however late: only its state fences it."""
    row = _rows(tables).lock.one(connection, op=settling.operation_id)
    if row is None:
        return Settlement(SettlementStatus.NOT_FOUND)
    state = ReservationState(row.state)
    if settling.attempt is not None and row.attempts != settling.attempt:
        return Settlement(SettlementStatus.STALE_ATTEMPT, state)
    if settling.expires is not None and row.expires_at != settling.expires:
        return Settlement(SettlementStatus.STALE_EXPIRY, state)
    if not _allowed(state, settling.outcome):
        _tell_if_late(row, settling)
        return Settlement(SettlementStatus.ALREADY_SETTLED, state)
    _write(connection, tables, settling, row)
    return Settlement(SettlementStatus.SETTLED, settling.state)


def _allowed(state: ReservationState, outcome: Outcome) -> bool:
    if state is ReservationState.RESERVED:
        return True
    return state is ReservationState.CONSUMED and outcome is Outcome.REPLACED


def _write(connection: Connection, tables: MeterTables, settling: Settling, row: Any) -> None:
    """Write the outcome of a row that is locked, and then its own account's counters."""
    _rows(tables).write.count(
        connection,
        op=settling.operation_id,
        word=settling.state.value,
        how=settling.outcome.value,
        at=settling.at,
        usage=settling.usage,
    )
    counters(tables).adjust(connection, [_change(settling, row)])


def _change(settling: Settling, row: Any) -> dict[str, Any]:
    """What leaving the row's state for the settled one does to its account's counters."""
    if row.state == ReservationState.RESERVED.value:
        return ended(row.account_id, row.period, row.units, settling.outcome, settling.at)
    return refunded(row.account_id, row.period, row.units, settling.at)


def _tell_if_late(row: Any, settling: Settling) -> None:
    """Units that were spent after the row was given up for lost are counted by nobody (spend.md 6.10)."""
    given_up = row.outcome == Outcome.RELEASED.value and row.settled_at >= row.expires_at
    if given_up and settling.outcome is Outcome.CONSUMED:
        _log.warning(
            "operation %r settles as consumed after its reservation ran out and was released: %d units of account"
            " %r stay uncounted; renew the lease while working, or decide expired ones with resolve_expired",
            settling.operation_id,
            row.units,
            row.account_id,
        )
