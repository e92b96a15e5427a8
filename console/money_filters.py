"""The filter lines of the lists of money.

    state:due  kind:meter  owner:acme  meter:agentos_spend  table:outbox  day:2026-05-04  thread:thr_01J8  leased
    state:due  kind:day  owner:llm  thread:thr_01J8  meter:agentos_spend  deferred:yes             (fences)
    meter:agentos_spend                  days                                                      (budgets)

Which words go together is for the store to say: it knows what each kind of reservation has.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Final

from console.filter_words import FilterError, applied, verb, word_of, words_of
from console.money_model import AccountQuery, DayQuery, FenceQuery, ReservationQuery
from console.money_words import HoldState, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

BudgetsQuestion = AccountQuery | DayQuery

LEASED: Final = "leased"
DAYS: Final = "days"
RESERVATION_FIELDS: Final = (
    "state:due",
    "state:expired",
    "kind:",
    "owner:",
    "day:",
    "thread:",
    "meter:",
    "table:",
    LEASED,
    "state:fenced",
    "state:open",
    "state:settled",
)
FENCE_FIELDS: Final = ("state:due", "state:fenced", "kind:", "owner:", "thread:", "meter:", "deferred:yes")
BUDGET_FIELDS: Final = ("meter:", DAYS)
FENCES_NOT: Final = ("!state", "!deferred")
"""Negations that the store answers (`filters.THREADS_NOT`)."""
_FENCE_STATES: Final = (HoldState.FENCED, HoldState.DUE)
_ANSWERS: Final = {"yes": True, "no": False}


def reservations(text: str) -> ReservationQuery:
    """What a line of text asks for on the reservations' screen."""
    return applied(ReservationQuery(), words_of(text), _reservation_word)


def fences(text: str) -> FenceQuery:
    """What a line of text asks for on the fences' screen."""
    return applied(
        FenceQuery(),
        words_of(text),
        lambda query, word: verb(_FENCE_VERBS, "fence", FENCE_FIELDS, word)(query),
    )


def budgets(text: str) -> BudgetsQuestion:
    """What a line of text asks for on the budgets' screen."""
    words = words_of(text)
    if DAYS not in words:
        return applied(
            AccountQuery(),
            words,
            lambda query, word: verb(_ACCOUNT_VERBS, "budget", BUDGET_FIELDS, word)(query),
        )
    if len(words) > 1:
        raise FilterError(f"{DAYS} stands alone: the day store keeps totals of whole days only")
    return DayQuery()


def _reservation_word(query: ReservationQuery, word: str) -> ReservationQuery:
    if word == LEASED:
        return replace(query, leased=True)
    return verb(_RESERVATION_VERBS, "reservation", RESERVATION_FIELDS, word)(query)


def _fence_state(query: FenceQuery, value: str) -> FenceQuery:
    state = word_of("state", value, HoldState)
    if state not in _FENCE_STATES:
        raise FilterError(f"a fence is {' or '.join(_FENCE_STATES)}, never {state}")
    return replace(query, state=state)


def _no_fence_state(query: FenceQuery, value: str) -> FenceQuery:
    asked = _fence_state(FenceQuery(), value).state
    return replace(query, state=HoldState.FENCED if asked is HoldState.DUE else HoldState.DUE)


def _deferred(query: FenceQuery, value: str) -> FenceQuery:
    if value not in _ANSWERS:
        raise FilterError(f"deferred:{value} is neither deferred:yes nor deferred:no")
    return replace(query, deferred=_ANSWERS[value])


def _not_deferred(query: FenceQuery, value: str) -> FenceQuery:
    return replace(query, deferred=not _deferred(FenceQuery(), value).deferred)


def _day(value: str) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise FilterError(f"{value!r} is no day; write day:2026-05-04") from error


_RESERVATION_VERBS: Final[dict[str, Callable[[ReservationQuery, str], ReservationQuery]]] = {
    "kind": lambda query, value: replace(query, kind=word_of("kind", value, Kind)),
    "state": lambda query, value: replace(query, state=word_of("state", value, HoldState)),
    "owner": lambda query, value: replace(query, owner=value),
    "day": lambda query, value: replace(query, day=_day(value)),
    "thread": lambda query, value: replace(query, thread=value),
    "meter": lambda query, value: replace(query, meter=value),
    "table": lambda query, value: replace(query, table=value),
}
_FENCE_VERBS: Final[dict[str, Callable[[FenceQuery, str], FenceQuery]]] = {
    "kind": lambda query, value: replace(query, kind=word_of("kind", value, Kind)),
    "state": _fence_state,
    "!state": _no_fence_state,
    "owner": lambda query, value: replace(query, owner=value),
    "thread": lambda query, value: replace(query, thread=value),
    "meter": lambda query, value: replace(query, meter=value),
    "deferred": _deferred,
    "!deferred": _not_deferred,
}
_ACCOUNT_VERBS: Final[dict[str, Callable[[AccountQuery, str], AccountQuery]]] = {
    "meter": lambda query, value: replace(query, meter=value),
}
