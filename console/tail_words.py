"""What the line above a tail says: how it goes on, and the honest counters (ruling 58, console.md 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.model import ANY
from console.present import Cell, Tone, clip, own, safe
from console.tail import RING

if TYPE_CHECKING:
    from console.jsontext import Line
    from console.tail import Tail

WIDE: Final = 110
"""Cells from which on the place of a pause has room."""
FILTER_SHARE: Final = 4
"""The part of the line that a filter takes at most: what it does to the tail matters more than its letters."""


@dataclass(frozen=True, slots=True)
class Going:
    """What keeps a tail from following, if anything."""

    paused: bool = False
    pinned: bool = False
    catching_up: bool = False


def way(tail: Tail, asked: str, going: Going, room: int) -> Line:
    """The filter, whether we follow and what waits, how far was searched, and what newer events wait for."""
    cells = [Cell(own(" Events"), Tone.HEAD)]
    if asked:
        cells.append(Cell(own(f"  /{clip(safe(asked), room // FILTER_SHARE)}"), Tone.WARN))
    if tail.sieve:
        cells.append(Cell(safe(f"  of those received: {' '.join(tail.sieve.words)}"), Tone.WARN))
    cells.append(_going(tail, going, room))
    if tail.query.kinds is not None or tail.query.tenant is not ANY:
        cells.append(Cell(own(f"  searched to #{tail.searched:,}"), Tone.MUTED))
    if tail.held is not None:
        cells.append(Cell(safe(f"  {tail.held}"), Tone.WARN))
    return tuple(cells)


def _going(tail: Tail, going: Going, room: int) -> Cell:
    waiting = f"  +{tail.waiting:,} waiting" if tail.waiting else ""
    if going.paused:
        held = f" at #{tail.searched:,} (p resumes)" if room >= WIDE else ""
        return Cell(own(f"  paused{held}{waiting or '  +0 waiting'}"), Tone.WARN)
    if going.pinned:
        return Cell(own(f"  anchored (f follows){waiting}"), Tone.WARN)
    if going.catching_up and tail.waiting:
        return Cell(own(f"  catching up, +{tail.waiting:,} to read (f skips them)"), Tone.WARN)
    return Cell(own("  following"), Tone.GOOD)


def counters(tail: Tail, room: int) -> Line:
    """Received, shown, dropped, gaps, the rate and the ring: as many of them as the room holds, in this order of
    what is given up last: dropped, received, shown.
    """
    rate = "" if tail.rate is None else f"  {tail.rate:,.0f}/s"
    received, shown = f"  received {tail.received:,}", f"  shown {len(tail.rows):,}"
    dropped, gaps, ring = f"  dropped {tail.dropped:,}", f"  gaps {tail.gaps:,}", f"  ring {RING:,}"
    ways = (
        (received + shown, gaps + rate + ring),
        (received + shown, gaps + rate),
        (received + shown, gaps),
        (received + shown, ""),
        (received, ""),
    )
    fits = (way for way in ways if len(way[0] + dropped + way[1]) < room)
    before, behind = next(fits, ("", ""))
    tone = Tone.BAD if tail.dropped else Tone.MUTED
    return (Cell(own(before), Tone.MUTED), Cell(own(dropped), tone), Cell(own(f"{behind} "), Tone.MUTED))
