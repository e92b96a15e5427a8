"""Column types and the JSON text of bodies (rulings 11 and 12, schema.md)."""

from __future__ import annotations

import json
import json.encoder
import re
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, Column, MetaData, Text

from engine.arguments import whole
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.types import TypeEngine

METADATA: Final = MetaData()
MAX_ID_BYTES: Final = 512
MAX_NUMBER: Final = 2**63 - 1  # of a counter's column
MAX_NESTING: Final = (
    500  # lists and mappings in each other: a reader deep in its own stack must still decode it
)

# Code-point order on both back ends, so that keyset pages agree with Python's own comparison of strings.
Identifier: Final[TypeEngine[str]] = Text().with_variant(Text(collation="C"), "postgresql")
# Instants are nanoseconds since 1970, by the store's clock unless the column's name says otherwise.
Instant: Final[TypeEngine[int]] = BigInteger()
Counter: Final[TypeEngine[int]] = BigInteger()
# Text, not jsonb: what was written is what is read, number for number.
Json: Final[TypeEngine[str]] = Text()


def identifier(name: str, **options: Any) -> Column[str]:
    """An opaque id, a state word or a name."""
    return Column(name, Identifier, **options)


def instant(name: str, **options: Any) -> Column[int]:
    """Nanoseconds since 1970."""
    return Column(name, Instant, **options)


def counter(name: str, **options: Any) -> Column[int]:
    """A whole number of 64 bits."""
    return Column(name, Counter, **options)


def body(name: str, **options: Any) -> Column[str]:
    """ASCII JSON text."""
    return Column(name, Json, **options)


def _mapping(value: object) -> object:
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {key: value[key] for key in value.keys()}  # noqa: SIM118
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _encoder() -> Callable[[object], str]:
    """`JSONEncoder.encode` with its inner encoder made once, not with each call: half the time for a small body.

    A cycle ends at the recursion limit, because a set of visited objects would be shared between threads.
    """
    plain = json.JSONEncoder(
        ensure_ascii=True, allow_nan=False, separators=(",", ":"), check_circular=False, default=_mapping
    )
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    write = make(None, _mapping, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, False)
    return lambda value: "".join(write(value, 0))


_encode: Final = _encoder()
_unicode: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, default=_mapping).encode
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_NO_BRACKET: Final = re.compile(r"[^][{}]+")


def dump(field: str, value: object) -> str:
    """The ASCII JSON text of a value; ValidationError for what JSON cannot hold and give back.

    That is: NaN and infinities, bytes, a cycle, more than MAX_NESTING levels, and lone surrogates: two of them
    would come back as one letter.
    """
    try:
        text = _encode(value)
        if "\\ud" in text:
            _unicode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationError(field, (f"is not plain JSON data: {error}",)) from error
    if text.count("[") + text.count("{") > MAX_NESTING and _too_deep(text):
        raise ValidationError(field, (f"is nested more than {MAX_NESTING} levels deep; flatten it",))
    return text


def _too_deep(text: str) -> bool:
    shape = _NO_BRACKET.sub("", _STRING.sub("", text)).replace("{", "[").replace("}", "]")
    for _ in range(MAX_NESTING):  # Each round takes the innermost level away, so most bodies end after a few.
        if not shape:
            return False
        shape = shape.replace("[]", "")
    return bool(shape)


def check_number(field: str, value: int, most: int = MAX_NUMBER) -> int:
    """The whole number itself, or ValidationError when its column cannot hold it."""
    if not -most <= whole(field, value) <= most:
        raise ValidationError(field, (f"must lie between -{most} and {most}",))
    return value


def check_id(field: str, value: str, most: int = MAX_ID_BYTES) -> str:
    """The id itself, or ValidationError: valid Unicode, no U+0000, at most 512 bytes of UTF-8 (ruling 12).

    `most` is another number of bytes, for names that hold an id with something before it.
    """
    if not isinstance(value, str):
        raise ValidationError(field, (f"must be a string, not {type(value).__name__}",))
    if value.isascii():
        size = len(value)
    else:
        try:
            size = len(value.encode())
        except UnicodeEncodeError as error:
            raise ValidationError(field, ("holds a lone surrogate; use valid Unicode",)) from error
    if size > most:
        raise ValidationError(field, (f"is {size} bytes of UTF-8; at most {most} are allowed",))
    if "\0" in value:
        raise ValidationError(field, ("holds U+0000; remove it",))
    return value


def check_optional_id(field: str, value: str | None) -> str | None:
    """`check_id` where None is allowed."""
    return None if value is None else check_id(field, value)
