"""The keys of the screen behind, made from the registry; what is typed narrows them (console.md 5.2)."""

from __future__ import annotations

from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from console.present import Cell, Safe, Tone, own, pad, safe, width
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key

    from console.actions import Action, Place
    from console.jsontext import Line
    from console.registry import Registry

_MOST: Final = 24
"""Cells that the keys of a verb may take."""


_LONGEST: Final = 30
"""Characters that are searched for."""
_MEANT: Final = frozenset("jkq? ")
"""What means something else until a search has begun."""
_TITLE: Final = "keys of this screen"


class HelpScreen(ModalScreen[None], Leavable[None]):
    """A sheet of keys; every key that opened or closes things closes it.

    Other letters search it, and `/` begins a search that any letter goes on with.
    """

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
        Binding("q,question_mark,f1,enter", "dismiss", show=False),
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
        self.sought: str | None = None

    def compose(self) -> ComposeResult:
        """The sheet."""
        sheet = Pane(id="sheet", classes="-raised")
        sheet.border_title = _TITLE
        sheet.border_subtitle = "type to narrow   esc closes   j k scroll"
        yield sheet

    def on_mount(self) -> None:
        """Fill the sheet."""
        self._look_for(None)

    def on_key(self, event: Key) -> None:
        """What is typed narrows the sheet, before a key of it would be meant."""
        typed = event.character if event.is_printable else None
        if self.sought is None and typed in _MEANT:
            return
        if event.key == "backspace" and self.sought is not None:
            self._look_for(self.sought[:-1] or None)
        elif typed is not None:
            more = "" if typed == "/" and self.sought is None else typed
            self._look_for(f"{self.sought or ''}{more}"[:_LONGEST])
        else:
            return
        event.stop()
        event.prevent_default()

    def _look_for(self, sought: str | None) -> None:
        self.sought = sought
        sheet = self.query_one(Pane)
        sheet.border_title = Content(_TITLE if sought is None else f"{_TITLE}  /{safe(sought)}")  # no markup
        sheet.show(partial(sheet_lines, self._places, self._registry, sought or ""), from_top=True)

    def action_back(self) -> None:
        """Esc gives the search up, then the sheet."""
        if self.sought is None:
            self.dismiss()
        else:
            self._look_for(None)

    def action_scroll(self, verb: str) -> None:
        """Scroll the sheet."""
        getattr(self.query_one(Pane), f"do_{verb}")()


def sheet_lines(places: tuple[Place, ...], registry: Registry, sought: str, room: int) -> tuple[Line, ...]:
    """A heading for each place, then its verbs that have every word sought; a key that another place has taken is not
    shown twice.
    """
    lines: list[Line] = []
    taken: set[str] = set()
    cells = min(max((width(_keys(each)) for each in registry.of(places)), default=0) + 2, _MOST)
    for place in places:
        shown = [action for action in registry.of((place,)) if not action.keys or action.keys[0] not in taken]
        taken.update(key for action in shown for key in action.keys)
        shown = [action for action in shown if _has(action, place, sought)]
        if shown:
            lines.append((Cell(own(place.value.upper()), Tone.ACCENT),))
            lines += [line for action in shown for line in _lines(action, cells, room)]
            lines.append(())
    return tuple(lines) or ((Cell(own("no verb of this screen has that; esc shows all"), Tone.MUTED),),)


def _has(action: Action, place: Place, sought: str) -> bool:
    """Whether a verb's keys, name, help or place have every word."""
    said = f"{action.all_keys} :{action.name} {action.label} {action.help} {place.value}".casefold()
    return all(word in said for word in sought.casefold().split())


def _keys(action: Action) -> Safe:
    return action.all_keys if action.keys else own(f":{action.name}")


def _lines(action: Action, cells: int, room: int) -> list[Line]:
    first, *rest = wrap(action.help, max(room - cells, 20))
    blank = Cell(own(" " * cells))
    head: Line = (Cell(pad(_keys(action), cells), Tone.STRONG), Cell(own(first)))
    return [head, *((blank, Cell(own(text))) for text in rest)]
