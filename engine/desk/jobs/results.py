"""What became of an item, stored in the transaction of its effect (console.md F8 and F10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, insert, update

from engine.database.columns import dump
from engine.database.constructs import Now
from engine.database.statement import Statement
from engine.desk import operations
from engine.desk.audit.model import ObjectKind, Told
from engine.desk.jobs.executor import Done
from engine.desk.jobs.lease import HELD, UNTIL
from engine.desk.jobs.model import ItemOutcome, JobState
from engine.desk.jobs.rows import locked
from engine.desk.jobs.states import stop
from engine.desk.jobs.whole import item_operation, of_item
from engine.desk.plans.model import ItemKind
from engine.desk.tables import job, job_item

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.actor import Mandate
    from engine.desk.audit.model import Deed
    from engine.desk.jobs.lease import Held
    from engine.desk.plans.model import Item
    from engine.errors import EngineError

MOST_TEXT: Final = 2_000
"""Characters of an error that are kept."""
KINDS: Final = {
    ItemKind.THREAD: ObjectKind.THREAD,
    ItemKind.CLAIM: ObjectKind.CLAIM,
    ItemKind.RETENTION: ObjectKind.THREAD,
    ItemKind.TOMBSTONE: ObjectKind.THREAD,
    ItemKind.LAPSED: ObjectKind.TABLE,
    ItemKind.PURGE: ObjectKind.METER,
    ItemKind.DAY: ObjectKind.RESERVATION,
    ItemKind.METER: ObjectKind.RESERVATION,
}
"""What an item is to the audit, where its executor came to no answer."""
_COUNTED: Final = Statement(
    update(job)
    .where(HELD, job.c.next_n == bindparam("n"))
    .values(
        next_n=job.c.next_n + 1,
        applied=job.c.applied + bindparam("one_applied"),
        skipped=job.c.skipped + bindparam("one_skipped"),
        failed=job.c.failed + bindparam("one_failed"),
        lease_until=UNTIL,
    )
    .returning(job.c.state)
)
_ADD: Final = Statement(
    insert(job_item).values(
        job_id=bindparam("of_job"),
        n=bindparam("number"),
        outcome=bindparam("came_to"),
        detail=bindparam("said"),
        operation_id=bindparam("op"),
        at=Now(),
    )
)


def store(
    connection: Connection, mine: Held, deed: Deed, mandate: Mandate, item: Item, done: Done
) -> JobState:
    """An item's result, its operation, its audit entry and the job's count: the last part of its transaction.

    How the job stands then, for it may have been paused or cancelled meanwhile. JobRefused (`lease.LOST`) once
    another has taken the job: the transaction, effect and all, must then not be committed.
    """
    state = _counted(connection, mine, item.n, done.outcome)
    own = of_item(mandate, item.n)
    text = {"outcome": done.outcome.value, **done.detail}
    _ADD.count(
        connection,
        of_job=mine.job_id,
        number=item.n,
        came_to=done.outcome.value,
        said=dump("detail", done.detail),
        op=own.operation_id,
    )
    told = Told(deed, done.object_kind, item.object_id, {"job": mine.job_id, "n": item.n, **text})
    operations.conclude(connection, own, told, {"job": mine.job_id, "n": item.n, **text})
    return stop(connection, mine, str(done.detail.get("why", ""))) if done.stops else state


def stored(connection: Connection, mine: Held, n: int) -> JobState | None:
    """After CommitUnknown: how the job stands if the item's result is in the store, None if it never will be.

    The job's row is locked first, so that a commit which is still under way has come to its end.
    """
    row = locked(connection, mine.job_id)
    if row.lease_token != mine.token:
        raise mine.lost()
    found = operations.outcome_of(connection, item_operation(mine.job_id, n))
    return None if found is None else JobState(row.state)


def failure(item: Item, error: EngineError) -> Done:
    """The result of an item whose change was refused or went wrong: nothing of it is in the store."""
    why = str(error)[:MOST_TEXT]
    detail = {"why": why, "code": error.code, "retryable": error.retryable}
    return Done(ItemOutcome.FAILED, KINDS[item.kind], detail)


def _counted(connection: Connection, mine: Held, n: int, outcome: ItemOutcome) -> JobState:
    row: Any = _COUNTED.one(
        connection,
        wanted=mine.job_id,
        fence=mine.token,
        n=n,
        one_applied=int(outcome is ItemOutcome.APPLIED),
        one_skipped=int(outcome is ItemOutcome.SKIPPED),
        one_failed=int(outcome is ItemOutcome.FAILED),
    )
    if row is None:
        raise mine.lost()
    return JobState(row.state)
