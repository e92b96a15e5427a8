"""What a verb is: its keys and words, where it makes sense, what it needs, and how it is confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from console.present import Safe, own


class Place(StrEnum):
    """Where a verb makes sense.

    A screen names its places; where two claim one key, the one it names first has it.
    """

    EVERYWHERE = "everywhere"
    LIST = "lists"
    FILTERED = "lists with a filter"
    MARKED = "lists with marks"
    THREADS = "threads"
    CLAIMS = "claims"
    QUEUE = "run queue"
    RESERVATIONS = "reservations"
    FENCES = "fences"
    BUDGETS = "budgets"
    RESERVATION = "one reservation"
    OWNED = "rows with an owner"
    THREAD = "one thread"
    EVENTS = "events"
    OVERVIEW = "overview"
    DELETABLE = "what can be deleted"
    CLAIMED = "what can be claimed"
    SWEPT = "what retention is about"
    DUE = "what may be due"
    DECIDED = "what is decided by hand"
    AUDITED = "what can be changed"
    TOLD = "what the audit knows"
    JOBS = "jobs"
    JOB = "one job"
    CARRIED = "what is carried out"
    AUDIT = "audit"
    INTENTS = "open intents"
    PLAN = "one plan"


class Capability(StrEnum):
    """What a verb needs: to look, to change the store, or the right to turn changes on and off.

    PLAN begins a change and does none: while changes are off it shows what would be done, and stores nothing.
    """

    READ = "read"
    PLAN = "plan"
    WRITE = "write"
    WINDOW = "window"


class Level(IntEnum):
    """How a verb is confirmed: not at all, y or n, a typed phrase, a phrase with count, environment and
    reason.
    """

    NONE = 0
    ASK = 1
    PHRASE = 2
    REASON = 3


@dataclass(frozen=True, slots=True)
class Action:
    """One verb.

    `footer` is its place in the footer, counted from one, or zero for a verb that is only in the help; `short` is
    what a screen is called where there is little room.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    place: Place = Place.EVERYWHERE
    capability: Capability = Capability.READ
    level: Level = Level.NONE
    footer: int = 0
    short: str = ""

    @property
    def key(self) -> Safe:
        """The first key as an operator reads it."""
        return own(_READABLE.get(self.keys[0], self.keys[0])) if self.keys else own("")

    @property
    def all_keys(self) -> Safe:
        """All keys as an operator reads them."""
        return own("  ".join(_READABLE.get(key, key) for key in self.keys))


_READABLE: Final = {
    "escape": "esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "f1": "F1",
    "f12": "F12",
    "home": "Home",
    "end": "End",
    "space": "Space",
}
