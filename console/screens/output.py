"""The output of a command of the operator's own, while it runs and afterwards."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from console import copying
from console.output import SHOWN_BYTES, lines_of
from console.present import Cell, Safe, Tone, own, safe
from console.programs import Ending, Outcome, Program
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from console.config import CustomCommand
    from console.jsontext import Line
    from console.session import Session

LOOK_SECONDS: Final = 0.25
"""How often what a running program has written is shown."""


class OutputScreen(ModalScreen[None], Leavable[None]):
    """Runs the program off the event loop. Esc stops it; once it has ended, Esc closes the sheet."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("q", "dismiss", show=False),
        Binding("y", "copy", show=False),
        Binding("j,down", "scroll('down')", show=False),
        Binding("k,up", "scroll('up')", show=False),
        Binding("pagedown,space", "scroll('page_down')", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("g,home", "scroll('first')", show=False),
        Binding("G,end", "scroll('last')", show=False),
    ]

    def __init__(
        self,
        session: Session,
        command: CustomCommand,
        argv: Sequence[str],
        ended: Callable[[Outcome], object] = lambda _outcome: None,
    ) -> None:
        super().__init__()
        self._session = session
        self._name = command.name
        self._argv = tuple(argv)
        self._program = Program(argv, seconds=command.limit, most=SHOWN_BYTES)
        self._begun = session.monotonic()
        self._seen = 0
        self._ended = ended
        self.outcome: Outcome | None = None

    def compose(self) -> ComposeResult:
        """The sheet."""
        sheet = Pane(id="sheet", classes="-raised")
        sheet.border_title = Content(f"your command {self._name}")  # no markup
        yield sheet

    def on_mount(self) -> None:
        """Start the program."""
        self._show(())
        self._say()
        # The console's own, not the sheet's: how it ended is wanted also where the sheet was closed meanwhile.
        self.app.run_worker(self._follow(), group="program", exit_on_error=False)
        self.set_interval(LOOK_SECONDS, self._look)

    def on_unmount(self) -> None:
        """Nothing runs on unseen."""
        self._program.stop()

    async def _follow(self) -> None:
        self.outcome = await self._session.errands.run(self._program.run)
        self._ended(self.outcome)
        await self._read()
        self._say()

    def _look(self) -> None:
        if self.outcome is None:
            self.run_worker(self._read(), group="look", exclusive=True, exit_on_error=False)
            self._say()

    async def _read(self) -> None:
        """Make what has been written since harmless, and show it."""
        output = self._program.output
        if len(output) != self._seen:
            self._seen = len(output)
            self._show(await self._session.errands.run(lambda: lines_of(output)))

    def _show(self, lines: tuple[Line, ...]) -> None:
        if self.is_mounted:
            shown = (self._head(), (), *lines)
            self.query_one(Pane).show(lambda _room: shown)

    def _head(self) -> Line:
        return Cell(own("$ "), Tone.MUTED), Cell(self.command_line, Tone.STRONG)

    @property
    def command_line(self) -> Safe:
        """The program as it could be typed."""
        return safe(shlex.join(self._argv), 1_000)

    def _say(self) -> None:
        if self.is_mounted:
            self.query_one(Pane).border_subtitle = Content(f"{self._state()}   y copies the command")

    def _state(self) -> str:
        outcome = self.outcome
        if outcome is None:
            return f"running {self._session.monotonic() - self._begun:.0f}s   esc stops it"
        if outcome.ending is Ending.NOT_STARTED:
            return f"{outcome.ending.value}: {outcome.reason}   esc closes"
        how = f"exit code {outcome.code}" if outcome.ending is Ending.DONE else outcome.ending.value
        return f"{how} after {outcome.seconds:.1f}s   esc closes"

    def action_leave(self) -> None:
        """Stop the program, or close the sheet of one that has ended."""
        if self.outcome is None:
            self._program.stop()
        else:
            self.dismiss()

    def action_copy(self) -> None:
        """Ask the terminal to take the command line (OSC 52)."""
        sent = copying.send(self.app, self.command_line)
        self.query_one(Pane).border_subtitle = own(f"command {sent.value}   esc closes")

    def action_scroll(self, verb: str) -> None:
        """Scroll the sheet."""
        getattr(self.query_one(Pane), f"do_{verb}")()
