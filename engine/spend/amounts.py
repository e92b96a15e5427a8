"""Micro-dollars: whole millionths of a dollar, from dollars, minutes and tokens (spend.md 2A.0).

Figures are taken for the decimals they are written as and then computed exactly: no rounding of a binary fraction
decides over a micro-dollar.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from engine.clock import to_ns
from engine.errors import ValidationError
from engine.spend.counts import MAX_COUNT, is_whole_count, whole_count

if TYPE_CHECKING:
    from datetime import datetime

Figure: TypeAlias = int | float | Decimal

MICRO: Final = 1_000_000
"""Micro-dollars in a dollar, and tokens in the unit that a rate is kept for."""
_LARGEST: Final = 2**63
_FINEST: Final = 400
"""Decimal places of the smallest figure: as many as a float has, and few enough to compute with exactly."""
_DATED: Final = re.compile(r"(.+)-[0-9]{4}-[0-9]{2}-[0-9]{2}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Dollars for 1,000 tokens of a prompt and of an output."""

    input: float
    output: float


Price: TypeAlias = TokenPrice | Mapping[str, float]
"""A TokenPrice, or a mapping with the same two names."""

MINUTE_PRICES: Final[Mapping[str, float]] = MappingProxyType(
    {"gpt-4o-mini-transcribe": 0.003, "gpt-realtime-whisper": 0.017}
)
"""Dollars for a minute, by model."""
TOKEN_PRICES: Final[Mapping[str, TokenPrice]] = MappingProxyType({"gpt-6-luna": TokenPrice(0.0001, 0.0005)})
"""Prices of tokens, by model."""


def minute_price(model: str) -> float | None:
    """Dollars for a minute of the model, or of the one it is a dated snapshot of; None where unknown."""
    return MINUTE_PRICES.get(model, MINUTE_PRICES.get(_base(model)))


def token_price(model: str) -> TokenPrice | None:
    """The model's price of tokens, or of the one it is a dated snapshot of; None where unknown."""
    return TOKEN_PRICES.get(model, TOKEN_PRICES.get(_base(model)))


def _base(model: str) -> str:
    dated = _DATED.fullmatch(model)
    return model if dated is None else dated[1]


def utc_day(at: datetime) -> str:
    """The UTC day of an instant, as `YYYY-MM-DD`; ValidationError for a naive one."""
    to_ns(at)
    return at.astimezone(UTC).date().isoformat()


def to_micro(usd: Figure) -> int:
    """Dollars as the nearest whole micro-dollar, halves up; ValidationError unless finite."""
    return _nearest(_exact("usd", usd) * MICRO)


def minutes_micro(seconds: Figure, micro_per_minute: int) -> int:
    """What so many seconds cost, rounded up; ValidationError for a rate in dollars, which is no whole count."""
    rate = whole_count("micro_per_minute", micro_per_minute)
    return math.ceil(_no_less_than_nothing("seconds", seconds) * rate / 60)


def tokens_micro(prompt: int, output: int, price: Price) -> int:
    """What a call costs, each part rounded up; ValidationError for a count that is not whole."""
    rates = price if isinstance(price, Mapping) else {"input": price.input, "output": price.output}
    parts = (("prompt", prompt, rates["input"]), ("output", output, rates["output"]))
    return sum(-(-whole_count(name, count) * _rate(name, usd) // MICRO) for name, count, usd in parts)


def settled_tokens_micro(prompt: object, output: object, reserved: int, price: Price) -> int:
    """What to settle a call at that was reserved for: all of it unless both counts are known, and never more."""
    if is_whole_count(prompt) and is_whole_count(output):
        return min(reserved, tokens_micro(prompt, output, price))
    return reserved


def settling_figure(figure: Figure) -> int | None:
    """A cost as whole micro-dollars, rounded down; None, meaning the whole amount, unless finite and not negative.

    A negative cost is a fault somewhere, so it frees nothing (spend.md 2A.5, section 6).
    """
    if not _is_figure(figure):
        raise ValidationError("settled_micro", (f"must be a number, not {type(figure).__name__}",))
    if not _is_finite(figure) or figure < 0:
        return None
    # More is never settled; and a Decimal's exponent can stand for more digits than can be written out.
    return MAX_COUNT if figure > MAX_COUNT else math.floor(figure)


def _rate(name: str, usd: Figure) -> int:
    """Micro-dollars for a million tokens."""
    return _nearest(_no_less_than_nothing(f"price of {name}", usd) * 1000 * MICRO)


def _nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def _no_less_than_nothing(field: str, value: Figure) -> Fraction:
    exact = _exact(field, value)
    if exact < 0:
        raise ValidationError(field, ("must not be negative",))
    return exact


def _exact(field: str, value: Figure) -> Fraction:
    if not _is_figure(value):
        raise ValidationError(field, (f"must be a number, not {type(value).__name__}",))
    if not _is_finite(value) or not -_LARGEST <= value <= _LARGEST:
        raise ValidationError(field, (f"must be finite and within 2^63, not {value!r:.60}",))
    if isinstance(value, Decimal) and value.adjusted() < -_FINEST and value:
        raise ValidationError(field, (f"must not be finer than 1e-{_FINEST}, not {value!r:.60}",))
    return Fraction(float.__repr__(value)) if isinstance(value, float) else Fraction(value)


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_finite(value: Figure) -> bool:
    return isinstance(value, int) or (
        value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
    )
