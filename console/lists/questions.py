"""Which list a screen's filter asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console import filters, money_filters
from console.claims_model import ClaimQuery, HolderQuery
from console.lists.budgets import accounts, days
from console.lists.claims import claims
from console.lists.fences import fences
from console.lists.holders import holders
from console.lists.queue import queue
from console.lists.reservations import reservations
from console.lists.threads import incomplete, threads
from console.lists.tombstones import tombstones
from console.model import IncompleteQuery, ThreadQuery, TombstoneQuery
from console.money_model import AccountQuery, DayQuery

if TYPE_CHECKING:
    from console.lists.view import Question


def of_threads(text: str) -> Question[Any]:
    """The list that a filter of the threads' screen asks for; raises FilterError."""
    match filters.threads(text):
        case ThreadQuery() as query:
            return threads(query)
        case IncompleteQuery() as query:
            return incomplete(query)
        case ClaimQuery() as query:
            return claims(query)
        case TombstoneQuery() as query:
            return tombstones(query)


def of_claims(text: str) -> Question[Any]:
    """The list that a filter of the claims' screen asks for; raises FilterError."""
    match filters.claims(text):
        case ClaimQuery() as query:
            return claims(query)
        case HolderQuery():
            return holders()


def of_queue(text: str) -> Question[Any]:
    """The list that a filter of the run queue's screen asks for; raises FilterError."""
    return queue(filters.queue(text))


def of_reservations(text: str) -> Question[Any]:
    """The list that a filter of the reservations' screen asks for; raises FilterError."""
    return reservations(money_filters.reservations(text))


def of_fences(text: str) -> Question[Any]:
    """The list that a filter of the fences' screen asks for; raises FilterError."""
    return fences(money_filters.fences(text))


def of_budgets(text: str, cap: int | None) -> Question[Any]:
    """The list that a filter of the budgets' screen asks for, against the operator's cap; raises FilterError."""
    match money_filters.budgets(text):
        case AccountQuery() as query:
            return accounts(query, cap)
        case DayQuery():
            return days(cap)
