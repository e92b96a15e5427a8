"""F12: versions, settings and their sources, terminal, latency and queries, to read and to copy."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from console import copying, diagnostics
from console.diagnostics import Latency, Section, Terminal
from console.model import GatewayError
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from console.session import Session

PING_SECONDS: Final = 2.0
TRIPS: Final = 20
"""Round trips that are remembered."""


class DiagnosticsScreen(ModalScreen[None], Leavable[None]):
    """A sheet that keeps itself up to date; `y` copies all of it."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f12,enter", "dismiss", show=False),
        Binding("y", "copy", show=False),
        Binding("j,down", "scroll('down')", show=False),
        Binding("k,up", "scroll('up')", show=False),
        Binding("pagedown,space", "scroll('page_down')", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._trips: deque[float] = deque(maxlen=TRIPS)
        self._trouble = ""
        self._versions: Section | None = None

    def compose(self) -> ComposeResult:
        """The sheet."""
        sheet = Pane(id="sheet", classes="-raised")
        sheet.border_title = "diagnostics"
        sheet.border_subtitle = "y copies   esc closes   j k scroll"
        yield sheet

    def on_mount(self) -> None:
        """Fill the sheet, and measure while it is open."""
        self._show()
        self.run_worker(self._read_versions(), group="versions", exit_on_error=False)
        self._ask()
        self.set_interval(PING_SECONDS, self._ask)

    async def _read_versions(self) -> None:
        self._versions = await self._session.errands.run(diagnostics.versions)
        self._show()

    def _ask(self) -> None:
        self.run_worker(self._ping(), group="ping", exclusive=True, exit_on_error=False)

    async def _ping(self) -> None:
        try:
            self._trips.append(await self._session.calls.run(self._timed))
            self._trouble = ""
        except GatewayError as error:
            self._trouble = error.message
        self._show()

    def _timed(self) -> float:
        """Seconds of one question; the time spent waiting for a free slot is not the store's."""
        begun = time.perf_counter()
        self._session.gateway.identity()
        return time.perf_counter() - begun

    def sections(self) -> tuple[Section, ...]:
        """All that is shown."""
        found = Terminal(*self.app.size, self.app.console.color_system or "none")
        latency = Latency(tuple(self._trips), self._trouble)
        return (
            *((self._versions,) if self._versions is not None else ()),
            diagnostics.configuration(self._session),
            diagnostics.store(self._session),
            diagnostics.terminal(found),
            diagnostics.queries(self._session, latency),
        )

    def _show(self) -> None:
        if self.is_mounted:
            sections = self.sections()
            self.query_one(Pane).show(lambda room: diagnostics.lines(sections, room))

    def action_scroll(self, verb: str) -> None:
        """Scroll the sheet."""
        getattr(self.query_one(Pane), f"do_{verb}")()

    def action_copy(self) -> None:
        """Ask the terminal to take all of it (OSC 52); whether it did is unknown."""
        lines = diagnostics.text(self.sections()).splitlines()
        sent = copying.send(self.app, *lines)
        self.query_one(Pane).border_subtitle = f"{len(lines)} lines {sent.value}   esc closes"
