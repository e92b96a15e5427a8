"""The whole story of one reservation: what an operator must see before deciding anything about it (spend.md 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Text, bindparam, null, select

from engine.checkpoints.records import instant_of
from engine.clock import from_ns
from engine.database.columns import check_id
from engine.database.statement import Statement
from engine.desk.accounts import account_of
from engine.desk.claim_filter import as_word
from engine.desk.days import day_of
from engine.desk.meters import find_meter
from engine.desk.moment import look
from engine.desk.money_day import SHOWN, day_row
from engine.desk.money_meter import meter_source
from engine.desk.money_tables import tentative_detail
from engine.desk.money_views import (
    DayGuard,
    DefaultFate,
    MeterGuard,
    ReservationDetail,
    ReservationKind,
    ReservationState,
    RunRow,
)
from engine.desk.views import MAX_PARTS
from engine.errors import ValidationError
from engine.spend.day.tables import reservation, run
from engine.spend.meter.prefix import DEFAULT_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from engine.desk.money_views import ReservationRow

K = ReservationKind
_DAY: Final = Statement(
    select(*SHOWN, reservation.c.evidence).where(reservation.c.id == bindparam("reservation"))
)
_RUNS: Final = Statement(
    select(*run.c)
    .where(run.c.reservation_id == bindparam("reservation"))
    .order_by(run.c.reservation_id.desc(), run.c.run.desc())
    .limit(MAX_PARTS + 1)
)


def reservation_detail(
    connection: Connection, kind: ReservationKind | str, reservation_id: str, source: str | None
) -> ReservationDetail | None:
    """One reservation by its address; None when there is none of that id. Wants a SNAPSHOT.

    `source` is a meter's prefix (by default the default one) or, needed there, a table's name. ValidationError
    where there is no such meter or table.
    """
    word = as_word("kind", kind, ReservationKind)
    check_id("reservation_id", reservation_id)
    at = look(connection)
    if word is K.DAY:
        return _day_detail(connection, reservation_id, at)
    if word is K.METER:
        return _meter_detail(connection, source or DEFAULT_PREFIX, reservation_id, at)
    if source is None:
        raise ValidationError("source", ("name the table that a tentative row stands in",))
    return tentative_detail(connection, source, reservation_id, at)


def _day_detail(connection: Connection, reservation_id: str, at: int) -> ReservationDetail | None:
    found = _DAY.one(connection, reservation=reservation_id, at=at)
    if found is None:
        return None
    row = day_row(found)
    runs = _RUNS.all(connection, reservation=reservation_id) if row.is_operation else []
    return ReservationDetail(
        row=row,
        guard=DayGuard(found.deferrals),
        fate=_fate_of_day(row),
        evidence=found.evidence,
        usage=None,
        runs=_in_order(runs, row.lease_run),
        more_runs=len(runs) > MAX_PARTS,
        day=day_of(connection, found.day),
        account=None,
        txn_rows=None,
        as_of=from_ns(at),
    )


def _in_order(newest: Sequence[Any], holder: int | None) -> tuple[RunRow, ...]:
    return tuple(
        RunRow(
            run=each.run,
            bound_micro=each.bound_micro,
            began_at=from_ns(each.began_at),
            ended_at=instant_of(each.ended_at),
            settled_micro=each.settled_micro,
            holds=each.run == holder,
        )
        for each in reversed(newest[:MAX_PARTS])
    )


def _fate_of_day(row: ReservationRow) -> DefaultFate:
    if row.state is ReservationState.SETTLED:
        return DefaultFate.ALREADY_SETTLED
    if row.fenced:
        return DefaultFate.LEFT_FENCED
    return DefaultFate.SETTLED_AT_RECORDED if row.is_operation else DefaultFate.SETTLED_WHOLE


def _meter_detail(
    connection: Connection, prefix: str, operation_id: str, at: int
) -> ReservationDetail | None:
    source = meter_source(prefix, find_meter(connection, prefix).fences)
    c = source.columns
    evidence = null().cast(Text) if source.evidence is None else c[source.evidence]
    bodies = (evidence.label("evidence"), c.usage_json.label("usage"))
    asked = select(*source.shown, *bodies).where(c.operation_id == bindparam("operation"))
    found = connection.execute(asked, {"operation": operation_id, "at": at // source.tick}).first()
    if found is None:
        return None
    row = source.row(found)
    assert row.expires_at is not None
    return ReservationDetail(
        row=row,
        guard=MeterGuard(found.attempts, row.expires_at),
        fate=_fate_of_meter(row),
        evidence=found.evidence,
        usage=found.usage,
        runs=(),
        more_runs=False,
        day=None,
        account=account_of(connection, prefix, found.owner, found.period),
        txn_rows=None,
        as_of=from_ns(at),
    )


def _fate_of_meter(row: ReservationRow) -> DefaultFate:
    if row.state is ReservationState.SETTLED:
        return DefaultFate.ALREADY_SETTLED
    return DefaultFate.LEFT_FENCED if row.fenced else DefaultFate.METER_DEFAULT
