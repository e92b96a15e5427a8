"""Runs of an operation: begun under the lock of its row, ended once, renewed while live (spend.md 2A.10 to 2A.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, BindParameter, Integer, bindparam, case, select, update

from engine.clock import to_ns
from engine.database.columns import Instant, check_id, check_number
from engine.database.statement import Statement
from engine.spend.amounts import settling_figure
from engine.spend.counts import MAX_COUNT, whole_count
from engine.spend.day import days
from engine.spend.day.model import MAX_RUNS, Begun, Gone, InFlight, check_runs
from engine.spend.day.operations import ADD_RUN
from engine.spend.day.reservations import AT, CHECKED, ID, NO_LEASE, later
from engine.spend.day.tables import OPEN, reservation, run

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.spend.amounts import Figure
    from engine.spend.day.model import Admitted

_R = reservation.c
_NUMBER: BindParameter[int] = bindparam("number", type_=Integer)
_LEASE: BindParameter[int] = bindparam("lease", type_=Instant)
_FIGURE: BindParameter[int] = bindparam("figure", type_=BigInteger)
_LEASED = {"lease_until": _LEASE, "due_at": later(CHECKED, _LEASE)}

_LOCK = Statement(select(reservation).where(_R.id == ID).with_for_update())
_BEGIN = Statement(
    update(reservation)
    .where(_R.id == ID)
    .values(
        recorded_micro=_R.recorded_micro + bindparam("bound", type_=BigInteger),
        runs=_NUMBER,
        lease_run=_NUMBER,
        **_LEASED,
    )
)
_RENEW = Statement(
    update(reservation)
    .where(_R.id == ID, OPEN, _R.lease_run == _NUMBER, _R.lease_until > AT)
    .values(**_LEASED)
)
_END_RUN = Statement(
    update(run)
    .where(run.c.reservation_id == ID, run.c.run == _NUMBER, run.c.ended_at.is_(None))
    .values(settled_micro=case((run.c.bound_micro > _FIGURE, _FIGURE), else_=run.c.bound_micro), ended_at=AT)
    .returning(run.c.bound_micro, run.c.settled_micro)
)
_FREE = Statement(
    update(reservation).where(_R.id == ID).values(recorded_micro=bindparam("corrected"), **NO_LEASE)
)
_CLOSE = Statement(
    update(reservation)
    .where(_R.id == ID)
    .values(
        recorded_micro=bindparam("corrected"),
        settled_micro=bindparam("corrected"),
        settled_at=AT,
        **NO_LEASE,
    )
)


def begin_run(
    connection: Connection,
    reservation_id: str,
    at: datetime,
    lease_until: datetime,
    run_micro: int,
    max_runs: int,
) -> Admitted:
    """Lease the operation to a new run until `lease_until` and count its bound as recorded.

    A run that never ended leaves its whole bound in the recorded figure. The day's totals do not change.
    """
    moment, lease = to_ns(at), to_ns(lease_until)
    bound = whole_count("run_micro", run_micro)
    check_runs(max_runs)
    row: Any = _LOCK.one(connection, which=check_id("reservation_id", reservation_id))
    refusal = _refusal(row, reservation_id, moment, bound, max_runs)
    if refusal is not None:
        return refusal
    number = row.runs + 1
    _BEGIN.count(connection, which=reservation_id, number=number, bound=bound, lease=lease)
    ADD_RUN.count(connection, which=reservation_id, number=number, bound=bound, moment=moment)
    return Begun(reservation_id, number)


def _refusal(row: Any, reservation_id: str, moment: int, bound: int, max_runs: int) -> InFlight | Gone | None:
    """Why no run may begin, in the order of spend.md 2A.10; a reservation of no operation has none to begin."""
    if row is None or row.operation_id is None or row.settled_at is not None or row.expires_at <= moment:
        return Gone(reservation_id)
    if row.lease_until is not None and moment < row.lease_until:
        return InFlight(reservation_id)
    if row.runs >= max_runs or row.recorded_micro + bound > row.micro:
        return Gone(reservation_id)
    return None


def end_run(
    connection: Connection,
    reservation_id: str,
    run: int,
    settled_micro: Figure,
    at: datetime,
    close: bool = False,
) -> bool:
    """End a run at what it cost, held to its bound; without a proper figure at its whole bound.

    Only the run that holds the lease, live or lapsed, corrects the recorded figure; then the operation settles
    there if it is past its expiry or `close` is set. False, and no change, when the run had ended or never was.
    """
    moment, figure = to_ns(at), settling_figure(settled_micro)
    row: Any = _LOCK.one(connection, which=check_id("reservation_id", reservation_id))
    ended = _END_RUN.one(
        connection,
        which=reservation_id,
        number=check_number("run", run, MAX_RUNS),
        figure=MAX_COUNT if figure is None else min(figure, MAX_COUNT),
        moment=moment,
    )
    if ended is None:
        return False
    if row.settled_at is None and row.lease_run == run:
        corrected = row.recorded_micro - ended.bound_micro + ended.settled_micro
        if close or row.expires_at <= moment:
            _CLOSE.count(connection, which=reservation_id, corrected=corrected, moment=moment)
            days.settle(connection, row.day, row.micro, corrected)
        else:
            _FREE.count(connection, which=reservation_id, corrected=corrected)
    return True


def renew_run(
    connection: Connection, reservation_id: str, run: int, at: datetime, lease_until: datetime
) -> bool:
    """Move the lease of a run that still holds it live; False otherwise. The operation's expiry plays no part."""
    renewed = _RENEW.count(
        connection,
        which=check_id("reservation_id", reservation_id),
        number=check_number("run", run, MAX_RUNS),
        moment=to_ns(at),
        lease=to_ns(lease_until),
    )
    return renewed == 1
