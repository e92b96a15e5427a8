"""The contexts to choose from: what each was connected to when last seen, in which role, and whether it may change."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from console import present
from console.context_facts import here
from console.header import TAG_TONES
from console.present import Cell, Tone, middle, own, pad, safe
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from console.contexts import ContextRow
    from console.jsontext import Line
    from console.session import Session

_LINES: Final = 2
"""Lines of one context."""
_LABEL: Final = 16
_MODE: Final = 14
_SERVER: Final = 24


class ContextsScreen(ModalScreen[str | None], Leavable[str | None]):
    """Gives the name of the context to open, or None."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", show=False),
        Binding("j,down", "step(1)", show=False),
        Binding("k,up", "step(-1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._rows = session.contexts.rows()
        self._here = next((place for place, row in enumerate(self._rows) if row.here), 0)

    def compose(self) -> ComposeResult:
        """The sheet."""
        sheet = Pane(id="sheet", classes="-raised -fixed")
        sheet.border_title = "contexts"
        sheet.border_subtitle = "j k choose   enter opens it here   esc stays"
        sheet.styles.height = _LINES * len(self._rows) + 2
        yield sheet

    def on_mount(self) -> None:
        """Fill the sheet."""
        self.action_step(0)

    def action_step(self, count: int) -> None:
        """Another context."""
        self._here = max(0, min(self._here + count, len(self._rows) - 1))
        sheet = self.query_one(Pane)
        sheet.show(self._lines)
        sheet.scroll_to(
            y=max(0, _LINES * (self._here + 1) - sheet.size.height), animate=False, immediate=True
        )

    def action_choose(self) -> None:
        """Open it; the one that is open stays as it is."""
        row = self._rows[self._here]
        self.dismiss(None if row.here else row.name)

    def _lines(self, room: int) -> tuple[Line, ...]:
        told = (self._told(row, room, under=place == self._here) for place, row in enumerate(self._rows))
        return tuple(line for lines in told for line in lines)

    def _told(self, row: ContextRow, room: int, *, under: bool) -> tuple[Line, Line]:
        standing = here(self._session) if row.here else None
        head: Line = (
            Cell(own("> " if under else "  "), Tone.ACCENT),
            Cell(safe(f" {row.environment} "), TAG_TONES[row.colour]),
            Cell(pad(safe(f" {row.label}"), _LABEL), Tone.HEAD if under else Tone.STRONG),
            Cell(pad(own(f" {self._mode(row)}"), _MODE), Tone.INFO),
            Cell(safe(f" as {row.seen.role}" if row.seen and row.seen.role else "")),
            *(() if standing is None else (Cell(own("  ")), standing)),
        )
        seen = Cell(own("    "), Tone.MUTED), *_seen(row)
        left = room - sum(present.width(cell.text) for cell in seen) - 2
        return head, (*seen, Cell(middle(safe(f"  {row.address}"), max(left, 0)), Tone.MUTED))

    def _mode(self, row: ContextRow) -> str:
        if row.here and self._session.writable:
            return "READ-WRITE"
        return "RO, never RW" if row.read_only else "RO"


def _seen(row: ContextRow) -> Line:
    """The store as it was when last connected to."""
    if row.seen is None:
        return (Cell(own("never connected to from here"), Tone.MUTED),)
    place = middle(safe(f"{row.seen.server} {row.seen.database}"), _SERVER)
    return (
        Cell(own("server "), Tone.MUTED),
        Cell(pad(place, _SERVER)),
        Cell(own(f"  seen {present.instant(row.seen.at)[:16]}Z"), Tone.MUTED),
    )
