"""What is open and what was settled today when the demo begins: figures, and minutes before and after that moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CENT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Held:
    """A reservation that is open at the opening: in cents, and minutes before and after it.

    With `check` it was deferred, and is asked about that many minutes after the opening.
    """

    kind: str
    cents: int
    ago: float
    left: float
    check: float | None = None


HELD: Final = (
    Held("batch", 1840, 55, 95),
    Held("batch", 620, 12, 48),
    Held("session", 90, 4, 11),
    Held("call", 4, 0.1, 3),
    Held("call", 7, 0.2, 5),
    Held("session", 135, 190, -115),
    Held("call", 9, 64, -62),
    Held("batch", 2275, 151, -31),
    Held("call", 3, 9, -8.5),
    Held("session", 60, 7, -2),
    Held("call", 5, 2, -0.3),
    Held("charge", 64, 3, -2.6),
    Held("charge", 419, 88, -80, -6),
    Held("charge", 1250, 240, -235, -0.5),
    Held("charge", 86, 31, -29, 14),
    Held("charge", 2999, 300, -290, 172),
    Held("charge", 540, 47, -45, 3),
    Held("charge", 199, 15, 20, 55),
)
SETTLED: Final = (
    ("batch", 3120, 175),
    ("session", 110, 92),
    ("call", 6, 41),
    ("charge", 875, 66),
    ("call", 8, 13),
)
"""Kind, cents and minutes before the opening of what was settled today."""
UNDECIDED: Final = {"acme": (-12.0, 38.0), "globex": (-2.0, None), "initech": (95.0,)}
"""Fenced units by account: minutes until they are asked about again, None for one that nobody asked about yet."""
