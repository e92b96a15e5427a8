"""The line on which each key of a TOML text stands: `tomllib` does not tell, and errors should."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str, ...]
"""A key with the tables around it, outermost first."""

LONGEST: Final = 200
"""Lines that one value may take: each further line is one more attempt to read it."""


class TooLongError(ValueError):
    """A value goes on for more than `LONGEST` lines, from the line in `args`."""


def lines_of(text: str) -> dict[Path, int]:
    """The first line of each table and key, counted from one; the text must be valid TOML. Raises TooLongError."""
    found: dict[Path, int] = {}
    table: Path = ()
    for line, head, statement in _statements(text):
        paths = list(_paths(statement))
        if head and paths:
            table = paths[-1]
            paths = [table]
        else:
            paths = [(*table, *path) for path in paths]
        for path in paths:
            found.setdefault(path, line)
    return found


def _statements(text: str) -> Iterator[tuple[int, bool, dict[str, Any]]]:
    """Each statement alone: its first line, whether it opens a table, and what it says.

    A statement is as many lines as it takes to be valid by itself.
    """
    begun, held = 1, ""
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if number - begun >= LONGEST:
            raise TooLongError(begun)
        held += line
        try:
            statement = tomllib.loads(held)
        except tomllib.TOMLDecodeError:
            continue  # it goes on: a string or an array of several lines
        yield begun, held.lstrip().startswith("["), statement
        begun, held = number + 1, ""


def _paths(table: dict[str, Any]) -> Iterator[Path]:
    for key, value in table.items():
        yield (key,)
        if isinstance(value, dict):
            yield from ((key, *path) for path in _paths(value))
