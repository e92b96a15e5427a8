"""What really happened to every thread, written down by the simulator as each transaction lands.

It checks each entry against those before it, and says what a reader at any cursor must be told (checkpoints.md 1.5,
2.8 and section 3). It knows nothing of claims, checkpoints or tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.errors import ReplayUnavailable, ThreadDeleted

if TYPE_CHECKING:
    from engine.checkpoints import EventRecord
    from engine.errors import EngineError


@dataclass
class Life:
    """One incarnation of an id: its events by number, and how far they were compacted."""

    events: dict[int, EventRecord] = field(default_factory=dict)
    floor: int = 0

    @property
    def first(self) -> int:
        """The number of its first event."""
        return min(self.events)

    @property
    def last(self) -> int:
        """The number of its newest event."""
        return max(self.events)


@dataclass
class Story:
    """All lives of one id, the present one last; a life without an event leaves no trace."""

    past: list[Life] = field(default_factory=list)
    present: Life = field(default_factory=Life)

    @property
    def start(self) -> int:
        """The number that the present life's first event has or will have: one is skipped after a deleted log."""
        if self.present.events:
            return self.present.first
        return self.past[-1].last + 2 if self.past else 1


class Journal:
    """The stories of all threads, and the tokens in the order in which they were granted."""

    def __init__(self) -> None:
        self.stories: dict[str, Story] = {}
        self.tokens: list[int] = []

    def story(self, t: str) -> Story:
        """What happened to the thread so far."""
        return self.stories.setdefault(t, Story())

    def granted(self, token: int) -> None:
        """A claim was granted: its token is above all before it, whatever their threads."""
        assert not self.tokens or token > self.tokens[-1], f"token {token} after {self.tokens[-1]}"
        self.tokens.append(token)

    def committed(self, t: str, token: int, records: list[EventRecord]) -> None:
        """Events landed: the next numbers, none of them used before, under a token no older than those before."""
        story = self.story(t)
        life = story.present
        following = life.last + 1 if life.events else story.start
        assert [record.seq for record in records] == list(range(following, following + len(records)))
        used = {seq for past in (*story.past, life) for seq in past.events}
        for record in records:
            assert record.seq not in used, f"number {record.seq} of {t!r} was used before"
            assert (record.thread_id, record.fencing_token) == (t, token)
            assert not life.events or token >= life.events[life.last].fencing_token
            life.floor = life.floor or record.seq
            life.events[record.seq] = record

    def compacted(self, t: str, before: int) -> None:
        """The floor rises to `before`, within the log."""
        life = self.story(t).present
        if life.events:
            life.floor = max(life.floor, min(before, life.last + 1))

    def deleted(self, t: str) -> None:
        """The present life is over."""
        story = self.story(t)
        if story.present.events:
            story.past.append(story.present)
        story.present = Life()

    def refusal(self, t: str, cursor: int) -> EngineError | None:
        """What a reader at the cursor must be refused with, if at all."""
        story = self.story(t)
        if 0 < cursor < story.start - 1:
            return ThreadDeleted(t)
        floor = story.present.floor or story.start
        return ReplayUnavailable(t, floor) if max(cursor, story.start - 1) + 1 < floor else None

    def readable(self, t: str, cursor: int) -> list[EventRecord]:
        """What a reader at a cursor that is not refused finds."""
        life = self.story(t).present
        return [record for seq, record in sorted(life.events.items()) if seq > cursor and seq >= life.floor]

    def check(self) -> None:
        """Over all lives of an id: every number once, rising, and exactly one skipped between two lives."""
        for t, story in self.stories.items():
            lives = [life for life in (*story.past, story.present) if life.events]
            for before, after in pairwise(lives):
                assert after.first == before.last + 2, (t, before.last, after.first)
            for life in lives:
                assert sorted(life.events) == list(range(life.first, life.last + 1)), t
