"""A list with what there is to read of its row below: checkpoints, writes, effects, events of a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic

from textual import on
from textual.containers import Vertical

from console import jsontext
from console.model import Row
from console.styles import beside
from console.widgets.listing import Listing
from console.widgets.pane import Pane, nothing
from console.widgets.window import Rest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from console.jsontext import Line
    from console.present import Safe
    from console.widgets.columns import Column, Scene

    Content = Callable[[int], Sequence[Line]]


def json_of(text: str, size: int) -> Content:
    """A JSON text laid out; `size` is the stored one's in bytes, which this may only be the beginning of."""
    lines = jsontext.lines(text, size)
    return lambda _room: lines


class Pair(Vertical, Generic[Row]):
    """Rows above, the content of the row under the cursor below."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(
        self,
        columns: tuple[Column[Row], ...],
        key: Callable[[Row], str],
        content: Callable[[Row, Scene], Content],
        *,
        empty: Safe,
        rest: Rest = Rest.TOP,
        id: str,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self.listing: Listing[Row] = Listing(columns, key, empty=empty, rest=rest)
        self.pane = Pane()
        self._content = content
        self._shown: tuple[str, Row] | None = None
        self._scene: Scene | None = None

    def compose(self) -> ComposeResult:
        """The list and the pane."""
        yield self.listing
        yield self.pane

    def show(self, rows: Sequence[Row], scene: Scene) -> None:
        """Take a fresh answer."""
        self._scene = scene
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
        row, row_id, before = self.listing.window.current, self.listing.window.current_id, self._shown
        if row is None or row_id is None or self._scene is None:
            self._shown = None
            self.pane.show(nothing)
        elif before is None or before[0] != row_id:
            self._shown = (row_id, row)
            self.present_row(row, self._scene)
        elif before[1] != row:
            self._shown = (row_id, row)
            self.update_row(row, self._scene)

    def present_row(self, row: Row, scene: Scene) -> None:
        """Show the content of a row that the cursor has come to."""
        self.pane.show(self._content(row, scene), from_top=True)

    def update_row(self, row: Row, scene: Scene) -> None:
        """Show what has become of the row under the cursor."""
        self.pane.show(self._content(row, scene))
