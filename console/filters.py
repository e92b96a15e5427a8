"""The filter line of the lists: `field:value` words, answered by the store.

    status:running,failed  !status:completed  tenant:acme  tenant:-  holder:worker-3  since:10m  thr_01J8
    kind:claimed,tool.result   thread:thr_01J8   tenant:acme

A word without a field is the beginning of a thread id. `tenant:-` means rows without a tenant; `stuck` stands
for `status:idle` (ruling 51).
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console.model import EventQuery, ThreadQuery, ThreadState

if TYPE_CHECKING:
    from collections.abc import Callable

THREAD_FIELDS: Final = ("status:", "!status:", "tenant:", "holder:", "since:", "stuck")
EVENT_FIELDS: Final = ("kind:", "thread:", "tenant:")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class FilterError(ValueError):
    """A filter that means nothing; the message says what would."""


def threads(text: str) -> ThreadQuery:
    """The thread filter that a line of text stands for."""
    query = ThreadQuery()
    for word in text.split():
        query = _thread_word(query, word)
    return query


def events(text: str) -> EventQuery:
    """The event filter that a line of text stands for."""
    query = EventQuery()
    for word in text.split():
        query = _event_word(query, word)
    return query


def _thread_word(query: ThreadQuery, word: str) -> ThreadQuery:
    field, colon, value = word.partition(":")
    if word == "stuck":
        return replace(query, states=frozenset({ThreadState.IDLE}))
    if not colon or field not in _THREAD_VERBS:
        return replace(query, prefix=_prefix(word, field if colon else "", THREAD_FIELDS))
    return _THREAD_VERBS[field](query, _given(field, value))


def _event_word(query: EventQuery, word: str) -> EventQuery:
    field, _, value = word.partition(":")
    if field not in _EVENT_VERBS:
        raise FilterError(f"{word!r} is no event filter; use {'VALUE '.join(EVENT_FIELDS)}VALUE")
    return _EVENT_VERBS[field](query, _given(field, value))


def _prefix(word: str, field: str, fields: tuple[str, ...]) -> str:
    """A bare word is the beginning of an id - but a word that looks like a mistyped field is refused."""
    if field and field.removeprefix("!").isalpha():
        raise FilterError(f"no field {field!r}; there are {' '.join(fields)} and the beginning of an id")
    return word


def _given(field: str, value: str) -> str:
    if not value:
        raise FilterError(f"{field}: needs a value")
    return value


def _states(value: str) -> frozenset[ThreadState]:
    names = value.upper().split(",")
    unknown = [name for name in names if name not in ThreadState.__members__]
    if unknown:
        known = ", ".join(state.value.lower() for state in ThreadState)
        raise FilterError(f"no status {unknown[0].lower()!r}; there are {known}")
    return frozenset(ThreadState[name] for name in names)


def _span(value: str) -> timedelta:
    parts = re.fullmatch(r"(\d{1,6})([smhd])", value)
    if parts is None:
        raise FilterError(f"since:{value} is no span; write 30s, 10m, 2h or 1d")
    return timedelta(**{_UNITS[parts[2]]: int(parts[1])})


def _tenant(value: str) -> str | None:
    return None if value == "-" else value


_THREAD_VERBS: Final[dict[str, Callable[[ThreadQuery, str], ThreadQuery]]] = {
    "status": lambda query, value: replace(query, states=_states(value)),
    "!status": lambda query, value: replace(query, states=frozenset(ThreadState) - _states(value)),
    "tenant": lambda query, value: replace(query, tenant=_tenant(value)),
    "holder": lambda query, value: replace(query, holder=value),
    "since": lambda query, value: replace(query, since=_span(value)),
}
_EVENT_VERBS: Final[dict[str, Callable[[EventQuery, str], EventQuery]]] = {
    "kind": lambda query, value: replace(query, kinds=frozenset(value.split(","))),
    "thread": lambda query, value: replace(query, thread=value),
    "tenant": lambda query, value: replace(query, tenant=_tenant(value)),
}
