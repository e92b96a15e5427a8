"""What an operator does with a job, in a list or on its screen: run here, hand over, halt, go on, give up (F10)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from console import actions
from console.acting import equivalent, job_moves, job_words
from console.acting.confirmation import Asked
from console.acting.jobs import JobState
from console.acting.model import Order
from console.actions import Capability, Level
from console.model import GatewayError
from console.present import Cell, Tone, own, safe
from console.screens.confirm import ConfirmScreen, Question, still_may
from console.screens.listed import ListedPage

if TYPE_CHECKING:
    from console.acting.confirmation import Confirmed
    from console.acting.job_moves import Move
    from console.acting.jobs import JobRow
    from console.app import HoldwatchApp


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


_PAUSE = _Move("Pause", job_moves.PAUSE, "is paused: its runner stops after the item at hand")
_RESUME = _Move("Go on", job_moves.RESUME, "may go on: B runs it here")
_CANCEL = _Move("End it", job_moves.CANCEL, "is cancelled: what was applied stays")


class JobVerbs(ListedPage):
    """A screen that means one job at a time."""

    @abstractmethod
    def meant_job(self) -> JobRow | None:
        """The job that a verb works on, as it was drawn; None where none was."""

    def do_begin_job(self) -> None:
        """Handing over is no change of the store's: it works with changes off."""
        row, running = self._meant(), cast("HoldwatchApp", self.app).running
        if row is None:
            return
        if running.job == row.id:
            running.hand_over()
            return
        action = replace(self.session.registry.named("begin_job"), capability=Capability.WRITE)
        refused = actions.refusal(action, writable=self.session.writable, connected=self.connected)
        if refused is not None:
            self.say(refused, Tone.WARN)
        elif row.state not in {JobState.READY, JobState.INTERRUPTED}:
            self.say(own(f"{safe(row.id)} is {row.state.value}: {self._next(row)}"), Tone.WARN)
        else:
            running.begin(row.id)

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
            (Cell(own(f"{safe(row.id)}  {safe(row.deed)} on {safe(row.environment)}"), Tone.HEAD),),
            (job_words.state(row.state), Cell(own(f"  {job_words.tally(row)}"), Tone.PLAIN)),
            (Cell(own(f"What was applied stays. The job then {move.told}."), Tone.MUTED),),
        )
        question = Question(own(move.what), lines, Asked(Level.ASK, move.word), verb=verb)
        order = self._order(row, move)

        def answered(confirmed: Confirmed | None) -> None:
            if confirmed is not None and still_may(self, verb):
                self.run_worker(self._send(row.id, move, order), group="change", exit_on_error=False)

        self.app.push_screen(ConfirmScreen(question, self.session.monotonic), answered)

    def _order(self, row: JobRow, move: _Move) -> Order:
        """Its reason is that of the window: level 1 asks for none of its own."""
        reason = self.session.window.reason
        command = move.move.line(equivalent.aim_of(self.session), row.id, reason or equivalent.UNSAID)
        return Order(move.what, reason or None, self.session.route, command)

    async def _send(self, job: str, move: _Move, order: Order) -> None:
        acting = self.session.acting
        assert acting is not None
        try:
            row = await self.session.sending.send(order, lambda: move.move.call(acting, job, order))
        except GatewayError as error:
            self.say(safe(f"{move.what} {job}: {error}", 600), Tone.WARN)
        else:
            self.say(safe(f"{job} {move.told} ({job_words.tally(row)})", 600), Tone.INFO)
        self.do_refresh()
