"""The store's state of health: what its database says, and how far its clock is from this process's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import select

from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.database.constructs import Now
from engine.database.migrations import SCHEMA_VERSION
from engine.database.statement import Statement
from engine.database.vitals import Finding, Level, vitals

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Finding", "Health", "Level", "health"]

SKEW: Final = timedelta(seconds=1)
"""How far two clocks may be apart before it is worth a word."""
_NOW: Final = Statement(select(Now().label("at")))


@dataclass(frozen=True, slots=True)
class Health:
    """All findings. `skew` is how far the store's clock is ahead of this process's, `within` how exact that is."""

    findings: tuple[Finding, ...]
    skew: timedelta
    within: timedelta
    as_of: datetime


def health(connection: Connection) -> Health:
    """What is found over this connection. Wants a READ: on PostgreSQL the clock moves between statements."""
    schema = Finding("schema", Level.OK, f"version {SCHEMA_VERSION}, as this program wants it")
    before = datetime.now(UTC)
    row: Any = _NOW.one(connection)
    within = (datetime.now(UTC) - before) / 2
    at = from_ns(row.at)
    skew = at - (before + within)
    clock = _clock(skew, within, own=not backend_of(connection).capabilities.server_clock)
    return Health((schema, clock, *vitals(connection)), skew, within, at)


def _clock(skew: timedelta, within: timedelta, *, own: bool) -> Finding:
    if own:
        return Finding("clock", Level.OK, "each process judges leases by its own clock")
    said = f"the store's clock is {abs(skew).total_seconds():.3f} s {'behind' if skew < timedelta(0) else 'ahead'}"
    if abs(skew) - within <= SKEW:
        return Finding("clock", Level.OK, said)
    return Finding(
        "clock", Level.WARNING, f"{said}; leases go by the store's clock, set this machine's right"
    )
