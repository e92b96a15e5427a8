"""How plans, operations and the audit name a reservation, for a console that has not opened the engine yet."""

from __future__ import annotations

from console.money_words import Address, Kind


def name_of(address: Address) -> str | None:
    """`day:ID` or `meter:PREFIX:ID`; None for a tentative row, which none of them hold."""
    if address.kind is Kind.DAY:
        return f"{Kind.DAY}:{address.id}"
    if address.kind is Kind.METER:
        return f"{Kind.METER}:{address.source}:{address.id}"
    return None
