"""What a filter asks of the rows already fetched, where the store has no answer to it: `~pattern`, `!field:value`.

The store is never asked to look through rows one by one for them (console.md F6): they leave rows out of the window,
which says so, and nothing else. They run beside the store's calls, off the loop that takes keys, for a bounded time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from console.filter_words import FilterError, field_of, nearest, retyped, words_of
from console.model import GatewayError
from console.widgets.columns import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from console.widgets.columns import Column

    Test = Callable[[Any], bool]
    Values = Mapping[str, Callable[[Any], str | None]]
    """What a list's rows have of a field, as a filter would say it."""

PATTERN: Final = "~"
NOT: Final = "!"
SECONDS: Final = 0.5
"""How long one window may be searched."""
MOST_TESTS: Final = 5
PREFIXES: Final = ("id",)
"""Fields whose value is a beginning, as it is for the store."""
_ANY_TIME: Final = Scene(datetime(1970, 1, 1, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Sieve:
    """`words` as they were typed; a row stays where every test holds."""

    words: tuple[str, ...] = ()
    tests: tuple[Test, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tests)

    def sift(self, rows: Sequence[Any], monotonic: Callable[[], float] = time.monotonic) -> tuple[Any, ...]:
        """The rows that stay; GatewayError when the time is over."""
        if not self.tests:
            return tuple(rows)
        deadline, kept = monotonic() + SECONDS, []
        for row in rows:
            if all(test(row) for test in self.tests):
                kept.append(row)
            if monotonic() > deadline:
                raise GatewayError(
                    f"{' '.join(self.words)} took longer than {SECONDS:g} s over this window; "
                    "write a shorter pattern",
                    code="validation",
                    retryable=False,
                )
        return tuple(kept)


def parted(text: str, served: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """What is left of a filter for the store, and the words for the window; `served` are the `!field`s that the store
    answers. FilterError for too many of them.
    """
    words = words_of(text)
    window = tuple(word for word in words if _is_for_the_window(word, served))
    if len(window) > MOST_TESTS:
        raise FilterError(f"{len(window)} words for the window; {MOST_TESTS} is the most")
    return without(text, window), window


def without(text: str, words: Collection[str]) -> str:
    """A filter less some of its words."""
    return " ".join(retyped(word) for word in words_of(text) if word not in words)


def _is_for_the_window(word: str, served: Collection[str]) -> bool:
    return word.startswith(PATTERN) or (word.startswith(NOT) and (field_of(word) or (word,))[0] not in served)


def sieve_of(words: Sequence[str], columns: Sequence[Column[Any]], values: Values) -> Sieve:
    """The tests that the words stand for, on rows with these columns and fields; FilterError naming what there is."""
    return Sieve(tuple(words), tuple(_test(word, columns, values) for word in words))


def _test(word: str, columns: Sequence[Column[Any]], values: Values) -> Test:
    return _pattern(word, columns) if word.startswith(PATTERN) else _exclusion(word, values)


def _pattern(word: str, columns: Sequence[Column[Any]]) -> Test:
    from console.linear import Pattern, PatternError

    try:
        pattern = Pattern(word.removeprefix(PATTERN))
    except PatternError as error:
        raise FilterError(f"{word[:40]}: {error}") from error
    shown = [column for column in columns if column.by is None]
    return lambda row: any(pattern.found_in(column.cell(row, _ANY_TIME).text) for column in shown)


def _exclusion(word: str, values: Values) -> Test:
    parts = field_of(word)
    name = (parts[0] if parts else word).removeprefix(NOT)
    if name not in values:
        known = " ".join(f"{NOT}{field}:" for field in values) or "none here"
        raise FilterError(f"no field {name!r} to leave rows out by; {nearest(name, values)}there are {known}")
    if parts is None or not parts[1]:
        raise FilterError(f"{NOT}{name}: needs a value")
    value_of, unwanted = values[name], tuple(parts[1].split(","))
    if name in PREFIXES:
        return lambda row: not (value_of(row) or "").startswith(unwanted)
    return lambda row: (value_of(row) or "-") not in unwanted


def held(rows: Iterable[Any], value_of: Callable[[Any], str | None]) -> tuple[str, ...]:
    """The values that rows have, each once."""
    return tuple(dict.fromkeys(value_of(row) or "-" for row in rows))
