"""How often and how long a whole transaction is tried again (ruling 3; spend.md 2B.1, ruling 44)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from engine.arguments import of_kind, whole
from engine.errors import ValidationError

MAX_ATTEMPTS: Final = 100


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts` in all, waiting `base`, doubled each time up to `max_delay`, as long as `deadline` allows."""

    attempts: int = 3
    base: timedelta = timedelta(milliseconds=50)
    max_delay: timedelta = timedelta(milliseconds=400)
    deadline: timedelta = timedelta(seconds=2)

    def __post_init__(self) -> None:
        if whole("attempts", self.attempts) > MAX_ATTEMPTS:
            raise ValidationError("attempts", (f"must be at most {MAX_ATTEMPTS}",))
        for field in ("base", "max_delay", "deadline"):
            if of_kind(field, getattr(self, field), timedelta) < timedelta(0):
                raise ValidationError(field, ("must not be negative",))

    def pause(self, attempt: int, elapsed: float) -> float | None:
        """Seconds to wait after the failed `attempt`, counted from 1; None when there is no further one."""
        if attempt >= self.attempts:
            return None
        delay = min(self.max_delay.total_seconds(), self.base.total_seconds() * 2 ** (attempt - 1))
        return None if elapsed + delay > self.deadline.total_seconds() else delay


STORE_RETRIES: Final = RetryPolicy(
    attempts=5,
    base=timedelta(milliseconds=20),
    max_delay=timedelta(milliseconds=160),
    deadline=timedelta(minutes=10),
)
"""Of a store's own verbs: conflicts, and connections lost before COMMIT was sent. Their statements' own bounds end
each attempt, so the deadline is only a last resort."""
