"""What the configuration says of changes: above which amounts another person must approve a plan, what the default
of a reconcile pass makes of a meter's expired units, and how many items a second a job does at most.

[approval]
usd = 5.00
units = 100
rows = 1000

[reconcile]
after_lease = "release"

[jobs]
rate = 50
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from console.config.source import Valued

if TYPE_CHECKING:
    from console.config.table import Table

_MICRO: Final = 1_000_000
_MOST: Final = 1e9
MOST_RATE: Final = 100_000
"""Items a second that a job may be limited to."""


class AfterLease(StrEnum):
    """What becomes of a meter's units whose lease is over."""

    RELEASE = "release"
    CONSUME = "consume"


@dataclass(frozen=True, slots=True)
class Approval:
    """Above which dollars, units and rows a plan waits for another person; None never asks."""

    usd: Valued[float] | None = None
    units: Valued[float] | None = None
    rows: Valued[float] | None = None

    @property
    def micro(self) -> int | None:
        """The dollars in micro-dollars."""
        return None if self.usd is None else round(self.usd.value * _MICRO)


def approval_of(table: Table) -> Approval:
    """The bounds of `[approval]`; raises ConfigError."""
    made = Approval(
        table.number("usd", 0, _MOST, "dollars"),
        table.number("units", 0, _MOST, "units"),
        table.number("rows", 0, _MOST, "rows"),
    )
    table.done()
    return made


def after_lease_of(table: Table) -> Valued[AfterLease] | None:
    """What `[reconcile]` says; raises ConfigError."""
    found = table.word("after_lease", AfterLease, "fate of units")
    table.done()
    return found


def rate_of(table: Table) -> Valued[int] | None:
    """Items a second of every job, 0 for no limit, as `[jobs]` says; raises ConfigError."""
    found = table.number("rate", 0, MOST_RATE, "items a second")
    table.done()
    if found is None:
        return None
    if not found.value.is_integer():
        raise table.error("rate", "must be a whole number of items a second")
    return Valued(int(found.value), found.source)
