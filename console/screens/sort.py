"""The letters that a list is sorted by: one for each column, and what the order would be."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from console.lists.sorting import following
from console.present import Cell, Tone, own, pad
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key

    from console.jsontext import Line
    from console.lists.sorting import Served, Sort
    from console.present import Safe

_TITLE = 26


def letters(titles: Sequence[str]) -> dict[str, str]:
    """A letter for each title: the first of its own that no title before it has taken, else any."""
    given: dict[str, str] = {}
    for title in titles:
        own_letters = [letter for letter in title.lower() if letter in ascii_lowercase]
        free = next((each for each in (*own_letters, *ascii_lowercase) if each not in given), None)
        if free is not None:
            given[free] = title
    return given


class SortScreen(ModalScreen[str | None], Leavable[str | None]):
    """Gives the title of a column, or None."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(
        self, titles: Sequence[Safe], sort: Sort | None, served: Served | None, turned: Sort | None = None
    ) -> None:
        """`turned` is the order besides its own that the store serves."""
        super().__init__()
        self._turned = turned
        self._letters = letters(titles)
        self._sort = sort
        self._served = served

    def compose(self) -> ComposeResult:
        """The sheet."""
        sheet = Pane(id="sheet", classes="-raised -fixed")
        sheet.border_title = "sort by: type a letter"
        sheet.border_subtitle = "esc leaves it as it is"
        yield sheet

    def on_mount(self) -> None:
        """Fill the sheet."""
        lines = [self._line(letter, title) for letter, title in self._letters.items()]
        sheet = self.query_one(Pane)
        sheet.styles.height = len(lines) + 2
        sheet.show(lambda _room: lines)

    def _line(self, letter: str, title: str) -> Line:
        then = following(self._sort, title, self._served)
        now = self._sort or self._served
        here = now is not None and now.title == title
        if then is None or then == self._turned:
            word = f"the store's own order{'' if then is None else ', last row first'}"
        else:
            word = then.words.replace(f" {title}", "")
        return (
            Cell(own(f" {letter}  "), Tone.ACCENT),
            Cell(pad(own(title), _TITLE), Tone.HEAD if here else Tone.STRONG),
            Cell(own(word), Tone.MUTED),
        )

    def on_key(self, event: Key) -> None:
        """A letter chooses; a terminal sends a character with esc as well, which leaves."""
        if event.is_printable and event.character is not None and self.type_ahead(event.character):
            event.stop()

    def type_ahead(self, character: str) -> bool:
        """Take a letter, also one that was typed before the sheet was there."""
        title = self._letters.get(character)
        if title is not None and self.is_current:
            self.dismiss(title)
        return True
