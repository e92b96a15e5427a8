"""What may go and what must stay: policies of prune and sweep (checkpoints-operations.md 1, 2.5, 2.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar, Final

from engine.arguments import of_kind, whole
from engine.errors import ValidationError

MAX_BATCH: Final = 1000

SweepGuard = Callable[[Sequence[str]], Mapping[str, frozenset[str]]]
"""Asked once a page with its ids; answers those protected, each with the runs whose evidence stays."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Three limits, each of which removes by itself: what one of them would leave, another may still remove.

    Rows strictly older than `max_age` by store commit time go; so do checkpoints of a thread beyond its newest
    `max_checkpoints`, and events beyond its newest `max_events`. The events from before the oldest checkpoint that
    is left go along with those removed (ruling 69). A limit of None removes nothing. The newest checkpoint always
    stays, with its writes. ValidationError (field `retention`) names every field out of bounds.
    """

    KEEP_ALL: ClassVar[RetentionPolicy]

    max_age: timedelta | None = None
    max_checkpoints: int | None = None
    max_events: int | None = None

    def __post_init__(self) -> None:
        problems = []
        if self.max_age is not None and of_kind("retention", self.max_age, timedelta) <= timedelta(0):
            problems.append("max_age must be above zero")
        if self.max_checkpoints is not None and whole("retention", self.max_checkpoints) < 1:
            problems.append("max_checkpoints must be at least 1")
        if self.max_events is not None and whole("retention", self.max_events) < 0:
            problems.append("max_events must be at least 0")
        if problems:
            raise ValidationError("retention", tuple(problems))


RetentionPolicy.KEEP_ALL = RetentionPolicy()


@dataclass(frozen=True, slots=True)
class SweepPolicy:
    """A retention for every thread, how long a tombstone stays (None: for ever), and threads a call."""

    retention: RetentionPolicy = field(default=RetentionPolicy.KEEP_ALL)
    tombstone_age: timedelta | None = None
    batch_size: int = 100

    def __post_init__(self) -> None:
        problems = []
        of_kind("sweep", self.retention, RetentionPolicy)
        if self.tombstone_age is not None and of_kind("sweep", self.tombstone_age, timedelta) <= timedelta(0):
            problems.append("tombstone_age must be above zero, or None to keep tombstones")
        if not 1 <= whole("sweep", self.batch_size) <= MAX_BATCH:
            problems.append(f"batch_size must lie between 1 and {MAX_BATCH}")
        if problems:
            raise ValidationError("sweep", tuple(problems))


@dataclass(frozen=True, slots=True)
class SweepResult:
    """One call's work. `next` is where the next one goes on; None ends the pass."""

    next: str | None
    visited: int = 0
    checkpoints_removed: int = 0
    events_removed: int = 0
    tombstones_reclaimed: int = 0
