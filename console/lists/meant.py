"""What a change over a filter is about: every id that the filter means in the store, whatever the window shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import filters, money_filters, sieve
from console.claims_model import ClaimQuery
from console.filter_words import FilterError
from console.model import IncompleteQuery, ThreadQuery

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.meaning import Meaning
    from console.money_words import Address

    Ids = tuple[str, ...] | tuple[Address, ...]
    Asked = Callable[["Meaning"], Ids]
    """Asks the store for the ids; raises GatewayError where they are too many."""


def ids_of(screen: str, text: str) -> Asked:
    """How the store is asked for all that a screen's filter means; FilterError for a filter that means nothing there,
    for a list of something else, and for words that are asked of a window only.
    """
    if screen not in _SCREENS:
        raise FilterError(f"nothing is changed by filter on {screen}; there are {', '.join(_SCREENS)}")
    served, asked = _SCREENS[screen]
    stored, window = sieve.parted(text, served)
    if window:
        raise FilterError(
            f"{window[0]} is asked of this window only, and a change over a filter is about the whole store: "
            "mark the rows, or leave it out"
        )
    return asked(stored)


def _threads(text: str) -> Asked:
    match filters.threads(text):
        case ThreadQuery() | IncompleteQuery() as threads:
            return lambda store: store.thread_ids(threads)
        case ClaimQuery() as claims:
            return lambda store: store.claim_ids(claims)
    raise FilterError("tombstones are no threads any more: nothing of them can be changed")


def _claims(text: str) -> Asked:
    query = filters.claims(text)
    if not isinstance(query, ClaimQuery):
        raise FilterError(f"{filters.HOLDERS} lists holders; holder:NAME the claims of one of them")
    return lambda store: store.claim_ids(query)


def _reservations(text: str) -> Asked:
    query = money_filters.reservations(text)
    return lambda store: store.reservation_ids(query)


def _fences(text: str) -> Asked:
    query = money_filters.fences(text)
    return lambda store: store.fence_ids(query)


_SCREENS: Final[dict[str, tuple[tuple[str, ...], Callable[[str], Asked]]]] = {
    "threads": (filters.THREADS_NOT, _threads),
    "claims": (filters.CLAIMS_NOT, _claims),
    "reservations": ((), _reservations),
    "fences": (money_filters.FENCES_NOT, _fences),
}
