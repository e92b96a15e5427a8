"""The one list widget: draws the visible lines of a `Window`, and reports what the operator does to it.

A line is made of finished segments; no markup is parsed anywhere. After a refresh only the lines that look
different are drawn again (ruling 59). The row an action works on is the one that was drawn under the cursor,
not the one that may have arrived since (console.md F2): see `target` and `targets`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeAlias, TypeVar

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView

from console import theme, times
from console.model import Row
from console.styles import beside
from console.widgets import told
from console.widgets.columns import GAP, Column, Fitted, Scene, fit_from
from console.widgets.painter import BLANK, MARGIN, Painter, Pick, Sign, difference
from console.widgets.picking import Picking
from console.widgets.window import Rest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.events import Blur, Click, Focus, MouseScrollDown, MouseScrollUp, Resize
    from textual.strip import Strip

    from console.present import Safe
    from console.widgets.aim import Targets
    from console.widgets.marks import Marks

T = TypeVar("T")

EDGE: Final = 20
"""Rows from the window's end at which more are asked for."""
WHEEL: Final = 3
"""Rows that one notch of the wheel moves by."""


class Listing(ScrollView, Generic[Row], can_focus=True, inherit_bindings=False):
    """A list of rows known by id."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    Moved: TypeAlias = told.Moved
    Rested: TypeAlias = told.Rested
    Opened: TypeAlias = told.Opened
    NearEnd: TypeAlias = told.NearEnd
    LastWanted: TypeAlias = told.LastWanted
    TitleClicked: TypeAlias = told.TitleClicked

    def __init__(
        self,
        columns: tuple[Column[Row], ...],
        key: Callable[[Row], str],
        *,
        rest: Rest = Rest.TOP,
        empty: Safe,
        marks: Marks[Row] | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self._columns = columns
        self._fitted: tuple[Fitted[Row], ...] = ()
        self._rest_end = rest
        self._scene: Scene | None = None
        self._drawn: dict[int, Strip] = {}
        self._made: dict[tuple[object, ...], Strip] = {}
        self._skipped = 0
        self.window: Picking[Row] = Picking(key, rest, marks)
        self.empty = empty

    # What it shows

    def show(self, rows: Sequence[Row], scene: Scene) -> None:
        """Take a fresh answer, keeping the cursor with its id and its row on its line of the screen."""
        self._receive(self.window.replace, rows, scene)

    def show_stretch(self, rows: Sequence[Row], scene: Scene) -> None:
        """Take the answer for another stretch of the store, in the same manner."""
        self._receive(self.window.turn, rows, scene)

    def _receive(self, taking: Callable[[Sequence[Row]], None], rows: Sequence[Row], scene: Scene) -> None:
        line = self.window.cursor - self.scroll_offset.y
        self._scene = scene
        taking(rows)
        self._forget_lines()
        self._resize_content()
        if self.window.pinned:
            self._scroll_to_line(self.window.cursor - line)
            self._keep_cursor_in_view()
        elif self._rest_end is Rest.BOTTOM:
            self._keep_cursor_in_view()
        self.redraw()
        self.post_message(self.Moved(self))

    def tick(self, scene: Scene) -> None:
        """Time went by: draw again what depends on it."""
        self._scene = scene
        self._forget_lines()
        self.redraw()

    def ask_other(self, empty: Safe) -> None:
        """The list will answer another question: forget the rows."""
        self.window.clear()
        self._scene = None
        self._forget_lines()
        self.empty = empty
        self._resize_content()
        self._scroll_to_line(0)
        self.redraw()

    def become(
        self, columns: tuple[Column[Row], ...], key: Callable[[Row], str], empty: Safe, marks: Marks[Row]
    ) -> None:
        """Be another list, with other columns and rows known by another id."""
        self.window = Picking(key, self._rest_end, marks)
        self.wear(columns)
        self.ask_other(empty)

    def wear(self, columns: tuple[Column[Row], ...]) -> None:
        """Show other columns of the same rows."""
        self._columns, self._skipped = columns, 0
        self._refit()

    def pick(self, verb: Callable[[Picking[Row]], T]) -> T:
        """Let a verb work on the window, and draw what has become of it."""
        before = self.window.cursor
        answer = verb(self.window)
        self._settle()
        if len(self.window) and self.window.cursor != before:
            self._tell_end(self.window.cursor > before)
        return answer

    @property
    def target(self) -> str | None:
        """The id that the operator means; None where he cannot have seen it.

        It is the one drawn under the cursor, or the one his own key has moved to since, among rows
        that were drawn.
        """
        return self.window.target

    def targets(self) -> Targets:
        """What a verb that changes things works on: the marked ids, or the one under the cursor, as they were in the
        frame on the screen; or a refusal that names the marks out of sight (console.md F2).
        """
        return self.window.targets()

    @property
    def target_row(self) -> Row | None:
        """The row with the id of `target`."""
        row = self.window.current
        return row if self.target is not None and self.window.current_id == self.target else None

    @property
    def hidden_columns(self) -> int:
        """How many columns are not on the screen: it is too narrow, or they were scrolled away."""
        return len(self._columns) - len(self._fitted)

    @property
    def scrolled(self) -> bool:
        """Whether columns were scrolled away at the left."""
        return self._skipped > 0

    @property
    def visible_rows(self) -> tuple[int, int]:
        """The first and last row on the screen, counted from one; (0, 0) for none."""
        if not len(self.window):
            return (0, 0)
        first = self.scroll_offset.y
        return (first + 1, min(first + self._page, len(self.window)))

    # What the operator does; the registry's verbs for lists

    def do_up(self) -> None:
        self._moved(self.window.cursor - 1)

    def do_down(self) -> None:
        self._moved(self.window.cursor + 1)

    def do_page_up(self) -> None:
        self._moved(self.window.cursor - self._page)

    def do_page_down(self) -> None:
        self._moved(self.window.cursor + self._page)

    def do_first(self) -> None:
        if self._rest_end is Rest.TOP:
            self.rest()
        else:
            self._moved(0)

    def do_end(self) -> None:
        if self._rest_end is Rest.BOTTOM:
            self.rest()
        else:
            self._moved(len(self.window) - 1)

    def do_last(self) -> None:
        self.do_end()
        self.post_message(self.LastWanted(self))

    def do_columns_right(self) -> None:
        at_right = bool(self._skipped) and self._fitted[-1].column is self._columns[-1]
        if self.hidden_columns > 0 and not at_right:
            self._skipped += 1
            self._refit()

    def do_columns_left(self) -> None:
        if self._skipped > 0:
            self._skipped -= 1
            self._refit()

    def do_open(self) -> None:
        if self.target is not None:
            self.post_message(self.Opened(self, self.target))

    def rest(self) -> None:
        """Let the cursor lie at its end of the list again."""
        self.window.rest()
        self._settle()
        self.post_message(self.Rested(self))

    def go(self, index: int) -> None:
        """Put the cursor on the row at an index."""
        self._moved(index)

    def on_click(self, event: Click) -> None:
        """One click moves the cursor, two open; one on a title asks for an order."""
        index = self.scroll_offset.y + event.y - 1
        if event.y < 1:
            self._title_clicked(event.x)
        if event.y < 1 or index >= len(self.window):
            return
        if event.chain >= 2:
            self.do_open()
        else:
            self._moved(index)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """The wheel moves the cursor, so that it never leaves the screen."""
        self._wheel(event, -WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """The wheel moves the cursor, so that it never leaves the screen."""
        self._wheel(event, WHEEL)

    def _title_clicked(self, x: int) -> None:
        start = MARGIN
        for each in self._fitted:
            if start <= x < start + each.width:
                self.post_message(self.TitleClicked(self, each.column.title))
            start += each.width + GAP

    def _wheel(self, event: MouseScrollUp | MouseScrollDown, count: int) -> None:
        event.stop()
        event.prevent_default()
        self._moved(self.window.cursor + count)

    def _moved(self, index: int) -> None:
        below = index > self.window.cursor
        self.window.go(index)
        self._settle()
        self._tell_end(below)  # also without rows: a search of the window may find some further on

    def _settle(self) -> None:
        self._resize_content()
        self._keep_cursor_in_view()
        self.redraw()
        self.post_message(self.Moved(self))

    def _tell_end(self, below: bool) -> None:
        cursor = self.window.cursor
        if below and cursor >= len(self.window) - EDGE:
            self.post_message(self.NearEnd(self, below=True))
        elif not below and cursor < EDGE:
            self.post_message(self.NearEnd(self, below=False))

    # Drawing

    def on_resize(self, _event: Resize) -> None:
        """Columns follow the width."""
        self._refit()

    def _refit(self) -> None:
        self._fitted = fit_from(self._columns, self._width - MARGIN, self._skipped)
        self._forget_lines()
        self._resize_content()
        self._keep_cursor_in_view()
        self.refresh()
        self.post_message(self.Moved(self))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows are in view: whoever says which ones wants to know."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Moved(self))

    def on_focus(self, _event: Focus) -> None:
        """The cursor's colour shows the focus."""
        self.redraw()

    def on_blur(self, _event: Blur) -> None:
        """The cursor's colour shows the focus."""
        self.redraw()

    def redraw(self) -> None:
        """Draw again what looks different from what was drawn."""
        changed = [region for y in range(self.size.height) for region in self._changed(y)]
        if changed:
            self.refresh(*changed)
        else:
            self._have_drawn()

    def _have_drawn(self) -> None:
        self.window.drawn(self.scroll_offset.y, self._page)

    def _changed(self, y: int) -> list[Region]:
        """The part of a line that looks different; at most one region."""
        span = difference(self._drawn.get(y), self._strip(y))
        return [] if span is None else [Region(span[0], y, span[1] - span[0], 1)]

    def render_line(self, y: int) -> Strip:
        """The finished line at a place of the screen; the column titles are line zero."""
        strip = self._drawn[y] = self._strip(y)
        self._have_drawn()
        return strip

    def _strip(self, y: int) -> Strip:
        painter = Painter(theme.look_of(self.app), self._fitted, self._width)
        index = self.scroll_offset.y + y - 1
        if y == 0:
            return painter.titles()
        if index < len(self.window) and self._scene is not None:
            return self._row(painter, index, self._scene)
        return painter.note(self.empty) if y == 1 and not len(self.window) else painter.note(BLANK)

    def _row(self, painter: Painter, index: int, scene: Scene) -> Strip:
        """A row's line: made once for each look that it has between two answers of the store."""
        sign, pick, here = self._sign(index), self._pick(index), index == self.window.cursor
        look = (
            self.window.id_at(index),
            sign,
            pick,
            here and self.has_focus,
            here,
            self.app.theme,
            times.TOLD.manner,
        )
        strip = self._made.get(look)
        if strip is None:
            ground = painter.ground(here=here, focused=self.has_focus)
            strip = self._made[look] = painter.row(self.window.rows[index], scene, sign, ground, pick)
        return strip

    def _forget_lines(self) -> None:
        """Rows, their time or their columns are others: lines that were made say what was."""
        self._made.clear()

    def _sign(self, index: int) -> Sign:
        if self.window.is_ghost(index):
            return Sign.AWAY if self.window.only_marked else Sign.GHOST
        return Sign.CURSOR if index == self.window.cursor else Sign.NONE

    def _pick(self, index: int) -> Pick:
        if self.window.is_marked(index):
            return Pick.MARKED
        return Pick.RANGED if index in self.window.ranged else Pick.NONE

    # Scrolling

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    @property
    def _page(self) -> int:
        return max(self.size.height - 1, 1)

    def _resize_content(self) -> None:
        self.virtual_size = Size(self._width, len(self.window) + 1)

    def _keep_cursor_in_view(self) -> None:
        cursor, top = self.window.cursor, self.scroll_offset.y
        if cursor < 0:
            return
        if cursor < top:
            self._scroll_to_line(cursor)
        elif cursor >= top + self._page:
            self._scroll_to_line(cursor - self._page + 1)

    def _scroll_to_line(self, line: int) -> None:
        self.scroll_to(y=max(line, 0), animate=False, immediate=True, force=True)
