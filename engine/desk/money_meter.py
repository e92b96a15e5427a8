"""One meter's reservations as a source of the lists of money: milliseconds, units (ruling 35)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, false

from engine.checkpoints.records import Undecodable
from engine.clock import EPOCH
from engine.database.constructs import Likely
from engine.desk.moment import gone_since, left_until
from engine.desk.money_source import Source, state_of
from engine.desk.money_views import ReservationKind, ReservationRow, ReservationState
from engine.spend.meter.tables import MOST_PREFIXES, RESERVED, bare_tables, meter_tables

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

TICK: Final = 1_000_000
_PLAIN: Final = (
    "operation_id",
    "period",
    "units",
    "state",
    "outcome",
    "attempts",
    "reserved_at",
    "expires_at",
    "settled_at",
)
_HELD: Final = "reserved"
_EVIDENCE: Final = "evidence_json"
_UNMARKED: Final = (false().label("fenced"), false().label("deferred"))


def from_ms(ms: int) -> datetime:
    """The instant of stored milliseconds; OverflowError beyond the year 9999."""
    return EPOCH.astimezone(UTC) + timedelta(milliseconds=ms)


@lru_cache(maxsize=2 * MOST_PREFIXES)
def meter_source(prefix: str, fences: bool) -> Source:
    """The source of a prefix; `fences`: its table has the two fence columns."""
    c = (meter_tables if fences else bare_tables)(prefix).reservations.c
    held = c.state == RESERVED
    return Source(
        kind=ReservationKind.METER,
        name=prefix,
        columns=c,
        shown=(*_shown(c), *(_marked(c) if fences else _UNMARKED)),
        due="expires_at",
        key=("operation_id",),
        tick=TICK,
        open=held,
        fenced=and_(Likely(held), c.fenced) if fences else None,  # or SQLite walks past unfenced rows
        row=partial(meter_row, prefix),
        key_text=lambda row: str(row.operation_id),
        key_values=lambda key: (key,),
        settled="settled_at",
        evidence=_EVIDENCE if fences else None,
    )


def _shown(c: Any) -> list[ColumnElement[Any]]:
    return [
        *(c[key] for key in _PLAIN),
        c.account_id.label("owner"),
        left_until(c.expires_at).label("due_in"),
        gone_since(c.reserved_at).label("age"),
    ]


def _marked(c: Any) -> list[ColumnElement[Any]]:
    return [c.fenced.label("fenced"), c[_EVIDENCE].is_not(None).label("deferred")]


def meter_row(prefix: str, row: Any) -> ReservationRow:
    """A row of the `shown` columns."""
    held = row.state == _HELD
    try:
        expires = from_ms(row.expires_at)
        return ReservationRow(
            kind=ReservationKind.METER,
            source=prefix,
            reservation_id=row.operation_id,
            state=state_of(due=row.due_in <= 0, fenced=row.fenced) if held else ReservationState.SETTLED,
            owner=row.owner,
            micro=None,
            units=row.units,
            period=row.period,
            operation_id=row.operation_id,
            attempt=row.attempts,
            recorded_micro=None,
            lease_run=None,
            lease_until=None,
            created_at=from_ms(row.reserved_at),
            age=timedelta(milliseconds=row.age),
            expires_at=expires,
            due_at=expires,
            due_in=timedelta(milliseconds=row.due_in) if held else None,
            fenced=bool(row.fenced),
            next_check_at=expires if row.deferred else None,
            deferrals=None,
            thread_id=None,
            settled_at=None if row.settled_at is None else from_ms(row.settled_at),
            outcome=row.outcome,
        )
    except (OverflowError, TypeError) as error:
        raise Undecodable(f"meter reservation {row.operation_id!r} of {prefix!r}: {error}") from error
