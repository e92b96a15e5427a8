"""Which columns a list shows, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from console.present import Cell, Tone, own
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from console.jsontext import Line
    from console.present import Safe

Places = tuple[int, ...]


class ColumnsScreen(ModalScreen[Places | None], Leavable[Places | None]):
    """Gives the places of the columns to show, among the list's titles; None leaves them as they are."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("j,down", "step(1)", show=False),
        Binding("k,up", "step(-1)", show=False),
        Binding("space", "tick", show=False),
        Binding("less_than_sign,h,left", "shift(-1)", show=False),
        Binding("greater_than_sign,l,right", "shift(1)", show=False),
        Binding("r", "reset", show=False),
        Binding("enter,c", "apply", show=False),
    ]

    def __init__(self, titles: Sequence[Safe], shown: Places, usual: Places) -> None:
        super().__init__()
        self._titles = titles
        self._usual = usual
        self._here = 0
        self._set(shown)

    def _set(self, shown: Places) -> None:
        self._shown = set(shown)
        self._order = [*shown, *(place for place in range(len(self._titles)) if place not in shown)]

    def compose(self) -> ComposeResult:
        """The sheet."""
        sheet = Pane(id="sheet", classes="-raised -fixed")
        sheet.border_title = "columns"
        sheet.border_subtitle = "space on/off  < > move  r usual  enter takes  esc"
        sheet.styles.height = len(self._titles) + 2
        yield sheet

    def on_mount(self) -> None:
        """Fill the sheet."""
        self._draw()

    def _draw(self) -> None:
        lines = [self._line(index, place) for index, place in enumerate(self._order)]
        self.query_one(Pane).show(lambda _room: lines)

    def _line(self, index: int, place: int) -> Line:
        on, here = place in self._shown, index == self._here
        return (
            Cell(own(f"{'>' if here else ' '} "), Tone.ACCENT),
            Cell(own(f"[{'x' if on else ' '}] "), Tone.STRONG if on else Tone.MUTED),
            Cell(self._titles[place], Tone.HEAD if here else Tone.PLAIN if on else Tone.MUTED),
        )

    def action_step(self, count: int) -> None:
        """Another column."""
        self._here = max(0, min(self._here + count, len(self._order) - 1))
        self._draw()

    def action_tick(self) -> None:
        """Show this column, or do not; one always stays."""
        here = {self._order[self._here]}
        self._shown = (self._shown ^ here) or self._shown
        self._draw()

    def action_shift(self, count: int) -> None:
        """This column further to the left, or to the right."""
        goal = max(0, min(self._here + count, len(self._order) - 1))
        self._order.insert(goal, self._order.pop(self._here))
        self._here = goal
        self._draw()

    def action_reset(self) -> None:
        """As the configuration, or the list itself, has them."""
        self._set(self._usual)
        self._draw()

    def action_apply(self) -> None:
        """Take them."""
        self.dismiss(tuple(place for place in self._order if place in self._shown))
