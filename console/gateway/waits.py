"""What newer events wait for, in words (ruling 23)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.checkpoints.gaps import Held

WORTH_SAYING: Final = 2.0
"""Seconds of a wait from which on a screen tells of it."""


def held_by(held: Held | None) -> str | None:
    """What to say of a wait: which process has the transaction open, where that is known."""
    if held is None:
        return None
    who = "a transaction that has not ended" if held.pid is None else f"server process {held.pid}"
    return f"events from #{held.position:,} on wait for {who}"


def lasting(held: Held | None) -> str | None:
    """The same of a wait that is no matter of moments."""
    return None if held is None or held.seconds < WORTH_SAYING else held_by(held)
