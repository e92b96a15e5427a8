"""What the product says of an account, asked before any transaction and outside every retry (spend.md 2B.3)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from engine.database.columns import check_id
from engine.errors import SpendMeterUnavailable, ValidationError
from engine.spend.answers import error_text
from engine.spend.counts import MAX_COUNT
from engine.spend.meter.instants import from_ms
from engine.spend.meter.tables import WINDOW

if TYPE_CHECKING:
    from engine.spend.meter.options import MeterOptions

_INFINITE: Final = (math.inf, -math.inf)


def period_of(options: MeterOptions, operation: str, account_id: str, at: int) -> str:
    """The period's label at these milliseconds; SpendMeterUnavailable when the product cannot say."""
    if options.window is not None or options.period_of is None:
        return WINDOW
    try:
        label = check_id("period", options.period_of(from_ms(at), account_id))
    except Exception as error:
        raise SpendMeterUnavailable(operation, f"the period was unreadable: {error_text(error)}") from error
    if label == WINDOW:
        raise SpendMeterUnavailable(
            operation, f"the period {WINDOW!r} is that of window meters; name it otherwise"
        )
    return label


def allowance_of(options: MeterOptions, operation: str, account_id: str, period: str) -> int:
    """The allowance in whole units; SpendMeterUnavailable when the product cannot say, or not in a finite number."""
    try:
        return whole_units("allowance", options.allowance_for(account_id, period), least=0)
    except Exception as error:
        raise SpendMeterUnavailable(
            operation, f"the allowance was unreadable: {error_text(error)}"
        ) from error


def whole_units(field: str, given: Any, *, least: int) -> int:
    """A number cut to whole units, no fewer than `least`; more than a count can say is held to the largest."""
    try:
        return max(least, _cut(given))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ValidationError(field, (f"must be a finite number, not {given!r:.60}",)) from error


def _cut(given: Any) -> int:
    """Between 0 and the largest count; only then cut, for a Decimal's exponent can stand for any number of digits."""
    if given in _INFINITE:
        raise ValueError("is not finite")
    return MAX_COUNT if given > MAX_COUNT else 0 if given < 0 else math.trunc(given)
