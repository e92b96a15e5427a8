"""What an action on a list works on: ids that the operator has seen, or a refusal that says why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.present import Safe, own, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMED: Final = 5
"""Hidden marks that a refusal names one by one."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ids to work on: the marked ones, or else the one under the cursor; as they were last drawn."""

    ids: tuple[str, ...]
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing may be worked on; `hidden` are the marked ids that the operator does not see."""

    reason: Safe
    hidden: tuple[str, ...] = ()


Targets = Chosen | Refused

NOTHING: Final = Refused(own("no row under the cursor"))
NOT_DRAWN: Final = Refused(own("the list has not been drawn since your last key: look, and press again"))
RANGE_OPEN: Final = Refused(own("a range is being marked: v marks it, esc gives it up"))


def hidden_marks(hidden: Sequence[str], marks: int) -> Refused:
    """The refusal of an action while marks are out of sight."""
    named = ", ".join(safe(each) for each in hidden[:NAMED])
    more = f" and {len(hidden) - NAMED:,} more" if len(hidden) > NAMED else ""
    reason = f"{len(hidden):,} of {marks:,} marks are hidden: {named}{more}; m shows them, M drops all marks"
    return Refused(own(reason), tuple(hidden))
