"""The read-write window: opened by `W` with a reason, ends by itself (console.md F3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH_SECONDS: Final = 600.0
IDLE_SECONDS: Final = 180.0
"""So long may no key come before an open window is taken for a forgotten one."""


@dataclass(slots=True)
class Window:
    """Whether changes are on. Time is `monotonic` seconds; nothing here opens a connection."""

    monotonic: Callable[[], float]
    reason: str = ""
    _ends: float | None = None
    _touched: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether changes are on now."""
        return self.left > 0

    @property
    def was_opened(self) -> bool:
        """Whether it was opened and not closed since; it may have run out."""
        return self._ends is not None

    @property
    def left(self) -> float:
        """Seconds until it ends by itself; zero where it is closed."""
        if self._ends is None:
            return 0.0
        now = self.monotonic()
        return max(0.0, min(self._ends - now, self._touched + IDLE_SECONDS - now))

    def open(self, reason: str) -> None:
        """Begin it, or begin it anew."""
        now = self.monotonic()
        self.reason, self._ends, self._touched = reason, now + LENGTH_SECONDS, now

    def touch(self) -> None:
        """The operator did something: it is not forgotten. One that has run out stays so."""
        if self.is_open:
            self._touched = self.monotonic()

    def close(self) -> None:
        """End it."""
        self.reason, self._ends = "", None
