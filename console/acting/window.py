"""The read-write window: opened by `W` with a reason, ends by itself (console.md F3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH_SECONDS: Final = 600.0
WARNING_SECONDS: Final = 60.0
"""So long before it is forgotten does the header say so."""
IDLE_SECONDS: Final = 180.0
"""So long may no key come before an open window is taken for a forgotten one."""


@dataclass(slots=True)
class Window:
    """Whether changes are on. Time is `monotonic` seconds; nothing here opens a connection.

    `operation` is the one under which the audit has it, empty where it is not open.
    """

    monotonic: Callable[[], float]
    reason: str = ""
    operation: str = ""
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
        """Seconds until it ends by itself, if keys come until then; zero where it is closed or forgotten."""
        if self._ends is None or self.idle_left <= 0:
            return 0.0
        return max(0.0, self._ends - self.monotonic())

    @property
    def idle_left(self) -> float:
        """Seconds until it is taken for a forgotten one, unless a key comes."""
        return max(0.0, self._touched + IDLE_SECONDS - self.monotonic())

    def open(self, reason: str, operation: str = "") -> None:
        """Begin it, or begin it anew."""
        now = self.monotonic()
        self.reason, self.operation = reason, operation
        self._ends, self._touched = now + LENGTH_SECONDS, now

    def touch(self) -> None:
        """The operator did something: it is not forgotten. One that has run out stays so."""
        if self.is_open:
            self._touched = self.monotonic()

    def close(self) -> None:
        """End it."""
        self.reason, self.operation, self._ends = "", "", None
