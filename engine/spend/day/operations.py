"""Operations: one amount for all the runs it may take, on the day of the first (spend.md 2A.9, 3.3)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select

from engine.clock import to_ns
from engine.database.columns import check_id
from engine.database.statement import Statement
from engine.database.upsert import insert_unless_taken
from engine.spend.amounts import utc_day
from engine.spend.day import days
from engine.spend.day.model import OperationAdmission, OperationRow, check_operation, operation_of
from engine.spend.day.reservations import AT, ID
from engine.spend.day.tables import reservation, run

if TYPE_CHECKING:
    from sqlalchemy import Connection

_ADD = Statement(
    insert_unless_taken(
        reservation,
        "operation_id",
        id=ID,
        day=bindparam("on_day"),
        kind=bindparam("what"),
        micro=bindparam("amount"),
        created_at=AT,
        expires_at=bindparam("until"),
        due_at=bindparam("due"),
        operation_id=bindparam("operation"),
        thread_id=bindparam("thread"),
        recorded_micro=bindparam("bound"),
        runs=1,
        lease_run=1,
        lease_until=bindparam("lease"),
    )
)
ADD_RUN = Statement(
    insert(run).values(
        reservation_id=ID, run=bindparam("number"), bound_micro=bindparam("bound"), began_at=AT
    )
)
_FIND = Statement(select(reservation).where(reservation.c.operation_id == bindparam("operation")))


def add_operation_reservation(connection: Connection, admission: OperationAdmission) -> str | None:
    """Hold the operation's amount in the day of `at`, which the caller has locked, and lease it to run 1; the id.

    None, and no change, when the operation has a row already, on any day. That row is not to be locked in this
    transaction, which holds the day: end it first (ruling 38).
    """
    check_operation(admission)
    day, reservation_id, at = utc_day(admission.at), str(uuid.uuid4()), to_ns(admission.at)
    lease, expires = to_ns(admission.lease_until), to_ns(admission.expires)
    # The day first: it says whether the caller has locked one at all.
    days.hold(connection, day, admission.micro)
    added = _ADD.count(
        connection,
        which=reservation_id,
        on_day=day,
        what=admission.kind,
        amount=admission.micro,
        moment=at,
        until=expires,
        due=max(expires, lease),
        operation=admission.operation_id,
        thread=admission.thread_id,
        bound=admission.run_micro,
        lease=lease,
    )
    if added == 0:
        days.hold(connection, day, -admission.micro)
        return None
    ADD_RUN.count(connection, which=reservation_id, number=1, bound=admission.run_micro, moment=at)
    return reservation_id


def open_operation_reservation(connection: Connection, operation_id: str) -> OperationRow | None:
    """The operation's row, open or settled, without a lock; None when there never was one."""
    row = _FIND.one(connection, operation=check_id("operation_id", operation_id))
    return None if row is None else operation_of(row)
