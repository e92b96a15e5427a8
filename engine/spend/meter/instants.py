"""The meter's instants and spans are whole milliseconds in its tables (ruling 35)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from engine.arguments import of_kind
from engine.clock import from_ns, to_ns
from engine.errors import ValidationError

MILLISECOND: Final = timedelta(milliseconds=1)
LONGEST: Final = timedelta(days=36525)
"""The longest lease or window."""
_NS: Final = 1_000_000


def to_ms(instant: datetime) -> int:
    """Unix milliseconds, truncated; ValidationError for what is no aware instant between 1678 and 2262."""
    return to_ns(instant) // _NS


def from_ms(ms: int) -> datetime:
    """The aware UTC instant of stored milliseconds."""
    return from_ns(ms * _NS)


def span_ms(field: str, span: object) -> int:
    """Whole milliseconds of a span; ValidationError below one, above a hundred years, or for no timedelta."""
    given = of_kind(field, span, timedelta)
    if not MILLISECOND <= given <= LONGEST:
        raise ValidationError(
            field, ("must be a positive span: one millisecond or more, and at most a hundred years",)
        )
    return given // MILLISECOND
