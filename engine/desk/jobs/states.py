"""How a job moves from state to state, and the moves that a person makes: pause, resume, cancel (console.md F10).

A move takes effect between two items: a runner sees it with the first item that it stores afterwards, or between two
chunks, finishes nothing more and gives its lease back. Until then the lease stays with it, so that no other runner
starts beside it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, null, select, update

from engine.database.statement import Statement
from engine.desk.audit.model import Deed, ObjectKind, Told
from engine.desk.jobs.lease import Held, release
from engine.desk.jobs.model import JobState
from engine.desk.jobs.rows import job_known, locked
from engine.desk.jobs.whole import conclude_whole
from engine.desk.jobs.words import last_word
from engine.desk.moment import moment
from engine.desk.recorded import Change, recorded
from engine.desk.tables import job
from engine.errors import JobRefused

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.actor import Mandate
    from engine.desk.jobs.model import Job


class Move(StrEnum):
    """What changes a job's state."""

    HAND_OVER = "hand over"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    STOP = "stop"
    FINISH = "finish"


MOVES: Final[dict[Move, tuple[frozenset[JobState], JobState]]] = {
    Move.HAND_OVER: (frozenset((JobState.RUNNING,)), JobState.READY),
    Move.PAUSE: (frozenset((JobState.READY, JobState.RUNNING)), JobState.PAUSED),
    # RUNNING at once where its runner has not let go of it yet.
    Move.RESUME: (frozenset((JobState.PAUSED,)), JobState.READY),
    Move.CANCEL: (frozenset((JobState.READY, JobState.RUNNING, JobState.PAUSED)), JobState.CANCELLED),
    # What a pause or a cancel leaves to a runner to do with the item at hand may be the item that stops or ends it.
    Move.STOP: (frozenset((JobState.READY, JobState.RUNNING, JobState.PAUSED)), JobState.STOPPED),
    Move.FINISH: (frozenset((JobState.RUNNING,)), JobState.DONE),
}
"""From which states each move leads to which."""

_SET: Final = Statement(update(job).where(job.c.job_id == bindparam("wanted")).values(state=bindparam("to")))
_FREED: Final = Statement(
    update(job)
    .where(job.c.job_id == bindparam("wanted"))
    .values(state=bindparam("to"), lease_owner=null(), lease_until=null(), lease_token=job.c.lease_token + 1)
)
"""Its lease is over, but its runner may only be slow: the token keeps it from storing anything more."""
_RECENT: Final = 1_000
_NEWEST: Final = select(job).order_by(job.c.created_at.desc(), job.c.job_id.desc()).limit(_RECENT).subquery()
_FORSAKEN: Final = Statement(
    select(_NEWEST.c.job_id)
    .where(
        _NEWEST.c.state == JobState.CANCELLED.value,
        _NEWEST.c.lease_owner.is_not(None),
        _NEWEST.c.lease_until <= bindparam("at"),
    )
    .limit(1)
)


def pause(transactions: Transactions, job_id: str, mandate: Mandate) -> Job:
    """Let nobody go on with the job until it is resumed."""
    return _moved(transactions, job_id, mandate, Move.PAUSE, Deed.PAUSE)


def resume(transactions: Transactions, job_id: str, mandate: Mandate) -> Job:
    """Let a paused job be taken again; it goes on with `next_n`."""
    return _moved(transactions, job_id, mandate, Move.RESUME, Deed.RESUME)


def cancel(transactions: Transactions, job_id: str, mandate: Mandate) -> Job:
    """End the job where it stands: what was applied stays, the rest is left alone."""
    return _moved(transactions, job_id, mandate, Move.CANCEL, Deed.CANCEL)


def hand_over(connection: Connection, mine: Held) -> JobState:
    """What a runner does with its job at the end of its run, whatever the job's state has become; the state then.

    Every item has a result: DONE. Still RUNNING: READY, for another runner. CANCELLED: the whole is concluded.
    JobRefused (`lease.LOST`) where the job is another's by now.
    """
    row = locked(connection, mine.job_id)
    if row.lease_token != mine.token:
        raise mine.lost()
    state = JobState(row.state)
    if state is JobState.RUNNING:
        state = MOVES[Move.FINISH if row.next_n > row.total else Move.HAND_OVER][1]
    release(connection, mine, state)
    if state is JobState.DONE or (state is JobState.CANCELLED and row.lease_owner is not None):
        conclude_whole(connection, mine.job_id)
    return state


def stop(connection: Connection, mine: Held, why: str) -> JobState:
    """End a job that met what its plan did not hold (ruling 54); a cancelled one stays cancelled."""
    state = JobState(locked(connection, mine.job_id).state)
    sources, target = MOVES[Move.STOP]
    if state in sources:
        release(connection, mine, target)
        conclude_whole(connection, mine.job_id, why=why)
        return target
    return state


def close_forsaken(connection: Connection) -> str | None:
    """Conclude a job that was cancelled under a runner which then died without seeing it; its id."""
    at = moment(connection)
    found: Any = _FORSAKEN.one(connection, at=at)
    if found is None:
        return None
    row = locked(connection, found.job_id)
    if row.lease_owner is None:
        return None
    _FREED.count(connection, wanted=row.job_id, to=row.state)
    conclude_whole(connection, row.job_id)
    return str(row.job_id)


def _moved(transactions: Transactions, job_id: str, mandate: Mandate, move: Move, deed: Deed) -> Job:
    def change(connection: Connection) -> Change[Job]:
        before, led = _move(connection, job_id, move)
        states = {"before": before.value, "after": led.state.value}
        return Change(led, {"job": job_id, **states, "next_n": led.next_n}, states)

    return recorded(transactions, mandate, Told(deed, ObjectKind.JOB, job_id), change)


def _move(connection: Connection, job_id: str, move: Move) -> tuple[JobState, Job]:
    row = locked(connection, job_id)
    before = JobState(row.state)
    sources, target = MOVES[move]
    if before not in sources:
        raise JobRefused(job_id, before.value, _already(connection, job_id, move))
    watched = row.lease_owner is not None and row.lease_until > moment(connection)
    if watched:  # its runner sees it, and gives its lease back, or goes on as if nothing had been said
        _SET.count(connection, wanted=job_id, to=(JobState.RUNNING if move is Move.RESUME else target).value)
    else:
        _FREED.count(connection, wanted=job_id, to=target.value)
        if target is JobState.CANCELLED:
            conclude_whole(connection, job_id)
    return before, job_known(connection, job_id)


def _already(connection: Connection, job_id: str, move: Move) -> str:
    return f"cannot {move.value}: {last_word(connection, job_known(connection, job_id))}"
