"""A list with the text of its row below: checkpoints, writes, effects, events of a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic

from textual import on
from textual.containers import Vertical

from console import jsontext
from console.model import Row
from console.styles import beside
from console.widgets.listing import Listing
from console.widgets.pane import Pane
from console.widgets.window import Rest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from console.jsontext import Line
    from console.present import Safe
    from console.widgets.columns import Column, Scene


class Pair(Vertical, Generic[Row]):
    """Rows above, the JSON text of the row under the cursor below."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(
        self,
        columns: tuple[Column[Row], ...],
        key: Callable[[Row], str],
        text: Callable[[Row], tuple[str, int]],
        *,
        empty: Safe,
        rest: Rest = Rest.TOP,
        id: str,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self.listing: Listing[Row] = Listing(columns, key, empty=empty, rest=rest)
        self.pane = Pane()
        self._text = text
        self._shown: str | None = None

    def compose(self) -> ComposeResult:
        """The list and the pane."""
        yield self.listing
        yield self.pane

    def show(self, rows: Sequence[Row], scene: Scene) -> None:
        """Take a fresh answer."""
        self.listing.show(rows, scene)

    def do_read(self) -> None:
        self.pane.focus()

    def leave_text(self) -> bool:
        """Back from the text to the list; False if the focus was not in the text."""
        if not self.pane.has_focus:
            return False
        self.listing.focus()
        return True

    @on(Listing.Moved)
    def _row_changed(self, event: Listing.Moved) -> None:
        event.stop()
        row, row_id = self.listing.window.current, self.listing.window.current_id
        if row is None or row_id is None:
            self.pane.show(lambda _room: ())
        elif row_id != self._shown:
            self.present_row(row, row_id)
        self._shown = row_id

    def present_row(self, row: Row, _row_id: str) -> None:
        """Show a row's text; a subclass may have to fetch it first."""
        self.show_text(*self._text(row))

    def show_text(self, text: str, whole: int) -> None:
        """Lay out a JSON text in the pane; `whole` is the size in bytes of what it may only be the
        beginning of.
        """
        lines = jsontext.lines(text, whole)
        self.pane.show(lambda _room: lines, from_top=True)

    def show_note(self, line: Line) -> None:
        """Say something in the pane instead of a text."""
        self.pane.show(lambda _room: (line,), from_top=True)
