"""How far a job is, how fast it goes and how long it takes yet: from its row and the times of its results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, func, select

from engine.clock import from_ns, span_ns, to_ns
from engine.database.statement import Statement
from engine.desk.audit.model import Deed
from engine.desk.audit.pages import AuditFilter, entries
from engine.desk.jobs.executors.taken import so_far
from engine.desk.jobs.model import OVER, JobState
from engine.desk.jobs.rows import job_known
from engine.desk.moment import moment
from engine.desk.tables import job_item

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.desk.jobs.model import Job

WINDOW: Final = timedelta(minutes=1)
SURE: Final = timedelta(seconds=2)
"""So long must a job have been at work, from its start or since it was resumed, before the time left is told."""
LATEST_WORDS: Final = 4
"""The newest entries of a job among which the word that resumed it is looked for."""
MOST_TIMES: Final = 1_000
"""Results, newest first, from which a rate is told."""
_LATEST: Final = (
    select(job_item.c.at)
    .where(job_item.c.job_id == bindparam("wanted"))
    .order_by(job_item.c.n.desc())
    .limit(MOST_TIMES)
    .subquery("latest")
)
_TIMES: Final = Statement(
    select(func.count().label("number"), func.min(_LATEST.c.at).label("first")).where(
        _LATEST.c.at >= bindparam("since", type_=BigInteger)
    )
)


@dataclass(frozen=True, slots=True)
class Progress:
    """A job's progress at `as_of`. `per_second` is over the last minute, or since it was resumed where that is less;
    `left` counts on no more than the job's own limit, and is None where it cannot be told. `rows` have gone so far of
    the item at hand, which may take many transactions; 0 for any other, and once the job is over.
    """

    job: Job
    as_of: datetime
    done: int
    per_second: float
    left: timedelta | None
    rows: int


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What was done without a break up to now: so many results in so many seconds."""

    results: int
    seconds: float

    @property
    def per_second(self) -> float:
        """A burst in less than a second is not told as more than it was."""
        return self.results / max(1.0, self.seconds)


def progress(connection: Connection, job_id: str) -> Progress:
    """How far one job is; JobRefused where there is none. Wants one moment for its statements."""
    now = moment(connection)
    found = job_known(connection, job_id)
    done = found.next_n - 1
    stretch = _stretch(connection, found, now, done)
    rows = 0 if found.state in OVER else so_far(connection, job_id, found.next_n).rows
    return Progress(found, from_ns(now), done, stretch.per_second, _left(found, stretch, done), rows)


def _left(found: Job, stretch: _Stretch, done: int) -> timedelta | None:
    if found.state is not JobState.RUNNING or found.interrupted or not stretch.results:
        return None
    if stretch.seconds < SURE.total_seconds():
        return None
    speed = min(stretch.per_second, found.rate) if found.rate else stretch.per_second
    return timedelta(seconds=(found.total - done) / speed)


def _stretch(connection: Connection, found: Job, now: int, done: int) -> _Stretch:
    begin = now - span_ns(WINDOW)
    resumed = _resumed(connection, found.job_id)
    row: Any = _TIMES.one(connection, wanted=found.job_id, since=max(begin, resumed))
    if not row.number:
        return _Stretch(0, 0.0)
    # Older results than the minute's say that it was at work for all of it, unless only the newest were looked at.
    whole = row.number < done and row.number < MOST_TIMES and resumed <= begin
    return _Stretch(row.number, WINDOW.total_seconds() if whole else (now - row.first) / 1e9)


def _resumed(connection: Connection, job_id: str) -> int:
    """When the job was last let go on after a pause, in nanoseconds; 0 where it never was, or long ago."""
    words = entries(connection, AuditFilter(object_kind="job", object_id=job_id), None, LATEST_WORDS)
    return next((to_ns(each.at) for each in words.rows if each.body.get("deed") == Deed.RESUME), 0)
