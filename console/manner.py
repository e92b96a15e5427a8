"""What a terminal cannot show, and how times are told: said once, when the console starts or by a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from textual.filter import LineFilter

from console import alphabet
from console.present import cells_of
from console.times import Telling

if TYPE_CHECKING:
    from textual.app import App
    from textual.color import Color

_LINES: Final = {
    **dict.fromkeys(map(chr, range(0x2500, 0x2580)), "+"),
    **dict.fromkeys(
        "\u2500\u2501\u2504\u2505\u2508\u2509\u254c\u254d\u2550\u2574\u2576\u2578\u257a\u257c\u257e", "-"
    ),
    **dict.fromkeys(
        "\u2502\u2503\u2506\u2507\u250a\u250b\u254e\u254f\u2551\u2575\u2577\u2579\u257b\u257d\u257f", "|"
    ),
    **dict.fromkeys(map(chr, range(0x2580, 0x25A0)), " "),
    "\u2588": "#",
    "\u2026": ".",
    "\u2022": "*",
    "\u25cf": "o",
    "\u25b6": ">",
    "\u25bc": "v",
}
_UNKNOWN: Final = "?"


class AsciiOnly(LineFilter):
    """Draws lines, corners and scroll bars of every widget, the toolkit's own too, in ASCII; widths stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - the toolkit gives it
        """The segments of a line, without any other character."""
        return [each if each.text.isascii() else Segment(_ascii(each.text), each.style) for each in segments]


def _ascii(text: str) -> str:
    return "".join(
        letter if letter.isascii() else _LINES.get(letter, _UNKNOWN * cells_of(letter)) for letter in text
    )


def put_on(app: App[None], *, ascii_only: bool) -> None:
    """Let an application draw ASCII alone, stored text as visible escapes; or whatever it likes."""
    alphabet.DRAWN.ascii_only = ascii_only
    if ascii_only:
        app._filters.append(AsciiOnly())  # noqa: SLF001 - there is no public way to add one


def said(telling: Telling) -> str:
    """What an operator is told who has changed how times are told."""
    return {
        Telling.UTC: "times are UTC",
        Telling.LOCAL: "times are local, by TZ; exports and commands stay with UTC",
        Telling.RELATIVE: "times are ages by the store's clock; exports and commands stay with UTC",
    }[telling]
