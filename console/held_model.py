"""What is held of a thread, beside its row in a list, and what stands there where that could not be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failed:
    """Stands for a part that could not be read: why, and what to do."""

    message: str


@dataclass(frozen=True, slots=True)
class Held:
    """What the day store's open reservations hold of a thread, in micro-dollars; `more`: of more than were added up.

    A meter keeps no thread.
    """

    micro: int
    open: int
    fenced: int
    more: bool = False
