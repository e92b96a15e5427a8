"""What the operator types or pastes: kept to the letter, and drawn without anything that a terminal could obey.

A paste may hold what an agent wrote, and a filter that was taken from a row does (console.md F11).
"""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from rich.text import Text
from textual.widgets import Input

from console.present import safe

LONGEST: Final = 2_000
"""Characters that a line takes; a paste that would make it longer is refused, with a bell."""
_FOR_ANOTHER: Final = "?"


def drawn(text: str) -> str:
    """The text with a mark for each character that may not be drawn: as many characters as before."""
    return "".join(each if _is_drawn(each) else _FOR_ANOTHER for each in text)


def _is_drawn(character: str) -> bool:
    # A combining mark needs a letter to stand on.
    return character in (safe(character), safe(f"e{character}")[1:])


class Typed(Input):
    """One line of it."""

    def __init__(
        self,
        text: str = "",
        *,
        hint: str = "",
        longest: int = LONGEST,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(text, hint, compact=True, select_on_focus=False, max_length=longest, id=id)
        self.cursor_blink = False

    @property
    def _value(self) -> Text:
        """The line as it is drawn; what stands for another character is turned over."""
        shown = drawn(self.value)
        text = Text(shown, no_wrap=True, overflow="ignore", end="")
        for place, (was, is_now) in enumerate(zip(self.value, shown, strict=True)):
            if was != is_now:
                text.stylize("reverse", place, place + 1)
        return text

    def _position_to_cell(self, position: int) -> int:
        return cell_len(drawn(self.value[:position]))

    def validate__suggestion(self, suggestion: str) -> str:
        """Suggest only what can be drawn as it is."""
        return suggestion if drawn(suggestion) == suggestion else ""
