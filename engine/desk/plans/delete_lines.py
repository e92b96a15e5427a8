"""The table of what a delete takes away, kind by kind, as console.md 5.3 draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.desk.plans.model import Line
from engine.desk.views import MAX_COUNT

if TYPE_CHECKING:
    from engine.desk.plans.weight import Weight

_ORDER: Final = ("checkpoint", "event", "write", "effect")
_UNKNOWN: Final = "could not be counted in time"


def lines_of(
    weight: Weight, threads: int, metadata: int, reservations: tuple[int, str], claims: tuple[int, int, int]
) -> tuple[Line, ...]:
    """Rows that go, then what else touches them: open reservations with their amount, claims, how many of them are
    live, and of how many that are over the holder may still be at work.
    """
    open_ones, amount = reservations
    return (
        Line("thread", threads, 0),
        *(_line(kind, weight) for kind in _ORDER),
        Line("metadata", metadata, 0),
        Line("reservation", open_ones, None, f"kept; {amount} held" if open_ones else "none open: OK"),
        Line("claim", claims[0], None, _held(*claims[1:])),
    )


def _held(live: int, doubted: int) -> str:
    if live:
        return f"{live} live: blocked"
    return f"none live, {doubted} perhaps at work" if doubted else "none live: OK"


def _line(kind: str, weight: Weight) -> Line:
    rows = weight.total(kind)
    if rows is None:
        return Line(kind, None, None, _UNKNOWN)
    note = f"at least: counted to {MAX_COUNT:,} a thread" if weight.capped(kind) else ""
    return Line(kind, rows, weight.bytes[kind] if rows else 0, note)


def rows_of(lines: tuple[Line, ...]) -> int:
    """The number of the typed phrase: every row that goes, of the kinds that could be counted."""
    kinds = ("thread", *_ORDER, "metadata")
    return sum(line.rows or 0 for line in lines if line.kind in kinds)


def bytes_of(lines: tuple[Line, ...]) -> int | None:
    """The bytes of the bodies that go; None where one kind's are not known."""
    sizes = [line.bytes for line in lines if line.kind in _ORDER]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
