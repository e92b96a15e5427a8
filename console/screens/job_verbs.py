"""What an operator does with a job, in a list or on its screen: run here, hand over, halt, go on, give up (F10)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from console.acting import equivalent, job_moves, job_words
from console.acting.confirmation import Asked
from console.acting.jobs import JobState
from console.actions import Level
from console.present import Cell, Tone, own, safe
from console.screens import ordering
from console.screens.confirm import Question, ask, refused
from console.screens.listed import ListedPage

if TYPE_CHECKING:
    from console.acting.job_moves import Move
    from console.acting.jobs import JobRow
    from console.app import HoldwatchApp
    from console.jsontext import Line


@dataclass(frozen=True, slots=True)
class _Move:
    """A change of a job's state with the dialog's word for it; `told` is what is said once it is made."""

    word: str
    move: Move
    told: str

    @property
    def what(self) -> str:
        """What is done."""
        return f"{self.move.deed} job"


_CARRYING = frozenset({"begin_job", "halt_job", "give_up"})
"""The verbs of a job that is not over."""
_PAUSE = _Move("Pause", job_moves.PAUSE, "is paused: its runner stops after the item at hand")
_RESUME = _Move("Go on", job_moves.RESUME, "may go on: B runs it here")
_CANCEL = _Move("End it", job_moves.CANCEL, "is cancelled: what was applied stays")


class JobVerbs(ListedPage):
    """A screen that means one job at a time."""

    @abstractmethod
    def meant_job(self) -> JobRow | None:
        """The job that a verb works on, as it was drawn; None where none was."""

    @property
    def job_in_view(self) -> JobRow | None:
        """The same, asked for without a word."""
        return self.meant_job()

    def idle_verbs(self) -> frozenset[str]:
        """What is over is neither run, halted nor given up; run here is only what no other runs."""
        row = self.job_in_view
        if row is None or row.state in job_words.OVER:
            return _CARRYING
        here = cast("HoldwatchApp", self.app).running.job == row.id
        begins = here or row.state in {JobState.READY, JobState.INTERRUPTED}
        return frozenset() if begins else frozenset({"begin_job"})

    def do_begin_job(self) -> None:
        """Begun only where it is confirmed; handing over is no change of the store's: it works with changes off."""
        row, running = self._meant(), cast("HoldwatchApp", self.app).running
        if row is None:
            return
        if running.job == row.id:
            running.hand_over()
            return
        hindrance = refused(self, "begin_job") or running.hindrance(row.id)
        if hindrance is not None:
            self.say(safe(hindrance, 300), Tone.WARN)
        elif row.state not in {JobState.READY, JobState.INTERRUPTED}:
            self.say(own(f"{safe(row.id)} is {row.state.value}: {self._next(row)}"), Tone.WARN)
        else:
            self._ask_to_begin(row)

    def do_halt_job(self) -> None:
        row = self._meant()
        if row is not None:
            self._ask(row, _RESUME if row.state is JobState.PAUSED else _PAUSE, "halt_job")

    def do_give_up(self) -> None:
        row = self._meant()
        if row is not None:
            self._ask(row, _CANCEL, "give_up")

    def _meant(self) -> JobRow | None:
        row = self.meant_job()
        if row is None:
            self.say(own("no job under the cursor"), Tone.WARN)
        return row

    def _next(self, row: JobRow) -> str:
        here = cast("HoldwatchApp", self.app).running.job == row.id
        return job_words.next_step(row, here=here)

    def _ask(self, row: JobRow, move: _Move, verb: str) -> None:
        """Level 1, unless the job is over: then what to do instead is said, and nothing asked."""
        if row.state in job_words.OVER:
            self.say(own(f"{safe(row.id)} is over, {row.state.value}: {self._next(row)}"), Tone.WARN)
            return
        lines = (
            *_facts(row),
            (Cell(own(f"What was applied stays. The job then {move.told}."), Tone.MUTED),),
        )
        question = Question(own(move.what), lines, Asked(Level.ASK, move.word), verb=verb)
        ask(self, question, lambda _yes: self._move(row.id, move))

    def _move(self, job: str, move: _Move) -> None:
        aim = equivalent.aim_of(self.session)
        order = ordering.of_window(self.session, move.what, partial(move.move.line, aim, job))
        work = ordering.send(
            self,
            order,
            lambda acting: move.move.call(acting, job, order),
            lambda row: f"{job} {move.told} ({job_words.tally(row)})",
            f"{move.what} {job}",
        )
        self.run_worker(work, group="change", exit_on_error=False)

    def _ask_to_begin(self, row: JobRow) -> None:
        """What the job does and how much of it is left: the row under the cursor may be another than was meant."""
        speed = Cell(own(f"It runs here: {job_words.rate(row)}. B hands it over again."), Tone.MUTED)
        question = Question(
            own("run job here"), (*_facts(row), (speed,)), Asked(Level.ASK, "Run it"), verb="begin_job"
        )
        running = cast("HoldwatchApp", self.app).running
        ask(self, question, lambda _yes: running.begin(row.id))


def _facts(row: JobRow) -> tuple[Line, ...]:
    """Which job it is: deed, environment, what became of its items and how many are left."""
    return (
        (Cell(own(f"{safe(row.id)}  {safe(row.deed)} on {safe(row.environment)}"), Tone.HEAD),),
        (job_words.state(row.state), Cell(own(f"  {job_words.tally(row)}"), Tone.PLAIN)),
    )
