"""JSON for reading: indented lines, numbers exactly as stored, keys as they were written or sorted.

Numbers never pass through a float, repeated keys are all shown, and what is no JSON is shown as it is.
Everything is bounded: characters looked at, lines made, depth followed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from console.present import Cell, Tone, own, safe, size

if TYPE_CHECKING:
    from collections.abc import Iterator

Line = tuple[Cell, ...]
"""One line: pieces of text with their tones."""

SOURCE_LIMIT: Final = 1_000_000
"""Characters of a body that are parsed; longer ones are shown from their start, as they are."""
AS_IS_LIMIT: Final = 200_000
"""Characters of a text that is shown as it is."""
LINE_LIMIT: Final = 5_000
DEPTH_LIMIT: Final = 64
STRING_LIMIT: Final = 2_000
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class _Number:
    """A number's own digits."""

    digits: str


@dataclass(frozen=True, slots=True)
class _Object:
    """An object's pairs in order, repeated keys included."""

    pairs: list[tuple[str, Any]]


class Keys(StrEnum):
    """The order of an object's keys."""

    STORED = "as they were written"
    SORTED = "sorted"


def _sorted(pairs: list[tuple[str, Any]]) -> _Object:
    """Keys in order, so that two payloads can be compared by eye; a repeated one keeps its place among its like."""
    return _Object(sorted(pairs, key=lambda pair: pair[0]))


def is_cut(text: str, whole: int) -> bool:
    """Whether a text is only the beginning of one of `whole` bytes."""
    return whole > len(text) and whole > len(text.encode("utf-8", "surrogatepass"))


def lines(text: str, whole: int, reads_on: str = "", keys: Keys = Keys.STORED) -> tuple[Line, ...]:
    """The lines of a JSON text, at most `LINE_LIMIT`; what was left out is said first or last.

    `whole` is the size in bytes of the stored text, which this may only be the beginning of; `reads_on` tells
    how to have the rest of it.
    """
    if is_cut(text, whole):
        return _as_is(text, f"shows the first {_size(text)} of {size(whole)}{reads_on}")
    if len(text) > SOURCE_LIMIT:
        return _as_is(text, f"{size(whole)} are too much to lay out; shows the first {_size(text)}")
    try:
        value = json.loads(
            text,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_Number,
            object_pairs_hook=_sorted if keys is Keys.SORTED else _Object,
        )
    except (ValueError, RecursionError):
        return _as_is(text, "not JSON; as stored")
    return _bounded(_value(value, 0, (), ""))


def _size(text: str) -> str:
    return size(len(text[:AS_IS_LIMIT].encode("utf-8", "surrogatepass")))


def _as_is(text: str, note: str) -> tuple[Line, ...]:
    """The beginning of a text in pieces that a line can hold, after a note."""
    pieces = (
        line[start : start + STRING_LIMIT]
        for line in text[:AS_IS_LIMIT].split("\n")
        for start in range(0, max(len(line), 1), STRING_LIMIT)
    )
    return _bounded(
        iter([(Cell(own(note), Tone.MUTED),), *((Cell(safe(piece, STRING_LIMIT)),) for piece in pieces)])
    )


def _bounded(source: Iterator[Line]) -> tuple[Line, ...]:
    taken: list[Line] = []
    for line in source:
        if len(taken) == LINE_LIMIT:
            taken.append((Cell(own(f"only the first {LINE_LIMIT:,} lines are shown"), Tone.MUTED),))
            break
        taken.append(line)
    return tuple(taken)


def _value(value: Any, depth: int, lead: Line, tail: str) -> Iterator[Line]:
    """The lines of a value; `lead` stands before the first, `tail` (a comma) after the last."""
    children = _children(value)
    if children is None:
        yield (*lead, _scalar(value), *_punctuation(tail))
        return
    opening, closing, items = children
    if not items or depth >= DEPTH_LIMIT:
        inside = "" if not items else f" {len(items):,} deeper "
        yield (*lead, *_punctuation(f"{opening}{inside}{closing}{tail}"))
        return
    yield (*lead, *_punctuation(opening))
    indent = Cell(own(_INDENT * (depth + 1)))
    for index, (label, item) in enumerate(items):
        comma = "," if index + 1 < len(items) else ""
        yield from _value(item, depth + 1, (indent, *label), comma)
    yield (Cell(own(_INDENT * depth)), *_punctuation(closing + tail))


def _children(value: Any) -> tuple[str, str, list[tuple[Line, Any]]] | None:
    if isinstance(value, _Object):
        return "{", "}", [((_key(key), *_punctuation(": ")), item) for key, item in value.pairs]
    if isinstance(value, list):
        return "[", "]", [((), item) for item in value]
    return None


def _key(key: str) -> Cell:
    return Cell(safe(json.dumps(key, ensure_ascii=False), STRING_LIMIT), Tone.ACCENT)


def _punctuation(text: str) -> Line:
    return (Cell(own(text), Tone.MUTED),) if text else ()


def _scalar(value: Any) -> Cell:
    if isinstance(value, _Number):
        return Cell(safe(value.digits, STRING_LIMIT))
    if isinstance(value, str):
        return Cell(safe(json.dumps(value, ensure_ascii=False), STRING_LIMIT))
    return Cell(own(json.dumps(value)), Tone.INFO)
