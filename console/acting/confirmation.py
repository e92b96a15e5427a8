"""When a confirmation counts: after a pause, typed and not pasted, whole, with a reason (console.md F4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from console.actions import Level

if TYPE_CHECKING:
    from collections.abc import Callable

QUIET_SECONDS: Final = 0.4
"""So long must no key come before the first one counts: what was typed ahead, and a key held down, never does."""
HASTY_KEYS: Final = 6
HASTY_SECONDS: Final = 0.03
"""So many characters in so short a time were not typed by hand."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What has to be confirmed. `phrase` is typed at levels 2 and 3; `reasoned`: a reason is needed as well."""

    level: Level
    verb: str
    phrase: str = ""
    reasoned: bool = False

    def __post_init__(self) -> None:
        if (self.level >= Level.PHRASE) != bool(self.phrase):
            raise ValueError("a phrase belongs to levels 2 and 3, and to no other")


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The operator's yes: the phrase as it was typed, and why."""

    phrase: str
    reason: str


@dataclass(slots=True)
class Quiet:
    """The pause at the beginning. Each key that comes too early makes it begin anew."""

    monotonic: Callable[[], float]
    since: float = field(init=False)
    over: bool = False

    def __post_init__(self) -> None:
        self.since = self.monotonic()

    def lets_through(self) -> bool:
        """Whether a key that comes now counts."""
        now = self.monotonic()
        if not self.over and now - self.since >= QUIET_SECONDS:
            self.over = True
        self.since = now
        return self.over

    @property
    def ready(self) -> bool:
        """Whether the next key would count."""
        return self.over or self.monotonic() - self.since >= QUIET_SECONDS


@dataclass(slots=True)
class Typing:
    """A phrase that is being typed."""

    monotonic: Callable[[], float]
    text: str = ""
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=HASTY_KEYS))
    _pasting: Quiet | None = None

    def add(self, character: str) -> bool:
        """Take a character; False, and nothing is left of the phrase, where it came faster than hands type."""
        if self._pasting is not None and not self._pasting.lets_through():
            return False
        self._pasting = None
        self._times.append(self.monotonic())
        if len(self._times) == HASTY_KEYS and self._times[-1] - self._times[0] < HASTY_SECONDS:
            self.clear()
            self._pasting = Quiet(self.monotonic)
            return False
        self.text += character
        return True

    def erase(self) -> None:
        """Take the last character away."""
        self.text = self.text[:-1]

    def clear(self) -> None:
        """Begin anew."""
        self.text = ""
        self._times.clear()


def missing(asked: Asked, phrase: str, reason: str, blocker: str = "") -> str:
    """What the operator still has to do before the change may be made; empty where nothing is missing."""
    if blocker:
        return blocker
    if asked.reasoned and not reason.strip():
        return "a reason is needed"
    if phrase != asked.phrase:
        if asked.phrase.startswith(phrase):
            return f"type {asked.phrase}{' to its end' if phrase else ''}"
        return f"that is not {asked.phrase}"
    return ""
