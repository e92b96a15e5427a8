"""What the threads of a page hold, asked for beside the page and not with every one of them.

A list that is looked at is read every two seconds; its money every second time, unless the page has come to
threads that were not on it: twenty consoles stay below twenty queries a second that way (console.md F6).
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from console.held_model import Failed, Held
from console.model import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from console.model import ThreadRow
    from engine import desk

KEPT_SECONDS: Final = 3.0
"""How old a figure may be that is shown with a fresh page: longer than one interval, shorter than two."""


@dataclass(frozen=True, slots=True)
class _Known:
    at: float
    of: Mapping[str, Held]


class HeldMoney:
    """The money of one page at a time. Safe to share between threads."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._known = _Known(0.0, {})
        self._lock = threading.Lock()

    def beside(self, door: desk.Desk, page: Page[ThreadRow]) -> Page[ThreadRow]:
        """The page with what its threads hold; with the reason why not where that alone cannot be read."""
        found = self._of(door, tuple(row.id for row in page.rows))
        rows = tuple(replace(row, held=one(found, row.id)) for row in page.rows)
        return Page(rows, page.next, page.as_of)

    def _of(self, door: desk.Desk, threads: tuple[str, ...]) -> Mapping[str, Held] | Failed:
        with self._lock:
            known = self._known
        now = self._monotonic()
        if now - known.at < KEPT_SECONDS and known.of.keys() >= set(threads):
            return known.of
        found = read(door, threads)
        if not isinstance(found, Failed):
            with self._lock:
                self._known = _Known(now, found)
        return found


def one(found: Mapping[str, Held] | Failed, thread: str) -> Held | Failed | None:
    """What is known of one of them."""
    return found if isinstance(found, Failed) else found.get(thread)


def read(door: desk.Desk, threads: tuple[str, ...]) -> Mapping[str, Held] | Failed:
    """What these threads hold. That it cannot be read is told of them, and is no reason to show none."""
    from engine.errors import StoreClosed, StoreFailure

    try:
        found = door.held(threads)
    except StoreClosed:
        raise
    except StoreFailure as error:
        return Failed(error.explain())
    return {name: Held(each.micro, each.open, each.fenced, each.more) for name, each in found.items()}
