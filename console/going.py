"""Going from screen to screen: the verbs that only look at another list."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual.app import App

from console import arriving, filters
from console.acting.audited import Audited
from console.commands import ShowList, changed_since
from console.present import Tone
from console.screens import modes
from console.spans import LATELY

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.commands import Command
    from console.session import Session


class Going(App[None]):
    """An application with a mode for each screen."""

    session: Session

    @abstractmethod
    def carry_out(self, command: Command) -> None:
        """Do what a command line says."""

    @abstractmethod
    def _tell(self, text: str, tone: Tone) -> None:
        """Say a line on the screen in front."""

    def _go(self, mode: str) -> None:
        """To a mode as it was left; where it is in front already, back to its list."""
        if self.current_mode != mode:
            self.switch_mode(mode)
        else:
            self._close_over(mode, lambda: arriving.at_root(self))

    def _close_over(self, mode: str, go: Callable[[], object]) -> None:
        """Do what closes all that was opened over a mode's list; what was typed there is given up first."""
        from console.screens import leaving

        leaving.leave(self, leaving.above(self, mode), self.session.monotonic, go)

    def do_overview(self) -> None:
        self._go(modes.OVERVIEW)

    def do_changed(self) -> None:
        self.carry_out(changed_since(LATELY))

    def do_threads(self) -> None:
        self._go(modes.THREADS)

    def do_claims(self) -> None:
        self._go(modes.CLAIMS)

    def do_reservations(self) -> None:
        self._go(modes.RESERVATIONS)

    def do_fences(self) -> None:
        self._go(modes.FENCES)

    def do_budgets(self) -> None:
        self._go(modes.BUDGETS)

    def do_days(self) -> None:
        from console import money_filters

        self.carry_out(ShowList(modes.BUDGETS, money_filters.DAYS))

    def do_events(self) -> None:
        self._go(modes.EVENTS)

    def do_audit(self) -> None:
        self._go(modes.AUDIT)

    def do_history(self) -> None:
        text = self.screen.audited() if isinstance(self.screen, Audited) else None
        if text is None:
            self._tell("audit of it: the audit knows nothing of this", Tone.WARN)
        else:
            self.carry_out(ShowList(modes.AUDIT, text))

    def do_unknown(self) -> None:
        from console.screens.unknown import UnknownScreen

        if not isinstance(self.screen, UnknownScreen):
            self.push_screen(UnknownScreen(self.session))

    def do_jobs(self) -> None:
        self._go(modes.JOBS)

    def do_plans(self) -> None:
        from console import job_filters

        self.carry_out(ShowList(modes.JOBS, job_filters.PLANS))

    def do_queue(self) -> None:
        self._go(modes.QUEUE)

    def do_incomplete(self) -> None:
        self.carry_out(ShowList(modes.THREADS, filters.STUCK))

    def do_tombstones(self) -> None:
        self.carry_out(ShowList(modes.THREADS, filters.TOMBSTONES))

    def do_holders(self) -> None:
        self.carry_out(ShowList(modes.CLAIMS, filters.HOLDERS))
