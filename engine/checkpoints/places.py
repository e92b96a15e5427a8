"""Where a tail stands, as opaque text that any process resumes from (ruling 23)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from engine.errors import ValidationError
from engine.paging import decode_cursor, encode_cursor

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_GAPS: Final = 64
"""Gaps below the start that may still be filled; older ones count as dead."""
MAX_POSITION: Final = 2**63 - 1

Run = tuple[int, int]  # first and last of consecutive positions


@dataclass(frozen=True, slots=True)
class Place:
    """All up to `done` was delivered or never will be; above, `known` was committed before the start."""

    done: int
    known: tuple[Run, ...] = ()

    def after(self, position: int) -> Place:
        """The place once `position` is done with."""
        if not self.known:
            return Place(position)
        return Place(position, tuple(run for run in self.known if run[1] > position))

    def knows(self, position: int) -> bool:
        """Whether the event was there before the tail began."""
        return any(first <= position <= last for first, last in self.known)

    @property
    def text(self) -> str:
        """The opaque form."""
        return encode_cursor(self.done, ",".join(f"{first}-{last}" for first, last in self.known))


def place_of(text: str) -> Place:
    """The place again; ValidationError for text that no tail has given out."""
    done, known = decode_cursor(text, int, str)
    try:
        runs = [_run(part) for part in str(known).split(",") if part]
    except ValueError as error:
        raise ValidationError("after", ("is not a position of a tail; start again without one",)) from error
    if not 0 <= int(done) <= MAX_POSITION:
        raise ValidationError("after", ("is not a position of a tail; start again without one",))
    return Place(int(done), tuple(runs))


def _run(part: str) -> Run:
    first, last = part.split("-")
    return int(first), int(last)


def undecided_place(visible: Sequence[int], upto: int) -> Place:
    """The start at `upto` while transactions run: below their gaps, what is visible above those left out.

    `visible` ascends, and everything below its first counts as decided.
    """
    below = [position for position in visible if position <= upto]
    gaps = [index for index, (low, high) in enumerate(pairwise(below), 1) if high - low > 1][-MAX_GAPS:]
    if not gaps:
        return Place(upto)
    ends = [*(index - 1 for index in gaps[1:]), len(below) - 1]
    runs = zip(gaps, ends, strict=True)
    return Place(below[gaps[0] - 1], tuple((below[first], below[last]) for first, last in runs))
