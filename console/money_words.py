"""How a reservation is called, and where it stands: all that a console without a list of money knows of one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Where a reservation is kept."""

    DAY = "day"
    METER = "meter"
    TENTATIVE = "tentative"


class HoldState(StrEnum):
    """What stands of a reservation: DUE is fenced, and its next check has come."""

    OPEN = "open"
    EXPIRED = "expired"
    FENCED = "fenced"
    DUE = "due"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Address:
    """Which reservation: `source` is a meter's prefix or a table's name, and empty for the day store."""

    kind: Kind
    source: str
    id: str
