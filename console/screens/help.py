"""The keys of the screen behind, made from the registry."""

from __future__ import annotations

from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from console.present import Cell, Tone, own, pad
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from console.actions import Action, Place
    from console.jsontext import Line
    from console.registry import Registry

_KEYS: Final = 14


class HelpScreen(ModalScreen[None]):
    """A sheet of keys; every key that opened or closes things closes it."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "dismiss", show=False),
        *(
            Binding(key, f"scroll('{verb}')", show=False)
            for key, verb in (("j,down", "down"), ("k,up", "up"))
        ),
        *(
            Binding(key, f"scroll('{verb}')", show=False)
            for key, verb in (("pagedown,space", "page_down"), ("pageup", "page_up"))
        ),
    ]

    def __init__(self, places: tuple[Place, ...], registry: Registry) -> None:
        super().__init__()
        self._places = places
        self._registry = registry

    def compose(self) -> ComposeResult:
        """The sheet."""
        sheet = Pane(id="sheet", classes="-raised")
        sheet.border_title = "keys of this screen"
        sheet.border_subtitle = "esc closes   j k scroll"
        yield sheet

    def on_mount(self) -> None:
        """Fill the sheet."""
        self.query_one(Pane).show(partial(sheet_lines, self._places, self._registry))

    def action_scroll(self, verb: str) -> None:
        """Scroll the sheet."""
        getattr(self.query_one(Pane), f"do_{verb}")()


def sheet_lines(places: tuple[Place, ...], registry: Registry, room: int) -> tuple[Line, ...]:
    """A heading for each place, then its verbs; a key that another place has taken is not shown twice."""
    lines: list[Line] = []
    taken: set[str] = set()
    for place in places:
        shown = [action for action in registry.of((place,)) if not action.keys or action.keys[0] not in taken]
        taken.update(key for action in shown for key in action.keys)
        if shown:
            lines.append((Cell(own(place.value.upper()), Tone.ACCENT),))
            lines += [line for action in shown for line in _lines(action, room)]
            lines.append(())
    return tuple(lines)


def _lines(action: Action, room: int) -> list[Line]:
    keys = action.all_keys if action.keys else own(f":{action.name}")
    first, *rest = wrap(action.help, max(room - _KEYS, 20))
    blank = Cell(own(" " * _KEYS))
    head: Line = (Cell(pad(keys, _KEYS), Tone.STRONG), Cell(own(first)))
    return [head, *((blank, Cell(own(text))) for text in rest)]
