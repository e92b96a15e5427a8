"""A few things to choose from by their letter; what cannot be chosen says why (console.md 3.1, rows 31 and 36)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from console.present import Cell, Tone, own, pad, safe, width, wrap
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key

    from console.acting.offers import Entry
    from console.jsontext import Line

_LABEL = 24
_WIDEST = 96
"""Cells of the sheet, as its style has them."""
_EDGES = 4


class MenuScreen(ModalScreen[str | None], Leavable[str | None]):
    """Gives the letter of an entry that can be taken, or None. It begins a change at most: what is chosen asks."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, title: str, entries: Sequence[Entry]) -> None:
        super().__init__()
        self._title = title
        self.entries = tuple(entries)
        self._told = ""

    def compose(self) -> ComposeResult:
        """The sheet."""
        sheet = Pane(id="sheet", classes="-raised -fixed")
        sheet.border_title = safe(self._title, 80).replace("[", r"\[")
        sheet.border_subtitle = "a letter chooses, esc leaves"
        yield sheet

    def on_mount(self) -> None:
        """Fill the sheet."""
        self._fill()

    def on_resize(self) -> None:
        """As high as its lines are at the new width."""
        self._fill()

    def _fill(self) -> None:
        sheet = self.query_one(Pane)
        sheet.styles.height = len(self._laid_out(min(self.size.width, _WIDEST) - _EDGES)) + 2
        sheet.show(self._laid_out)

    def _laid_out(self, room: int) -> list[Line]:
        lines = [line for entry in self.entries for line in _lines(entry, room)]
        return [*lines, *_under(Cell(own(" ")), self._told, room, Tone.WARN)] if self._told else lines

    def do_up(self) -> None:
        self.query_one(Pane).do_up()

    def do_down(self) -> None:
        self.query_one(Pane).do_down()

    def on_key(self, event: Key) -> None:
        """A letter chooses what can be chosen; of the rest it says why not. Where not all fits it is scrolled."""
        scroll = {"j": self.do_down, "down": self.do_down, "k": self.do_up, "up": self.do_up}.get(event.key)
        if scroll is not None:
            event.stop()
            scroll()
            return
        entry = next((each for each in self.entries if each.key == event.character), None)
        if entry is None or not self.is_current:
            return
        event.stop()
        if entry.why_not:
            self._told = f"{entry.label}: {entry.why_not}"
            self._fill()
        else:
            self.dismiss(entry.key)


def _lines(entry: Entry, room: int) -> tuple[Line, ...]:
    off = bool(entry.why_not)
    key = Cell(own(f" {entry.key}  "), Tone.MUTED if off else Tone.ACCENT)
    label = Cell(pad(safe(entry.label), _LABEL), Tone.MUTED if off else Tone.STRONG)
    told, *more = _under(
        Cell(own(" " * (width(key.text) + width(label.text)))), entry.tells, room, Tone.MUTED
    )
    why = _under(Cell(own("      ")), f"not now: {entry.why_not}", room, Tone.WARN) if off else []
    return ((key, label, *told[1:]), *more, *why)


def _under(head: Cell, text: str, room: int, tone: Tone) -> list[Line]:
    """Words folded under each other, behind a head of blanks."""
    folded = wrap(safe(text, 300), max(room - width(head.text), 10)) or (own(""),)
    return [(head, Cell(line, tone)) for line in folded]
