"""How far a job is, how fast it goes and how long it takes yet: from its row and the times of its results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, func, select

from engine.clock import from_ns, span_ns
from engine.database.statement import Statement
from engine.desk.jobs.model import JobState
from engine.desk.jobs.rows import job_known
from engine.desk.moment import moment
from engine.desk.tables import job_item

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.desk.jobs.model import Job

WINDOW: Final = timedelta(minutes=1)
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
    """A job's progress at `as_of`. `per_second` is over the last minute; `left` None where it cannot be told."""

    job: Job
    as_of: datetime
    done: int
    per_second: float
    left: timedelta | None


def progress(connection: Connection, job_id: str) -> Progress:
    """How far one job is; JobRefused where there is none. Wants one moment for its statements."""
    now = moment(connection)
    found = job_known(connection, job_id)
    done = found.next_n - 1
    speed = _speed(connection, found, now, done)
    left = None
    if found.state is JobState.RUNNING and not found.interrupted and speed > 0:
        left = timedelta(seconds=(found.total - done) / speed)
    return Progress(found, from_ns(now), done, speed, left)


def _speed(connection: Connection, found: Job, now: int, done: int) -> float:
    row: Any = _TIMES.one(connection, wanted=found.job_id, since=now - span_ns(WINDOW))
    if not row.number:
        return 0.0
    # Older results than the minute's say that it was at work for all of it, unless only the newest were looked at.
    whole = row.number < done and row.number < MOST_TIMES
    seconds = WINDOW.total_seconds() if whole else max(1.0, (now - row.first) / 1e9)
    return float(row.number / seconds)
