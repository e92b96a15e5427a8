"""Addresses as they are typed: of a reservation its kind, the source that it is kept in and its id; of a thread its
id and a tab.
"""

from __future__ import annotations

from typing import Final

from console.filter_words import quoted
from console.money_words import Address, Kind

RESERVATION: Final = "reservation"
"""The word that an address begins with."""
NO_SOURCE: Final = "-"
"""Stands for the source of a day reservation, which has none."""


class AddressError(ValueError):
    """Words that are no address; the message says what would be."""


def address_of(address: Address) -> str:
    """An address as it is typed."""
    source = quoted(address.source) if address.source else NO_SOURCE
    return f"{RESERVATION} {address.kind} {source} {address.id}"


def thread_address(thread: str, tab: str) -> str:
    """A thread as it is typed, and its tab; an id with a quotation mark stands alone, as it is."""
    return f"thread {thread}" if '"' in thread else f"thr:{quoted(thread)} {tab}"


def read(words: str) -> Address:
    """The address that KIND SOURCE ID stand for; AddressError if none."""
    kind, _, behind = words.partition(" ")
    if kind not in list(Kind) or not behind:
        known = ", ".join(Kind)
        raise AddressError(f"reservation needs KIND SOURCE ID; kinds are {known}, and - is a day's SOURCE")
    quote = '"' if behind.startswith('"') else " "
    source, _, reservation = behind.removeprefix('"').partition(quote)
    return made(Kind(kind), source, reservation.strip())


def made(kind: Kind, source: str, reservation: str) -> Address:
    """The address of these parts; AddressError where the kind and the source do not go together."""
    named = source not in {"", NO_SOURCE}
    if not reservation or (kind is not Kind.DAY) is not named:
        raise AddressError(
            "reservation day - ID, reservation meter PREFIX ID, reservation tentative TABLE ID"
        )
    return Address(kind, source if named else "", reservation)
