"""One job as it stands: its own row, with what its plan says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Boolean, and_, bindparam, cast, func, select

from engine.clock import from_ns
from engine.database.columns import check_id
from engine.database.constructs import page_now
from engine.database.statement import Statement
from engine.desk.audit.model import Deed
from engine.desk.jobs.model import Job, JobState
from engine.desk.tables import job, plan
from engine.errors import JobRefused

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

_LAPSED: Final = and_(job.c.state == JobState.RUNNING.value, job.c.lease_until <= page_now())
JOBS: Final[Select[Any]] = select(
    *job.c,
    plan.c.kind.label("deed"),
    plan.c.environment.label("environment"),
    func.coalesce(cast(_LAPSED, Boolean), False).label("interrupted"),
).join_from(job, plan, plan.c.plan_id == job.c.plan_id)
"""Every job, each row ready for `job_of`."""
_ONE: Final = Statement(JOBS.where(job.c.job_id == bindparam("wanted")))
_LOCKED: Final = Statement(select(*job.c).where(job.c.job_id == bindparam("wanted")).with_for_update())


def job_of(row: Any) -> Job:
    """The job of one row of `JOBS`."""
    return Job(
        job_id=row.job_id,
        plan_id=row.plan_id,
        deed=Deed(row.deed),
        environment=row.environment,
        state=JobState(row.state),
        owner=row.lease_owner,
        token=row.lease_token,
        lease_until=None if row.lease_until is None else from_ns(row.lease_until),
        next_n=row.next_n,
        total=row.total,
        applied=row.applied,
        skipped=row.skipped,
        failed=row.failed,
        rate=row.rate,
        created_at=from_ns(row.created_at),
        interrupted=bool(row.interrupted),
    )


def job_detail(connection: Connection, job_id: str) -> Job | None:
    """One job; None where there is none of that id."""
    row = _ONE.one(connection, wanted=check_id("job_id", job_id))
    return None if row is None else job_of(row)


def job_known(connection: Connection, job_id: str) -> Job:
    """One job; JobRefused where there is none of that id."""
    found = job_detail(connection, job_id)
    if found is None:
        raise unknown(job_id)
    return found


def locked(connection: Connection, job_id: str) -> Any:
    """The job's own row, locked to the end of the transaction; JobRefused where there is none.

    Lock order: what an item changes (thread, reservation), then the job's row, then the audit's head. Who pauses or
    cancels takes the last two only, so no two of them can wait for each other in a circle.
    """
    row = _LOCKED.one(connection, wanted=check_id("job_id", job_id))
    if row is None:
        raise unknown(job_id)
    return row


def unknown(job_id: str) -> JobRefused:
    """That there is no job of this id."""
    return JobRefused(job_id, "unknown", f"there is no job {job_id!r}; look it up among the jobs")
