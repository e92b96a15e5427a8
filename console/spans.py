"""Spans of time as they are written on a command line: 30s, 10m, 2h, 7d."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

LATELY: Final = "5m"
"""The span of what changed lately, where none is given."""
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SPAN: Final = re.compile(r"(\d{1,6})([smhd])", re.ASCII)


def span_of(text: str) -> timedelta:
    """The span; ValueError for anything that is not one or is empty."""
    parts = _SPAN.fullmatch(text)
    span = timedelta() if parts is None else timedelta(**{_UNITS[parts[2]]: int(parts[1])})
    if not span:
        raise ValueError(f"{text!r} is no span of time; write 30s, 10m, 2h or 7d")
    return span
