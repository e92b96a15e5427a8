"""The words of a filter line: how they are told apart, and what is said of one that means nothing."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from enum import StrEnum

    Query = TypeVar("Query")
    Word = TypeVar("Word", bound=StrEnum)

_FIELD: Final = re.compile(r"(!?[A-Za-z]+)[:=](.*)", re.DOTALL)
_WORD: Final = re.compile(r'(?:"[^"]*"|[^\s"])+|"')


class FilterError(ValueError):
    """A filter that means nothing; the message says what would."""


def quoted(value: str) -> str:
    """A value as it must be typed after its field."""
    return f'"{value}"' if re.search(r"\s", value) else value


def retyped(word: str) -> str:
    """A word as it must be typed to be read back: its value in quotation marks, where that has blanks."""
    field, colon, value = word.partition(":")
    return f"{field}:{quoted(value)}" if colon and quoted(field) == field else quoted(word)


def words_of(text: str) -> list[str]:
    """The words, each without its quotation marks; FilterError where one is not closed."""
    words = _WORD.findall(text)
    if '"' in words:
        raise FilterError('a quotation mark is not closed; write field:"value with blanks"')
    return [word.replace('"', "") for word in words]


def field_of(word: str) -> tuple[str, str] | None:
    """The field and the value of a word `field:value` or `field=value`; None for any other word."""
    found = _FIELD.fullmatch(word)
    return None if found is None else (found[1], found[2])


def canonical(words: list[str], fields: Iterable[str]) -> list[str]:
    """The words with `field=value` of a known field as `field:value`; any other word is a value and stays."""
    known, told = frozenset(fields), [(word, field_of(word)) for word in words]
    return [word if parts is None or parts[0] not in known else ":".join(parts) for word, parts in told]


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that is most like this one; empty where none is."""
    near = get_close_matches(word, [each for each in known if each], n=1)
    return f"did you mean {near[0]}? " if near else ""


def applied(query: Query, words: list[str], take: Callable[[Query, str], Query]) -> Query:
    """The query with each word taken in."""
    for word in words:
        query = take(query, word)
    return query


def verb(
    verbs: Mapping[str, Callable[[Query, str], Query]], what: str, fields: tuple[str, ...], word: str
) -> Callable[[Query], Query]:
    """What a word `field:value` does to a query; FilterError naming the fields there are."""
    field, value = field_of(word) or (word, "")
    if field not in verbs:
        known = "  ".join(f"{each}VALUE" if each.endswith(":") else each for each in fields)
        hint = nearest(field, [*(f"{each}:" for each in verbs), *fields])
        raise FilterError(f"{word!r} is no {what} filter; {hint}use {known}")
    value = given(field, value)
    return lambda query: verbs[field](query, value)


def given(field: str, value: str) -> str:
    """The value; FilterError where there is none."""
    if not value:
        raise FilterError(f"{field}: needs a value")
    return value


def word_of(field: str, value: str, words: type[Word]) -> Word:
    """One of a closed set's words; FilterError naming them."""
    if value not in list(words):
        raise FilterError(f"no {field} {value!r}; {nearest(value, words)}there are {', '.join(words)}")
    return words(value)
