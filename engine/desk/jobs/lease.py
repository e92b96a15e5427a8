"""Whose job it is: a lease with a fencing token that rises with each take (console.md F10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    and_,
    bindparam,
    func,
    literal,
    null,
    or_,
    select,
    tuple_,
    update,
)

from engine.clock import span_ns
from engine.database.columns import Identifier, check_id
from engine.database.constructs import Now
from engine.database.statement import Statement
from engine.desk.jobs.model import LEASE, Job, JobState
from engine.desk.jobs.rows import job_known
from engine.desk.jobs.words import last_word
from engine.desk.tables import UNFINISHED, job
from engine.errors import JobRefused, ValidationError

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOST: Final = "lease"
"""The `why` of a refusal to a runner that no longer holds its job."""
HALTED: Final = "halted"
"""The `why` of a refusal to go on with an item of many transactions: its job was paused, or is handed over."""
UNTIL: Final[ColumnElement[int]] = Now() + literal(span_ns(LEASE), BigInteger())
"""The end of a lease that begins now."""
_WANTED: Final = job.c.job_id == bindparam("wanted")
HELD: Final = and_(_WANTED, job.c.lease_token == bindparam("fence"))
"""The job of a `Held`."""
_FREE: Final = or_(
    job.c.state == JobState.READY.value,
    and_(job.c.state == JobState.RUNNING.value, job.c.lease_until <= Now()),
)
_TAKE: Final = Statement(
    update(job)
    .where(_WANTED, _FREE)
    .values(
        state=JobState.RUNNING.value,
        lease_owner=bindparam("who"),
        lease_token=job.c.lease_token + 1,
        lease_until=UNTIL,
    )
)
_BEHIND: Final = bindparam("behind", type_=Identifier)
_PASSED: Final = job.alias("passed")
_MADE: Final = select(_PASSED.c.created_at).where(_PASSED.c.job_id == _BEHIND).scalar_subquery()
_YOUNGER: Final = tuple_(job.c.created_at, job.c.job_id) > tuple_(
    func.coalesce(_MADE, literal(-1, BigInteger())), _BEHIND
)
_OLDEST: Final = Statement(
    select(job.c.job_id)
    .where(UNFINISHED, _FREE, _YOUNGER)
    .order_by(job.c.created_at, job.c.job_id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_RENEW: Final = Statement(update(job).where(HELD).values(lease_until=UNTIL).returning(job.c.state))
_RELEASE: Final = Statement(
    update(job)
    .where(HELD)
    .values(state=bindparam("to"), lease_owner=null(), lease_until=null())
    .returning(job.c.job_id)
)


@dataclass(frozen=True, slots=True)
class Held:
    """A job that a runner has taken, under this token."""

    job_id: str
    token: int

    def lost(self) -> JobRefused:
        """That another has taken it, or may."""
        text = f"job {self.job_id!r} is no longer this runner's (token {self.token}); it goes on elsewhere"
        return JobRefused(self.job_id, LOST, text)

    def halted(self) -> JobRefused:
        """That its item is to be left where it stands."""
        return JobRefused(self.job_id, HALTED, f"job {self.job_id!r} goes on no further for now")


def held(taken: Job) -> Held:
    """What the taker of a job shows from then on."""
    return Held(taken.job_id, taken.token)


def take(connection: Connection, job_id: str, owner: str) -> Job:
    """The job for a runner: READY, or RUNNING with a lapsed lease. JobRefused where it is neither."""
    if not check_id("owner", owner):
        raise ValidationError("owner", ("must not be empty",))
    if not _TAKE.count(connection, wanted=check_id("job_id", job_id), who=owner):
        raise _not_free(connection, job_known(connection, job_id))
    return job_known(connection, job_id)


def take_next(connection: Connection, owner: str, behind: str = "") -> Job | None:
    """The oldest job that may be run, taken; None where there is none, or others are just taking it.

    `behind` is a job made before those that are meant; empty for all.
    """
    row: Any = _OLDEST.one(connection, behind=behind)
    return None if row is None else take(connection, row.job_id, owner)


def renew(connection: Connection, mine: Held) -> JobState:
    """The lease anew, and how the job stands: JobRefused (`LOST`) once another has taken it."""
    row: Any = _RENEW.one(connection, wanted=mine.job_id, fence=mine.token)
    if row is None:
        raise mine.lost()
    return JobState(row.state)


def release(connection: Connection, mine: Held, to: JobState) -> None:
    """The lease back, the job left in this state; JobRefused (`LOST`) once another has taken it."""
    if _RELEASE.one(connection, wanted=mine.job_id, fence=mine.token, to=to.value) is None:
        raise mine.lost()


def _not_free(connection: Connection, found: Job) -> JobRefused:
    if found.state is JobState.RUNNING:
        text = f"{found.owner} runs job {found.job_id!r}; wait for its end, or for its lease's"
        return JobRefused(found.job_id, found.state.value, text)
    advice = "resume it first" if found.state is JobState.PAUSED else "make a new plan"
    text = f"{last_word(connection, found)}; {advice}"
    return JobRefused(found.job_id, found.state.value, text)
