"""What plans, jobs and the audit call an object, as what the console opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.commands import OpenJob, OpenPlan, OpenReservation, OpenThread, ShowList
from console.filter_words import quoted
from console.money_words import Address, Kind

if TYPE_CHECKING:
    from console.commands import Command


def address_named(name: str) -> Address | None:
    """The address of `day:ID` or `meter:PREFIX:OPERATION`; None for any other text."""
    kind, _, rest = name.partition(":")
    if kind == Kind.DAY and rest:
        return Address(Kind.DAY, "", rest)
    prefix, _, operation = rest.partition(":")
    return Address(Kind.METER, prefix, operation) if kind == Kind.METER and prefix and operation else None


def asked_about(name: str) -> str:
    """Under which name the configuration has who answers about this row: `day`, or `meter:PREFIX`; empty for others."""
    address = address_named(name)
    if address is None:
        return ""
    return Kind.DAY.value if address.kind is Kind.DAY else f"{Kind.METER.value}:{address.source}"


def object_of(kind: str, name: str) -> Command | None:
    """Where an object of this kind and name is shown; None where nothing shows it."""
    match kind:
        case "thread" | "claim":
            return OpenThread(name)
        case "reservation":
            address = address_named(name)
            return None if address is None else OpenReservation(address)
        case "table":
            return ShowList("reservations", f"table:{quoted(name)}")
        case "meter":
            return ShowList("reservations", f"meter:{quoted(name)}")
        case "plan":
            return OpenPlan(name)
        case "job":
            return OpenJob(name)
        case _:
            return None
