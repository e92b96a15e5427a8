"""Whole counts: every amount of money or units is one (spend.md, clock and number rules)."""

from __future__ import annotations

from typing import Final, TypeGuard

from engine.errors import ValidationError

MAX_COUNT: Final = 2**53 - 1
"""What every JSON reader can hold exactly."""


def is_whole_count(value: object) -> TypeGuard[int]:
    """Whether it is an int, no bool, from 0 to MAX_COUNT."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT


def whole_count(field: str, value: object) -> int:
    """The count itself; ValidationError for anything else."""
    if is_whole_count(value):
        return value
    raise ValidationError(field, (f"must be a whole number from 0 to {MAX_COUNT}, not {value!r:.60}",))
