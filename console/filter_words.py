"""The words of a filter line: how they are told apart, and what is said of one that means nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import StrEnum

    Query = TypeVar("Query")
    Word = TypeVar("Word", bound=StrEnum)

_WORD: Final = re.compile(r'(?:"[^"]*"|[^\s"])+|"')


class FilterError(ValueError):
    """A filter that means nothing; the message says what would."""


def quoted(value: str) -> str:
    """A value as it must be typed after its field."""
    return f'"{value}"' if re.search(r"\s", value) else value


def words_of(text: str) -> list[str]:
    """The words, each without its quotation marks; FilterError where one is not closed."""
    words = _WORD.findall(text)
    if '"' in words:
        raise FilterError('a quotation mark is not closed; write field:"value with blanks"')
    return [word.replace('"', "") for word in words]


def applied(query: Query, words: list[str], take: Callable[[Query, str], Query]) -> Query:
    """The query with each word taken in."""
    for word in words:
        query = take(query, word)
    return query


def verb(
    verbs: Mapping[str, Callable[[Query, str], Query]], what: str, fields: tuple[str, ...], word: str
) -> Callable[[Query], Query]:
    """What a word `field:value` does to a query; FilterError naming the fields there are."""
    field, _, value = word.partition(":")
    if field not in verbs:
        known = "  ".join(f"{each}VALUE" if each.endswith(":") else each for each in fields)
        raise FilterError(f"{word!r} is no {what} filter; use {known}")
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
        raise FilterError(f"no {field} {value!r}; there are {', '.join(words)}")
    return words(value)
