"""Which list a screen's filter asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console import filters
from console.claims_model import ClaimQuery, HolderQuery
from console.lists.claims import claims
from console.lists.holders import holders
from console.lists.queue import queue
from console.lists.threads import incomplete, threads
from console.lists.tombstones import tombstones
from console.model import IncompleteQuery, ThreadQuery, TombstoneQuery

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
        case TombstoneQuery():
            return tombstones()


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
