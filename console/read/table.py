"""Aligned text: a heading, a line a row, and a last line that says when it was so and where to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from console import present
from console.present import Safe, own, pad, width
from console.read.documents import instant, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime, timedelta

    from console.read.documents import Document

_GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, what stands below it, and whether that is a number, to stand to the right."""

    title: str
    text: Callable[[Mapping[str, Any]], Safe]
    right: bool = False


def name(key: str, title: str | None = None) -> Column:
    """Stored text or a word, made harmless; a dash for none."""
    return Column(title or key.upper(), lambda row: present.optional(_word(row[key])))


def _word(value: Any) -> str | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else str(value)


def number(key: str, title: str | None = None) -> Column:
    """An integer, exact."""
    return Column(title or key.upper(), lambda row: present.number(row[key]), right=True)


def moment(key: str, title: str | None = None) -> Column:
    """An instant in UTC, to the microsecond."""
    return Column(title or key.upper(), lambda row: at(row[key]))


def span(key: str, title: str) -> Column:
    """A duration in seconds."""
    return Column(title, lambda row: length(row[f"{key}_seconds"]), right=True)


def at(value: datetime | None) -> Safe:
    """An instant, or a dash."""
    return present.NOTHING if value is None else own(instant(value))


def length(value: timedelta | None) -> Safe:
    """A duration to the millisecond, or a dash."""
    return present.NOTHING if value is None else own(f"{seconds(value)[:-3]}s")


def lines(columns: Sequence[Column], rows: Sequence[Document]) -> Iterator[Safe]:
    """The heading and the rows, each column as wide as its widest cell."""
    cells = [[own(column.title) for column in columns]]
    cells += [[column.text(row) for column in columns] for row in rows]
    widths = [max(map(width, cells_below)) for cells_below in zip(*cells, strict=True)]
    for line in cells:
        padded = [
            pad(cell, room, right=column.right)
            for cell, room, column in zip(line, widths, columns, strict=True)
        ]
        yield own(_GAP.join(padded).rstrip())


def page(columns: Sequence[Column], found: Document, nothing: str = "no rows") -> Iterator[Safe]:
    """A page's table and its last line."""
    rows = found["rows"]
    if rows:
        yield from lines(columns, rows)
    else:
        yield own(nothing)
    noun = "row" if len(rows) == 1 else "rows"
    yield own(f"-- {len(rows)} {noun} as of {instant(found['as_of'])}{_rest(found['next'])}")


def _rest(cursor: str | None) -> str:
    return "" if cursor is None else f"; more with --after {cursor}"


def facts(labelled: Sequence[tuple[str, Safe]]) -> Iterator[Safe]:
    """Labels and values under each other."""
    room = max((len(label) for label, _ in labelled), default=0)
    for label, value in labelled:
        yield own(f"{label:{room}}  {value}".rstrip())


def capped(found: Document) -> Safe:
    """A count, with a plus where it stopped at its cap."""
    return own(f"{found['count']:,}{'+' if found['more'] else ''}")
