"""Carrying a job out from a command: how far it is on standard error, ctrl-C hands it over (console.md F10).

The job runs in a thread of its own, so that the signal is heard at once; the item at hand is finished first.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from console.acting import equivalent
from console.acting.job_words import at_hand, tally
from console.acting.jobs import JobQuery, JobState
from console.command_line import Exit
from console.model import GatewayError
from console.read.output import warn
from console.stopping import stoppable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.act.site import Site
    from console.acting.jobs import JobRow, JobView
    from console.gateway.acting import EngineActing

LOOK_SECONDS: Final = 0.5
"""Between two looks at how far it is, on a terminal."""
LINE_SECONDS: Final = 5.0
"""Between two lines of it, anywhere else."""
_WIDTH: Final = 78


@dataclass(slots=True)
class _Work:
    """One run in its thread: how it ended, once `over` is set."""

    over: threading.Event = field(default_factory=threading.Event)
    row: JobRow | None = None
    error: BaseException | None = None


def carry(
    site: Site, acting: EngineActing, job: str | None, resolvers: Mapping[str, str]
) -> tuple[JobRow | None, bool]:
    """The job as it stands when the run is over, and whether it was handed over because of a signal.

    No job named: the oldest that waits and can be carried out here; None where there is none.
    """
    with stoppable() as stop:
        work = _started(acting, job, stop.event, resolvers)
        _watched(site, acting, job, work, stop.event)
        handed = stop.event.is_set()
    if work.error is None:
        return work.row, handed
    if isinstance(work.error, GatewayError) and job is not None:
        raise _unfinished(site, job, work.error) from work.error
    raise work.error


def _started(
    acting: EngineActing, job: str | None, stop: threading.Event, resolvers: Mapping[str, str]
) -> _Work:
    work = _Work()

    def run() -> None:
        try:
            work.row = acting.run_job(job, stop, resolvers, _passed)
        except BaseException as error:  # noqa: BLE001 - handed whole to the command's own thread
            work.error = error
        finally:
            work.over.set()

    threading.Thread(target=run, name="holdwatch-job", daemon=True).start()
    return work


def _passed(job: str, why: str) -> None:
    warn(f"{job} was left to others: {why}")


def _unfinished(site: Site, job: str, error: GatewayError) -> GatewayError:
    text = f"{error}; nothing is repeated: {equivalent.running(site.aim, job)} goes on where it stands"
    return GatewayError(text, code=error.code, retryable=error.retryable)


def on_terminal() -> bool:
    """Whether one line can be written over and over."""
    return sys.stderr.isatty()


def _watched(site: Site, acting: EngineActing, job: str | None, work: _Work, stop: threading.Event) -> None:
    """Until the run is over; the store is asked only as often as something is shown."""
    tty = on_terminal()
    every, told = LOOK_SECONDS if tty else LINE_SECONDS, False
    since = time.monotonic()
    while not work.over.wait(min(every, LOOK_SECONDS)):
        if stop.is_set() and not told:
            told = True
            warn("finishing the item at hand, then the job is handed over; ctrl-C again leaves at once")
        if time.monotonic() - since >= every:
            since = time.monotonic()
            _show(site, acting, job, tty=tty)
    if tty:
        sys.stderr.write(f"\r{' ' * _WIDTH}\r")
        sys.stderr.flush()


def _show(site: Site, acting: EngineActing, job: str | None, *, tty: bool) -> None:
    view: JobView | None = None
    with suppress(GatewayError):  # how far it is may stay unsaid; the job itself says what fails
        view = _view(site, acting, job)
    if view is None:
        return
    if tty:
        sys.stderr.write(f"\r{progress(view)[:_WIDTH]:{_WIDTH}}")
        sys.stderr.flush()
    else:
        warn(progress(view))


def _view(site: Site, acting: EngineActing, job: str | None) -> JobView | None:
    if job is None:
        rows = site.gateway.jobs(JobQuery(JobState.RUNNING), None, 50).rows
        job = next((row.id for row in rows if row.owner == acting.owner), None)
    return None if job is None else site.gateway.job(job)


def progress(view: JobView) -> str:
    """How far a job is: items, speed, time left."""
    row = view.row
    share = 100 * row.done // row.total if row.total else 100
    left = "" if view.left is None else f", {view.left.total_seconds():,.0f} s left"
    lost = f"skipped {row.skipped:,}, failed {row.failed:,}"
    rows = at_hand(view)
    more = f"; {rows}" if rows else ""
    return f"{row.done:,}/{row.total:,} {share}%, {view.per_second:,.1f}/s{left}; {lost}{more}"


def said(row: JobRow) -> str:
    """How it stands, in one line."""
    return f"job {row.id} {row.state.value}: {tally(row)}"


def code_of(row: JobRow, *, handed: bool) -> Exit:
    """0 only where every item was applied; 130 where a signal ended the run before the job's end."""
    if row.state is JobState.DONE:
        return Exit.OK if row.applied == row.total else Exit.REFUSED
    waits = row.state in {JobState.READY, JobState.RUNNING, JobState.INTERRUPTED}
    return Exit.INTERRUPTED if handed and waits else Exit.REFUSED
