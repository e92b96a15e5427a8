"""The job that this console carries out: one at a time, beside all that the operator does (console.md F10).

It is begun while changes are on and goes on when they are off again (ruling 57). It ends by itself, or is handed over:
the item at hand is finished, and the lease given back for whoever goes on. Nothing here begins a job a second time.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from console.calls import Calls
from console.model import GatewayError
from console.present import Tone

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from console.acting.jobs import JobRow
    from console.session import Session

REFUSED: Final = "job_refused"
"""The code of an error that says something of the job: others run it, or it is paused or over."""
LOOK_SECONDS: Final = 0.02
"""Between two looks at whether a job that is handed over has ended its item."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One job in its thread. `ended` is set by that thread, whatever becomes of who waits for it; `told` is said when
    all went well, instead of a tally.
    """

    job: str
    told: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)


class Running:
    """What runs here. `start` runs a coroutine, `tell` says a line, `changed` hears that a job began or ended."""

    def __init__(
        self,
        session: Session,
        *,
        start: Callable[[Coroutine[Any, Any, None]], object],
        tell: Callable[[str, Tone], None],
        changed: Callable[[], object],
    ) -> None:
        self._session = session
        self._start = start
        self._tell = tell
        self._changed = changed
        self._calls = Calls(1)
        self._run: _Run | None = None

    @property
    def job(self) -> str | None:
        """The job that runs here now; it may be about to be handed over."""
        run = self._run
        return None if run is None or run.ended.is_set() else run.job

    def hindrance(self, job: str) -> str | None:
        """Why this job cannot be begun beside what runs here; None where nothing does."""
        if self.job is None:
            return None
        return f"{self.job} runs here: one at a time; {job} waits for it, or for another console"

    def begin(self, job: str, told: str = "") -> None:
        """Carry a job out, unless one runs here already or changes are off; either is said. `told` stands for the
        tally of a job that leaves its rows to somebody else.
        """
        hindrance = self.hindrance(job)
        if hindrance is not None:
            self._tell(hindrance, Tone.WARN)
        elif self._session.acting is None or not self._session.writable:
            self._tell(f"{job} waits for a runner: changes are off here; W, then B runs it", Tone.WARN)
        else:
            self._run = _Run(job, told)
            self._session.job_here = job
            self._start(self._carry_out(self._run))
            self._tell(f"{job} runs here, also when changes are off; B hands it over", Tone.INFO)
            self._changed()

    def hand_over(self) -> None:
        """Stop after the item at hand and let others go on; returns at once."""
        if self._run is not None and self.job is not None:
            self._run.stop.set()
            self._tell(f"{self._run.job} is handed over after the item at hand", Tone.INFO)

    async def finish(self, seconds: float) -> bool:
        """The same, waited for; False where the item at hand takes longer, and its lease has to run out."""
        run = self._run
        if run is None:
            return True
        run.stop.set()
        for _ in range(max(1, round(seconds / LOOK_SECONDS))):
            if run.ended.is_set():
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return run.ended.is_set()

    async def _carry_out(self, run: _Run) -> None:
        try:
            row = await self._calls.run(lambda: self._work(run))
        except GatewayError as error:
            self._tell(*_why_not(run.job, error))
        else:
            self._tell(*_told(run, row))
        finally:
            if self._run is run:
                self._session.job_here = None
            self._changed()

    def _work(self, run: _Run) -> JobRow | None:
        """In the thread of the job."""
        acting = self._session.acting
        assert acting is not None
        try:
            return acting.run_job(run.job, run.stop, self._session.resolvers)
        finally:
            run.ended.set()


def _why_not(job: str, error: GatewayError) -> tuple[str, Tone]:
    """What is said when a run ends with an error: a job that was refused here goes on elsewhere, or may not."""
    if error.code == REFUSED:
        return f"{job} does not run here: {error}", Tone.WARN
    text = f"{job} is interrupted: {error}; nothing is repeated by itself, B goes on with it"
    return text, Tone.BAD


def _told(run: _Run, row: JobRow | None) -> tuple[str, Tone]:
    """What is said when a run is over."""
    from console.acting.job_words import tally
    from console.acting.jobs import JobState

    job = run.job
    if row is None:
        return f"{job} is no longer there", Tone.WARN
    if row.state is JobState.READY:
        return (
            f"{job} is handed over: {tally(row)}; B goes on with it here, so does any other console",
            Tone.INFO,
        )
    whole = row.state is JobState.DONE and not row.failed
    if whole and run.told:
        return run.told, Tone.INFO
    return f"{job} {row.state.value}: {tally(row)}", Tone.GOOD if whole else Tone.WARN
