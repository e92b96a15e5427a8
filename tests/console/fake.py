"""A gateway over made-up rows that never change by themselves, and the session that stands still with it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from console.app import HoldwatchApp
from console.calls import Calls
from console.identity import Identity
from console.model import (
    Checkpoint,
    Counted,
    Effect,
    EventRow,
    GatewayError,
    IncompleteQuery,
    Page,
    Refusals,
    StoreLabel,
    ThreadQuery,
    ThreadRow,
    ThreadState,
    ThreadStory,
    Tombstone,
    TombstoneQuery,
    TombstoneRow,
    Unset,
    Write,
)
from console.session import Session
from tests.console.fake_acting import FakeRecords
from tests.console.fake_claims import claim_row, claim_story
from tests.console.fake_meaning import FakeMeaning
from tests.console.fake_moment import T0, cut
from tests.console.fake_overview import FakeOverview, held_of
from tests.console.fake_queue import entries_of
from tests.console.fake_tail import FakeTail

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

STATES = (
    ThreadState.RUNNING,
    ThreadState.RUNNING,
    ThreadState.IDLE,
    ThreadState.SUSPENDED,
    ThreadState.COMPLETED,
    ThreadState.COMPLETED,
    ThreadState.FAILED,
    ThreadState.RUNNING,
    ThreadState.DELETED,
)
TENANTS = ("acme", "globex", None, "initech")
KINDS = ("claim.granted", "step.started", "tool.result", "step.finished", "checkpoint.committed")


def thread_row(number: int) -> ThreadRow:
    """The row with this number; a higher one is older."""
    state = STATES[number % len(STATES)]
    running = state is ThreadState.RUNNING
    lapsed = state is ThreadState.IDLE
    age = timedelta(seconds=1 + number * number)
    return ThreadRow(
        id=f"thr_01J8QZ{number:04d}{'W4K7R9M2PAXB'[number % 8 : number % 8 + 4]}",
        tenant=TENANTS[number % len(TENANTS)],
        state=state,
        holder=f"worker-{number % 17:02d}" if running or lapsed else None,
        lease_left=timedelta(seconds=27 - number % 20)
        if running
        else timedelta(seconds=-192)
        if lapsed
        else None,
        token=4_000 + number if running or lapsed else None,
        events=(number * 397) % 9_100,
        updated_at=T0 - age,
        age=age,
        checkpoint=f"ckp_{number:04d}_17",
        run=f"run_{number:04d}_3",
        held=held_of(number),
    )


def event_row(position: int) -> EventRow:
    """The event at this position of the store."""
    thread = thread_row(position % 9)
    kind = KINDS[position % len(KINDS)]
    payload = {"step": position, "tool": "fetch_page", "cost_micro": 9_007_199_254_740_993, "ok": True}
    return EventRow(
        position=f"p{position:08d}",
        thread=thread.id,
        tenant=thread.tenant,
        seq=position // 9 + 1,
        kind=kind,
        run=f"run_{position % 9:04d}_3",
        checkpoint=f"ckp_{position:04d}",
        token=4_000 + position % 9,
        at=T0 - timedelta(seconds=1200 - position * 2, milliseconds=position * 7 % 1000),
        own=None
        if position % 5 == 0
        else T0 - timedelta(seconds=1200 - position * 2, milliseconds=position * 7 % 1000 + 130),
        payload=json.dumps(payload),
        size=len(json.dumps(payload)),
    )


def story_of(row: ThreadRow) -> ThreadStory:
    """A story in which everything happened."""
    checkpoints = tuple(
        Checkpoint(
            id=f"ckp_{place:04d}",
            place=place,
            run=f"run_{place % 3}",
            status="RUNNING" if place > 3 else "SUSPENDED",
            parent=f"ckp_{place - 1:04d}",
            token=4_000 + place,
            committed_at=T0 - timedelta(seconds=90 * (18 - place)),
            size=4_096 + place * 11,
        )
        for place in range(17, 0, -1)
    )
    return ThreadStory(
        thread=row.id,
        row=row,
        parent=None,
        claim=claim_story(claim_row(row)) if row.holder is not None else None,
        refusals=Refusals(3, 3_998, "commit", T0 - timedelta(minutes=3)),
        checkpoints=checkpoints,
        writes=(
            Write("w1", "task-1", "fetch_page", '{"url": "https://example.org/a", "status": 200}', 47),
            Write("w2", "task-2", "summarise", '{"text": "three pages", "tokens": 1204}', 40),
        ),
        effects=tuple(
            Effect(
                f"mail:{n}",
                json.dumps({"sent": True, "n": n}),
                22,
                f"run_{n}",
                4_000 + n,
                T0 - timedelta(minutes=n),
            )
            for n in range(4)
        ),
        metadata=(("owner", "mk"), ("title", "quarterly report")),
        first_seq=1,
        next_seq=row.events + 1,
        floor_seq=1,
        tombstone=Tombstone(1, T0 - timedelta(days=3)) if row.state is ThreadState.DELETED else None,
        children=50,
        queue=entries_of(row.id),
        as_of=T0,
        more=frozenset({"children"}),
        held=row.held,
    )


def snapshot_text(checkpoint: str) -> str:
    """A body with everything JSON has."""
    return json.dumps(
        {
            "checkpoint": checkpoint,
            "messages": [
                {"role": "user", "content": "Compare the three vendors\nand draft a mail."},
                {"role": "tool", "name": "fetch_page", "content": "\u001b[2J hidden \u202e text"},
            ],
            "budget": {"micro": 9_007_199_254_740_993, "rate": 0.1, "spent": None, "capped": False},
            "pending": [],
        }
    )


WHO = Identity("7421993306011", "ledger-prod", "ops_ro", "ops_ro", "PostgreSQL 16.4")


@dataclass
class FakeGateway(FakeTail, FakeOverview, FakeRecords, FakeMeaning):
    """Rows in lists that a test may change; `down` makes every call fail with it."""

    rows: list[ThreadRow] = field(default_factory=lambda: [thread_row(number) for number in range(340)])
    tail: list[EventRow] = field(default_factory=lambda: [event_row(position) for position in range(620)])
    down: GatewayError | None = None
    asked: list[str] = field(default_factory=list)
    offspring: int = 230
    closed: bool = False
    interrupted: int = 0
    as_of: datetime = T0
    label: StoreLabel = field(
        default_factory=lambda: StoreLabel(
            "postgresql", "ledger-prod", "postgresql://ops@db-1:5432/ledger-prod"
        )
    )
    during: Callable[[], None] = lambda: None
    who: Identity = WHO

    def _asked(self, what: str) -> None:
        self.asked.append(what)
        self.during()
        if self.down is not None:
            raise self.down

    def identity(self) -> Identity:
        """Who it was told to be; not noted among what was asked, for it is asked at no time of a test's own."""
        if self.down is not None:
            raise self.down
        return self.who

    def threads(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Rows that match, from a cursor that is a row's number."""
        self._asked("threads")
        return cut(self._matching(query), after, limit, self.as_of)

    def _matching(self, query: ThreadQuery) -> list[ThreadRow]:
        return [row for row in self.rows if matches(row, query)]

    def threads_from_end(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """The same rows the other way round."""
        self._asked("from end")
        return cut([row for row in self.rows[::-1] if matches(row, query)], after, limit, self.as_of)

    def count_threads(self, query: ThreadQuery) -> Counted:
        """How many match, capped at 10,000."""
        self._asked("count")
        return Counted(
            min(sum(matches(row, query) for row in self.rows), 10_000), more=len(self.rows) > 10_000
        )

    def incomplete(self, query: IncompleteQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Idle rows, longest untouched first."""
        self._asked("incomplete")
        idle = ThreadQuery(tenant=query.tenant, states=frozenset({ThreadState.IDLE}))
        return cut([row for row in self.rows[::-1] if matches(row, idle)], after, limit, self.as_of)

    def children(self, parent: str, after: str | None, limit: int) -> Page[ThreadRow]:
        """As many rows as the fake was told to give every thread."""
        self._asked("children")
        found = [renamed(thread_row(number), f"{parent}.{number + 1}") for number in range(self.offspring)]
        return cut(found, after, limit, self.as_of)

    def tombstones(self, query: TombstoneQuery, after: str | None, limit: int) -> Page[TombstoneRow]:
        """A tombstone for each row that is being deleted."""
        self._asked("tombstones")
        gone = [row for row in self.rows if row.state is ThreadState.DELETED and within(row.age, query.since)]
        return cut([tombstone_of(row) for row in gone], after, limit, self.as_of)

    def story(self, thread: str) -> ThreadStory | None:
        """The story of a row, if it is there."""
        self._asked("story")
        parent, _, child = thread.partition(".")
        found = next((row for row in self.rows if row.id == parent), None)
        if found is None:
            return None
        story = story_of(renamed(found, thread))
        return replace(story, parent=parent, children=0, more=frozenset()) if child else story

    def snapshot(self, thread: str, checkpoint: str) -> str:
        """A body."""
        self._asked("snapshot")
        return snapshot_text(checkpoint)

    def payload(self, thread: str, seq: int) -> str:
        """A payload, whole."""
        self._asked("payload")
        return json.dumps({"whole": "x" * 20_000, "seq": seq})

    def interrupt(self) -> None:
        """Remember that it was asked to end what runs."""
        self.interrupted += 1

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def tombstone_of(row: ThreadRow) -> TombstoneRow:
    """What is left of a row once it is deleted."""
    assert row.updated_at is not None
    assert row.age is not None
    return TombstoneRow(row.id, row.events + 1, row.updated_at, row.age, row.events % 2 == 0, row.events % 3)


def within(age: timedelta | None, since: timedelta | None) -> bool:
    """Whether something is young enough for a `since`."""
    return since is None or (age is not None and age <= since)


def matches(row: ThreadRow, query: ThreadQuery) -> bool:
    """What the store would answer."""
    return (
        within(row.age, query.since)
        and (query.states is None or row.state in query.states)
        and (isinstance(query.tenant, Unset) or row.tenant == query.tenant)
        and (query.prefix is None or row.id.startswith(query.prefix))
        and (query.holder is None or row.holder == query.holder)
        and (query.metadata is None or query.metadata == ("title", "quarterly report"))
    )


def make_app(gateway: FakeGateway | None = None) -> HoldwatchApp:
    """A console on a made-up store, with a clock that stands still."""
    return HoldwatchApp(Session(gateway or FakeGateway(), Calls(), monotonic=lambda: 1_000.0))


def renamed(row: ThreadRow, thread: str) -> ThreadRow:
    """The same row under another id."""
    return replace(row, id=thread)
