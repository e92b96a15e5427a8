"""The meter's instants and spans are whole milliseconds in its tables (ruling 35)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from engine.arguments import of_kind
from engine.clock import EPOCH, from_ns, to_ns
from engine.errors import ValidationError

MILLISECOND: Final = timedelta(milliseconds=1)
LONGEST: Final = timedelta(days=36525)
"""The longest lease or window."""
_NS: Final = 1_000_000
_FIRST: Final = -(EPOCH - datetime.min.replace(tzinfo=UTC)) // MILLISECOND + 1
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MILLISECOND


def to_ms(instant: datetime) -> int:
    """Unix milliseconds, truncated; ValidationError for what is no aware instant between 1678 and 2262."""
    return to_ns(instant) // _NS


def from_ms(ms: int) -> datetime:
    """The aware UTC instant of stored milliseconds, held to the years that a datetime has.

    Another implementation may have stored any number: a row that cannot be read would hold up every pass.
    """
    return from_ns(min(max(ms, _FIRST), _LAST) * _NS)


def span_ms(field: str, span: object) -> int:
    """Whole milliseconds of a span; ValidationError below one, above a hundred years, or for no timedelta."""
    given = of_kind(field, span, timedelta)
    if not MILLISECOND <= given <= LONGEST:
        raise ValidationError(
            field, ("must be a positive span: one millisecond or more, and at most a hundred years",)
        )
    return given // MILLISECOND
