"""The operator's own commands that change something: only while changes are on, confirmed, and told to the audit before
they begin and after they ended.
"""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from console.acting.confirmation import Asked
from console.acting.equivalent import kept
from console.acting.model import Order, Route
from console.action import Level
from console.model import GatewayError
from console.present import Cell, Tone, own, safe, wrap
from console.screens.confirm import Question, ask, refused
from console.screens.output import OutputScreen

if TYPE_CHECKING:
    from console.acting.confirmation import Confirmed
    from console.acting.door import Acting
    from console.config import CustomCommand
    from console.programs import Outcome
    from console.screens.page import Page

_SHOWN: Final = 1_000
_ROOM: Final = 70
_LINES: Final = 5
"""Of the command line, so that the dialog fits 80x24."""


@dataclass(frozen=True, slots=True)
class Outside:
    """One run of such a command, from a page. ValueError where it may not run now."""

    page: Page
    command: CustomCommand
    argv: tuple[str, ...]

    def ask(self) -> None:
        """Let it be confirmed; it runs after that."""
        name = self.command.name
        hindrance = refused(self.page, name)
        if hindrance is not None:
            raise ValueError(hindrance)
        question = Question(own(f"your command {name}"), self._facts(), self._asked(), verb=name)
        ask(self.page, question, self._answered)

    def _asked(self) -> Asked:
        """A phrase names the command, at level 3 the environment as well."""
        name, level = self.command.name.upper(), self.command.level
        session = self.page.session
        where = session.environment or session.gateway.label.name
        phrase = {Level.PHRASE: name, Level.REASON: f"{name} ON {where.upper()}"}.get(level, "")
        return Asked(level, "Run", phrase, reasoned=True)

    def _facts(self) -> tuple[tuple[Cell, ...], ...]:
        """The command line, folded, for the dialog is as high as its lines are many."""
        lines = wrap(safe(f"$ {shlex.join(self.argv)}", _SHOWN), _ROOM)
        shown = [(Cell(line, Tone.STRONG),) for line in lines[:_LINES]]
        if len(lines) > _LINES:
            shown.append((Cell(own("... it is longer: the audit keeps it whole"), Tone.WARN),))
        return (*shown, (Cell(own("The audit keeps that it was run, why, and how it ended."), Tone.MUTED),))

    def _answered(self, confirmed: Confirmed) -> None:
        acting = self.page.session.acting
        if acting is not None:
            self._start(self._begin(acting, self._order(confirmed.reason)))

    def _order(self, reason: str) -> Order:
        what = f"your command {self.command.name}"
        return Order(what, reason, Route.CUSTOM, kept(shlex.join(self.argv)))

    def _start(self, work: Any) -> None:
        self.page.app.run_worker(work, group="outside", exit_on_error=False)

    async def _begin(self, acting: Acting, order: Order) -> None:
        """The intent first: where it cannot be written down the program is not run."""
        session, intent = self.page.session, self._named()
        try:
            await session.acts.run(lambda: acting.record(order, intent))
        except GatewayError as error:
            self.page.say(
                safe(f"{order.what} was not run: its intent could not be recorded: {error}", 600), Tone.WARN
            )
            return
        screen = OutputScreen(
            session, self.command, self.argv, lambda outcome: self._start(self._end(acting, order, outcome))
        )
        await self.page.app.push_screen(screen)

    async def _end(self, acting: Acting, order: Order, outcome: Outcome) -> None:
        session = self.page.session
        result = self._named() | {
            "ending": outcome.ending.value,
            "exit_code": outcome.code,
            "milliseconds": round(outcome.seconds * 1_000),
        }
        try:
            await session.acts.run(lambda: acting.recorded(order, result))
        except GatewayError as error:
            said = f"how {order.what} ended could not be recorded ({outcome.ending.value}): {error}"
            self.page.say(safe(said, 600), Tone.WARN)
            return
        session.sending.changed(order)

    def _named(self) -> dict[str, Any]:
        """What was run, without the values that may be long: the command line is kept whole by its hash."""
        line = shlex.join(self.argv)
        return {"name": self.command.name, "argv_sha256": hashlib.sha256(line.encode()).hexdigest()}
