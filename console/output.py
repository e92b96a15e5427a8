"""What a program has written, made harmless: lines of cells, newest last, within a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console.present import Cell, Tone, own, safe

if TYPE_CHECKING:
    from console.jsontext import Line

SHOWN_BYTES: Final = 65_536
"""Output that is kept to be looked at."""
SHOWN_LINES: Final = 2_000
LINE_LIMIT: Final = 2_000
"""Characters of one line."""


def lines_of(output: bytes) -> tuple[Line, ...]:
    """The output as lines; no control character of it is left. Takes a while: not for the event loop."""
    found = output.decode("utf-8", errors="backslashreplace").split("\n")
    if found[-1] == "":
        found.pop()
    kept = found[-SHOWN_LINES:]
    shown: tuple[Line, ...] = tuple((Cell(safe(_whole(line), LINE_LIMIT)),) for line in kept)
    if len(kept) == len(found):
        return shown
    return ((Cell(own(f"... {len(found) - len(kept):,} earlier lines are not shown"), Tone.WARN),), *shown)


def _whole(line: str) -> str:
    """A line without the other half of a line end, and with blanks for tabs."""
    return line.removesuffix("\r").expandtabs()
