"""A few things to choose from by their letter; what cannot be chosen says why (console.md 3.1, rows 31 and 36)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from console.present import Cell, Tone, own, pad, safe
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key

    from console.jsontext import Line

_LABEL = 24


@dataclass(frozen=True, slots=True)
class Entry:
    """One choice: the letter that takes it, what it is called, what it does, and why it cannot be taken now."""

    key: str
    label: str
    tells: str
    why_not: str = ""


class MenuScreen(ModalScreen[str | None]):
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

    def _fill(self) -> None:
        lines = [line for entry in self.entries for line in _lines(entry)]
        if self._told:
            lines.append((Cell(safe(f" {self._told}", 300), Tone.WARN),))
        sheet = self.query_one(Pane)
        sheet.styles.height = len(lines) + 2
        sheet.show(lambda _room: lines)

    def on_key(self, event: Key) -> None:
        """A letter chooses what can be chosen; of the rest it says why not."""
        entry = next((each for each in self.entries if each.key == event.character), None)
        if entry is None or not self.is_current:
            return
        event.stop()
        if entry.why_not:
            self._told = f"{entry.label}: {entry.why_not}"
            self._fill()
        else:
            self.dismiss(entry.key)


def _lines(entry: Entry) -> tuple[Line, ...]:
    off = bool(entry.why_not)
    head = (
        Cell(own(f" {entry.key}  "), Tone.MUTED if off else Tone.ACCENT),
        Cell(pad(safe(entry.label), _LABEL), Tone.MUTED if off else Tone.STRONG),
        Cell(safe(entry.tells, 300), Tone.MUTED),
    )
    return (head, (Cell(safe(f"      not now: {entry.why_not}", 300), Tone.WARN),)) if off else (head,)
