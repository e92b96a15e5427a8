"""Rolls the dice for who moves next, and looks at the whole store when the run is over."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tests.property.audit import Tables, audit
from tests.property.succession import Succession
from tests.simulation import actors, operators
from tests.simulation.operators import Follower
from tests.simulation.upkeep import Upkeep
from tests.simulation.world import THREADS
from tests.support.builders import MANY

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Generator, Iterator

    from tests.property.subjects import Subject

WORKERS = 6
READERS = 3
SWEEPERS = 2
"""Nobody keeps them apart: two sweeps at once are wasteful and safe (2.6)."""
AUDITED = 20
"""How many transactions lie between two looks at the tables."""
KINDS = (
    (actors.worker, 10),
    (actors.hand, 5),
    (actors.caller, 3),
    (operators.feller, 3),
    (operators.forgetful, 1),
    (operators.deleter, 1),
)
"""Who comes and goes, and how often one of the kind is hired."""


def simulate(subject: Subject, seed: int, steps: int) -> Counter[str]:
    """One run of so many steps; what happened. A failure tells the seed, the step and the last transactions."""
    subject.wipe()
    world = Upkeep(subject, seed)
    cast, succession = _Cast(world), Succession()
    step = 0
    try:
        for step in range(steps):
            cast.move()
            if step % AUDITED == 0:
                look(world, succession)
        cast.dismiss()
        settle(world, succession)
        cast.follower.finish()
    except BaseException as error:
        error.add_note(f"seed {seed}, step {step}, after:\n  " + "\n  ".join(world.trace))
        raise
    finally:
        cast.dismiss()
    return world.seen


class _Cast:
    """Those who stay, and as many who come and go as fit; who has gone is replaced by another."""

    def __init__(self, world: Upkeep) -> None:
        self._world = world
        self.follower = Follower(world)
        self._stay = [actors.compactor(world), actors.clock(world), actors.restarter(world)]
        self._stay += [actors.reader(world) for _ in range(READERS)]
        self._stay += [operators.sweeper(world) for _ in range(SWEEPERS)]
        self._stay += [operators.pruner(world), self.follower.follow()]
        self._come_and_go: list[Iterator[None]] = []
        self._runs = 0
        world.meanwhile = self._move_a_few

    def move(self) -> None:
        """One actor makes its next transaction."""
        while len(self._come_and_go) < WORKERS:
            self._come_and_go.append(self._hire())
        self._next_of(self._world.dice.choice(self._stay + self._come_and_go * 3))

    def dismiss(self) -> None:
        """Everybody is gone without a word."""
        while self._come_and_go:
            gone = self._come_and_go.pop()
            gone.close()  # type: ignore[attr-defined]

    def _move_a_few(self) -> None:
        """While a sweep waits for its guard, those who come and go move on."""
        for _ in range(self._world.dice.randint(0, 2)):
            if self._come_and_go:
                self._next_of(self._world.dice.choice(self._come_and_go))

    def _next_of(self, actor: Iterator[None]) -> None:
        try:
            next(actor)
        except StopIteration:
            self._come_and_go.remove(actor)

    def _hire(self) -> Iterator[None]:
        self._runs += 1
        kinds, weights = zip(*KINDS, strict=True)
        kind = self._world.dice.choices(kinds, weights)[0]
        hired: Generator[None] = kind(self._world, f"{actors.RUN}{self._runs}")
        return hired


def look(world: Upkeep, succession: Succession) -> None:
    """The invariants of the tables, which no call reveals; and nothing is lost from them, and nothing is back."""
    with world.subject.raw() as connection:
        tables = Tables(connection)
    audit(tables)
    succession.look(tables)
    tokens = {t: row["claim_token"] for t, row in tables.threads.items() if row["claim_token"] is not None}
    assert tokens == {t: held[0] for t, held in world.held.items()}
    assert tables.meta["reclamation_mark"] == world.journal.mark
    for t in THREADS:
        _compare(world, tables, t)
    world.check_queue()


def _compare(world: Upkeep, tables: Tables, t: str) -> None:
    """What is stored of a thread is what the journal has of it, to the last event."""
    story = world.journal.story(t)
    events = [row["seq"] for row in tables.of("event", t)]
    assert events == [record.seq for record in world.journal.readable(t, -1)], (t, events)
    history = [row["checkpoint_id"] for row in tables.of("checkpoint", t)]
    assert history == [each.id for each in story.present.history], (t, history)
    assert {row["key"] for row in tables.of("effect", t)} == story.present.effects, t
    pairs = {row["key"]: row["value"] for row in tables.of("thread_metadata", t)}
    assert pairs == story.present.metadata, (t, pairs)
    row = tables.threads.get(t)
    assert (row["tomb_first"] if row else None) == story.tomb, (t, row)


def settle(world: Upkeep, succession: Succession) -> None:
    """At the end: nothing lost, nothing twice, every history a chain of steps, as far as it is kept."""
    look(world, succession)
    world.journal.check()
    for t in THREADS:
        story = world.journal.story(t)
        cursor = max(world.journal.start(t), story.present.floor) - 1
        assert world.read(t, cursor, MANY) == world.journal.readable(t, cursor)
        for life in story.past:
            assert world.journal.refusal(t, life.last) is not None
        world.check_thread(t)
        steps = [each.snapshot.get("step", 0) for each in world.store.history(t, limit=MANY)]
        assert all(newer > older for newer, older in pairwise(steps[1:])), (t, steps)
