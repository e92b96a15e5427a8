"""What a deed would be about: the rows of a list by their ids, or why none of them can be changed that way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from console.acting.deeds import Deed
from console.money_words import Address, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.acting.plans import Wish

THREADS: Final = frozenset({"threads", "claims"})
"""Lists whose rows are known by the id of a thread."""
MONEY: Final = frozenset({"reservations", "fences"})
_NOT: Final = {
    "tombstones": "a tombstone is what a delete leaves; S sweeps old ones",
    "holders": "a holder is no row that can be changed; enter opens the claims of this one",
}


class NotAboutError(ValueError):
    """A deed that the rows of a list do not take; the message says why and what would do."""


def check(deed: Deed, ids: str) -> None:
    """NotAboutError where no row of a list can be changed that way; `ids` are what its rows are known by."""
    wanted = MONEY if deed is Deed.RECONCILE else THREADS
    if ids in wanted:
        return
    there = "3 lists reservations, 4 fences" if deed is Deed.RECONCILE else "1 lists threads, 2 claims"
    raise NotAboutError(f"{deed.value}: {_NOT.get(ids, there)}")


def threads_wish(deed: Deed, ids: Sequence[str]) -> Wish:
    """A delete of threads, or a release of the claims on them."""
    from console.acting.plans import DeleteWish, ReleaseWish

    return DeleteWish(tuple(ids)) if deed is Deed.DELETE else ReleaseWish(tuple(ids))


def address_of_key(key: str) -> Address:
    """The address that a list of reservations knows its row by."""
    kind, source, name = json.loads(key)
    return Address(Kind(kind), source, name)


def has_meters(addresses: Sequence[Address]) -> bool:
    """Whether units of a meter are among them."""
    return any(each.kind is Kind.METER for each in addresses)
