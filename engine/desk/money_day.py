"""The day store's reservations as a source of the lists of money: nanoseconds, micro-dollars."""

from __future__ import annotations

from typing import Any, Final

from engine.checkpoints.records import Undecodable, instant_of
from engine.clock import from_ns, from_span
from engine.desk.moment import gone_since, left_until
from engine.desk.money_source import Source, state_of
from engine.desk.money_views import ReservationKind, ReservationRow, ReservationState
from engine.spend.day.tables import FENCED, OPEN, reservation

_PLAIN: Final = tuple(
    column for column in reservation.c if column.key not in {"evidence", "kind", "require_fence"}
)
_C: Final = reservation.c
SHOWN: Final = (
    *_PLAIN,
    _C.kind.label("owner"),
    _C.require_fence.label("fenced"),
    (_C.deferrals > 0).label("deferred"),
    left_until(_C.due_at).label("due_in"),
    gone_since(_C.created_at).label("age"),
)
"""What a `ReservationRow` is made of."""
_SETTLED: Final = "settled"


def day_row(row: Any) -> ReservationRow:
    """A row of the `SHOWN` columns."""
    settled = row.settled_at is not None
    try:
        return ReservationRow(
            kind=ReservationKind.DAY,
            source="",
            reservation_id=row.id,
            state=_state(row),
            owner=row.owner,
            micro=row.micro,
            units=None,
            period=row.day,
            operation_id=row.operation_id,
            attempt=row.runs,
            recorded_micro=row.recorded_micro,
            lease_run=row.lease_run,
            lease_until=instant_of(row.lease_until),
            created_at=from_ns(row.created_at),
            age=from_span(row.age),
            expires_at=from_ns(row.expires_at),
            due_at=from_ns(row.due_at),
            due_in=None if settled else from_span(row.due_in),
            fenced=bool(row.fenced),
            next_check_at=instant_of(row.next_check_at),
            deferrals=row.deferrals,
            thread_id=row.thread_id,
            settled_at=instant_of(row.settled_at),
            settled_micro=row.settled_micro,
            outcome=_SETTLED if settled else None,
        )
    except (OverflowError, TypeError) as error:
        raise Undecodable(f"day reservation {row.id!r}: {error}") from error


def _state(row: Any) -> ReservationState:
    if row.settled_at is not None:
        return ReservationState.SETTLED
    return state_of(due=row.due_in <= 0, fenced=row.fenced)


DAY: Final = Source(
    kind=ReservationKind.DAY,
    name="",
    columns=_C,
    shown=SHOWN,
    due="due_at",
    key=("id",),
    tick=1,
    open=OPEN,
    fenced=FENCED,
    row=day_row,
    key_text=lambda row: str(row.id),
    key_values=lambda text: (text,),
    narrow="thread_id",
    evidence="evidence",
)
