"""Whether an argument is of the kind that was asked for: whatever is not raises ValidationError (api.md).

Without this each back end would decide for itself: True is 1 to SQLite and no number to PostgreSQL, and a
token of None would pass for "nobody holds it".
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


def whole(field: str, value: object) -> int:
    """The int itself; a bool is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValidationError(field, (f"must be a whole number, not {_named(value)}",))


def of_kind(field: str, value: object, kind: type[T]) -> T:
    """The value itself, an instance of `kind`."""
    if isinstance(value, kind):
        return value
    raise ValidationError(field, (f"must be a {kind.__name__}, not {_named(value)}",))


def each_of_kind(field: str, values: Iterable[Any], kind: type[T]) -> tuple[T, ...]:
    """The values, which may come from an iterator, as a tuple of instances of `kind`."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ValidationError(field, (f"must be a sequence of {kind.__name__}, not {_named(values)}",))
    return tuple(of_kind(field, value, kind) for value in values)


def member(field: str, kind: type[E], word: str) -> E:
    """The member of a closed set that this word names."""
    try:
        return kind(word)
    except ValueError as error:
        allowed = ", ".join(repr(each.value) for each in kind)
        raise ValidationError(field, (f"must be one of {allowed}, not {word!r:.60}",)) from error


def _named(value: object) -> str:
    return type(value).__name__
