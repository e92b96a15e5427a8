"""What really happened to every thread, written down by the simulator as each transaction lands.

It checks each entry against those before it, and says what a reader at any cursor must be told (checkpoints.md 1.5,
2.8 and section 3). It knows nothing of claims, queues or tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.checkpoints import Origin
from engine.errors import ReplayUnavailable, ThreadDeleted
from tests.property.retained import Landed, Numbered, retained

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime, timedelta

    from engine.checkpoints import Checkpoint, Commit, EventRecord, RetentionPolicy
    from engine.errors import EngineError


@dataclass(eq=False)
class Life:
    """One incarnation of an id: its events by number, how far they were dropped, and what is left of its history."""

    events: dict[int, EventRecord] = field(default_factory=dict)
    times: dict[int, datetime] = field(default_factory=dict)
    floor: int = 0
    latest: Checkpoint | None = None
    history: list[Landed] = field(default_factory=list)
    runs: dict[str, str] = field(default_factory=dict)
    """The newest checkpoint of every run that ever committed one, whatever became of it."""
    effects: set[str] = field(default_factory=set)
    metadata: dict[str, str] = field(default_factory=dict)
    over: bool = False
    forgotten: bool = False
    """Whether its tombstone was reclaimed."""

    @property
    def first(self) -> int:
        """The number of its first event."""
        return min(self.events)

    @property
    def last(self) -> int:
        """The number of its newest event."""
        return max(self.events)

    @property
    def empty(self) -> bool:
        """Whether it never held an event or a checkpoint."""
        return not self.events and self.latest is None

    def has(self, seq: int) -> bool:
        """Whether a reader can still get the event."""
        return not self.over and seq in self.events and seq >= self.floor


@dataclass
class Story:
    """All lives of one id that numbered events, the present one besides, and what a delete left behind."""

    past: list[Life] = field(default_factory=list)
    present: Life = field(default_factory=Life)
    tomb: int | None = None
    buried_at: datetime | None = None
    places: dict[str, int] = field(default_factory=dict)
    """Where it stands among the children of each parent that adopted it."""


class Journal:
    """The stories of all threads, the tokens in the order in which they were granted, and the events as they came."""

    def __init__(self) -> None:
        self.stories: dict[str, Story] = {}
        self.tokens: list[int] = []
        self.mark = 1
        self.log: list[tuple[Life, EventRecord]] = []
        self._adopted = 0

    def story(self, t: str) -> Story:
        """What happened to the thread so far."""
        return self.stories.setdefault(t, Story())

    def life(self, t: str) -> Life:
        """Its present life."""
        return self.story(t).present

    def start(self, t: str) -> int:
        """The number that the present life's first event has or will have: past all that was used before."""
        story = self.story(t)
        return story.present.first if story.present.events else story.tomb or self.mark

    def following(self, t: str) -> int:
        """The number of the next event."""
        life = self.life(t)
        return life.last + 1 if life.events else self.start(t)

    def brood(self, parent: str) -> list[str]:
        """Its children, earliest adopted first."""
        found = [
            (story.places[parent], t)
            for t, story in self.stories.items()
            if story.present.latest is not None and story.present.latest.origin == Origin(parent)
        ]
        return [t for _, t in sorted(found)]

    def granted(self, token: int) -> None:
        """A claim was granted: its token is above all before it, whatever their threads."""
        assert not self.tokens or token > self.tokens[-1], f"token {token} after {self.tokens[-1]}"
        self.tokens.append(token)

    def committed(self, t: str, commit: Commit, records: list[EventRecord], now: datetime) -> None:
        """A commit landed: the next numbers, none of them used before, under a token no older than those before."""
        story, following = self.story(t), self.following(t)
        life = story.present
        assert [record.seq for record in records] == list(range(following, following + len(records)))
        used = {seq for past in (*story.past, life) for seq in past.events}
        for record in records:
            assert record.seq not in used, f"number {record.seq} of {t!r} was used before"
            assert (record.thread_id, record.fencing_token) == (t, commit.token)
            assert not life.events or commit.token >= life.events[life.last].fencing_token
            life.floor = life.floor or record.seq
            life.events[record.seq], life.times[record.seq] = record, now
            self.log.append((life, record))
        life.effects |= {draft.key for draft in commit.effects}
        life.metadata |= {key: value for key, value in (commit.metadata or {}).items() if value is not None}
        if (made := commit.checkpoint) is not None:
            self._append(story, made, Landed(made.id, made.run_id, now, following))

    def _append(self, story: Story, made: Checkpoint, landed: Landed) -> None:
        life = story.present
        life.latest = made
        life.history.append(landed)
        life.runs[made.run_id] = made.id
        if made.origin is not None and made.origin.parent not in story.places:
            self._adopted += 1
            story.places[made.origin.parent] = self._adopted

    def compacted(self, t: str, before: int) -> None:
        """The floor rises to `before`, within the log."""
        life = self.life(t)
        if life.events:
            life.floor = max(life.floor, min(before, life.last + 1))

    def pruned(
        self, t: str, policy: RetentionPolicy, now: datetime, protected: Collection[str]
    ) -> tuple[int, int]:
        """A policy was applied: how many checkpoints and events that took."""
        life = self.life(t)
        kept_times = {seq: at for seq, at in life.times.items() if seq >= life.floor}
        log = Numbered(life.floor, life.last + 1, kept_times) if life.events else None
        kept = retained(life.history, log, policy, now, protected)
        before, floor = len(life.history), life.floor
        life.history = [each for each in life.history if each.id in kept.ids]
        life.floor = floor if kept.floor is None else kept.floor
        return before - len(life.history), life.floor - floor

    def deleted(self, t: str, now: datetime) -> None:
        """The present life is over; one that numbered nothing leaves no trace, unless an earlier one did."""
        story = self.story(t)
        story.present.over = True
        if story.present.events:
            story.tomb = story.present.last + 2
            story.past.append(story.present)
        story.buried_at = None if story.tomb is None else now
        if story.tomb is None:
            story.places = {}
        story.present = Life()

    def is_dead(self, t: str, age: timedelta | None, now: datetime) -> bool:
        """Whether only a tombstone older than that is left; claims are not known here."""
        story = self.story(t)
        if age is None or story.buried_at is None or not story.present.empty:
            return False
        return now - story.buried_at > age

    def reclaimed(self, t: str) -> None:
        """The tombstone went, and its number into the mark."""
        story = self.story(t)
        assert story.tomb is not None
        self.mark = max(self.mark, story.tomb)
        story.past[-1].forgotten = True
        story.tomb = story.buried_at = None
        story.places = {}

    def refusal(self, t: str, cursor: int) -> EngineError | None:
        """What a reader at the cursor must be refused with, if at all."""
        start = self.start(t)
        if 0 < cursor < start - 1:
            return ThreadDeleted(t)
        floor = self.life(t).floor or start
        return ReplayUnavailable(t, floor) if max(cursor, start - 1) + 1 < floor else None

    def readable(self, t: str, cursor: int) -> list[EventRecord]:
        """What a reader at a cursor that is not refused finds."""
        life = self.life(t)
        return [record for seq, record in sorted(life.events.items()) if seq > cursor and seq >= life.floor]

    def check(self) -> None:
        """Over all lives of an id: every number once, rising, and one skipped between two lives, more after a mark."""
        for t, story in self.stories.items():
            lives = [life for life in (*story.past, story.present) if life.events]
            for before, after in pairwise(lives):
                skipped = after.first - before.last - 1
                assert skipped >= 1 if before.forgotten else skipped == 1, (t, before.last, after.first)
            for life in lives:
                assert sorted(life.events) == list(range(life.first, life.last + 1)), t
