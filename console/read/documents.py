"""Records as documents, and documents as exact ASCII JSON.

A document has a record's field names. Durations are exact seconds and say so in their names. A field that holds
stored JSON text is put in as the JSON that it is, digit for digit; where only its beginning was read, or it does
not parse, it stands as a string under the name with `_text` behind it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Document = dict[str, Any]

JSON_TEXTS: Final = frozenset({"body", "evidence", "input", "payload", "value"})
"""Fields that hold stored JSON text, in records that tell its whole `size`."""
WHOLE_TEXTS: Final = frozenset({"evidence", "usage"})
"""Fields that hold stored JSON text, never cut, in records that tell no size."""
SECONDS: Final = "_seconds"
_MICROSECOND: Final = timedelta(microseconds=1)
_SPACES: Final = str.maketrans("\n\r\t", "   ")


@dataclass(frozen=True, slots=True)
class Raw:
    """JSON text that is put into a document as it is."""

    text: str


def document(record: Any) -> Document:
    """A record of the engine's - a dataclass - with everything in it as plain values."""
    made: Document = {}
    sized = any(field.name == "size" for field in fields(record))
    for field in fields(record):
        value = getattr(record, field.name)
        if value is not None and sized and field.name in JSON_TEXTS:
            made |= stored_text(field.name, value, record.size)
        elif value is not None and not sized and field.name in WHOLE_TEXTS:
            made |= stored_text(field.name, value, size_of(value))
        elif "timedelta" in str(field.type):
            made[f"{field.name}{SECONDS}"] = value
        else:
            made[field.name] = _plain(value)
    return made


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return document(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return {key: _plain(each) for key, each in value.items()} if hasattr(value, "keys") else value


def page_of(found: Any) -> Document:
    """A page of the engine's."""
    return {"as_of": found.as_of, "next": found.next, "rows": [document(row) for row in found.rows]}


def size_of(text: str) -> int:
    """How many bytes a stored text takes."""
    return len(text.encode("utf-8", "surrogatepass"))


def stored_text(name: str, text: str, size: int) -> Document:
    """Stored JSON text as a part of a document; `size` is how many bytes the whole text has."""
    if size_of(text) == size and _parses(text):
        return {name: Raw(text)}
    return {f"{name}_text": text}


def _parses(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def as_json(value: Any) -> str:
    """The value as one line of ASCII JSON."""
    return "".join(_pieces(value))


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _object(value)
    elif isinstance(value, list):
        yield "["
        for place, each in enumerate(value):
            yield from ("," * (place > 0), *_pieces(each))
        yield "]"
    else:
        yield _scalar(value)


def _object(value: Mapping[str, Any]) -> Iterator[str]:
    yield "{"
    for place, (key, each) in enumerate(value.items()):
        yield f"{',' if place else ''}{json.dumps(key)}:"
        yield from _pieces(each)
    yield "}"


def _scalar(value: Any) -> str:
    if isinstance(value, Raw):
        return _ascii(value.text)
    if isinstance(value, datetime):
        return json.dumps(instant(value))
    if isinstance(value, timedelta):
        return seconds(value)
    if isinstance(value, StrEnum):
        return json.dumps(value.value)
    if isinstance(value, float):
        raise TypeError("a float has no exact form; give an integer, a duration or text")
    return json.dumps(value)


def _ascii(text: str) -> str:
    """The same JSON without line ends, which stand between its tokens only, and with all letters escaped."""
    line = text.translate(_SPACES)
    if line.isascii() and "\x7f" not in line:
        return line
    return "".join(letter if " " <= letter <= "~" else _escaped(letter) for letter in line)


def _escaped(letter: str) -> str:
    return "\\u007f" if letter == "\x7f" else json.dumps(letter)[1:-1]


def instant(at: datetime) -> str:
    """An instant as ISO-8601 in UTC, to the microsecond."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def seconds(span: timedelta) -> str:
    """A duration in seconds with six decimals, exactly."""
    count = span // _MICROSECOND
    sign, count = ("-", -count) if count < 0 else ("", count)
    return f"{sign}{count // 1_000_000}.{count % 1_000_000:06d}"
