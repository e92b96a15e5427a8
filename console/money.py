"""Amounts as they are typed and shown: dollars to the micro-dollar, units, and bars against a limit. Integers only."""

from __future__ import annotations

import re
from typing import Final

from console import present
from console.present import Cell, Safe, Tone, own

MICRO: Final = 1_000_000
NEARLY: Final = 80
"""Per cent of a limit from which it is worth a colour."""
_USD: Final = re.compile(r"([0-9]{1,13})(?:\.([0-9]{1,6}))?")
_FORMS: Final = "write dollars as 60 or 0.250000: digits, and at most six decimals"


def micro_of(text: str) -> int:
    """Dollars as micro-dollars, exactly; ValueError unless they are plain digits, above zero and below 2^63."""
    parts = _USD.fullmatch(text)
    micro = 0 if parts is None else int(parts[1]) * MICRO + int((parts[2] or "").ljust(6, "0"))
    if not 0 < micro < 2**63:
        raise ValueError(f"{text!r} is no cap; {_FORMS}")
    return micro


def percent(part: int, whole: int) -> int:
    """How much of a limit is taken, in whole per cent, rounded down; the limit is above zero."""
    return part * 100 // whole


def tone(part: int, whole: int) -> Tone:
    """How near a limit is."""
    if part >= whole:
        return Tone.BAD
    return Tone.WARN if part * 100 >= whole * NEARLY else Tone.GOOD


def bar(settled: int, held: int, whole: int, cells: int) -> Safe:
    """A bar of so many cells: `#` what is settled or used, `=` what is held, `.` what is left.

    Any part above zero takes a cell at least, and a limit that is not reached leaves one; `!` ends one that is
    passed.
    """
    room = max(cells - 2, 4)
    taken = settled + held
    over = taken > whole
    full = room if taken >= whole else min(max(taken * room // whole, int(taken > 0)), room - 1)
    solid = min(settled * room // max(whole, taken), full)
    if held and solid == full:
        solid = max(full - 1, 0)
    if settled and not solid:
        solid = 1
    drawn = "#" * solid + "=" * max(full - solid, 0) + "." * (room - full)
    return own(f"[{drawn[:-1]}!]" if over else f"[{drawn}]")


def gauge(settled: int, held: int, whole: int, cells: int) -> Cell:
    """A bar and the per cent beside it, in `cells` cells."""
    taken = settled + held
    if whole <= 0:
        return Cell(own("none allowed"), Tone.BAD if taken else Tone.MUTED)
    share = f"{percent(taken, whole):,}%"
    return Cell(own(f"{bar(settled, held, whole, cells - 6)} {share:>5}"), tone(taken, whole))


def amount(micro: int | None, units: int | None) -> Safe:
    """What a reservation holds: dollars, units, or nothing that is counted."""
    if micro is not None:
        return present.usd(micro)
    return present.number(units)


def words(micro: int | None, units: int | None) -> Safe:
    """The same with its unit."""
    if micro is not None:
        return usd(micro)
    return present.NOTHING if units is None else counted(units)


def usd(micro: int) -> Safe:
    """Micro-dollars with their currency."""
    return own(f"{present.usd(micro)} USD")


def counted(units: int) -> Safe:
    """Units of a meter, in words."""
    return own(f"{units:,} unit{'' if units == 1 else 's'}")
