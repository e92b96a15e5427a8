"""Rolls the dice for who moves next, and looks at the whole store when the run is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.property.audit import Tables, audit
from tests.simulation import actors
from tests.simulation.world import THREADS, World
from tests.support.builders import MANY

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from tests.property.subjects import Subject

WORKERS = 4
READERS = 3
AUDITED = 20
"""How many transactions lie between two looks at the tables."""


def simulate(subject: Subject, seed: int, steps: int) -> Counter[str]:
    """One run of so many steps; what happened. A failure tells the seed, the step and the last transactions."""
    subject.wipe()
    world = World(subject, seed)
    cast = _Cast(world)
    step = 0
    try:
        for step in range(steps):
            cast.move()
            if step % AUDITED == 0:
                look(world)
        settle(world)
    except Exception as error:
        error.add_note(f"seed {seed}, step {step}, after:\n  " + "\n  ".join(world.trace))
        raise
    return world.seen


class _Cast:
    """Those who stay, and as many workers as fit; who has gone is replaced by another run."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._stay = [actors.compactor(world), actors.clock(world), actors.restarter(world)]
        self._stay += [actors.reader(world) for _ in range(READERS)]
        self._come_and_go: list[Iterator[None]] = []
        self._runs = 0

    def move(self) -> None:
        """One actor makes its next transaction."""
        while len(self._come_and_go) < WORKERS:
            self._come_and_go.append(self._hire())
        actor = self._world.dice.choice(self._stay + self._come_and_go * 3)
        try:
            next(actor)
        except StopIteration:
            self._come_and_go.remove(actor)

    def _hire(self) -> Iterator[None]:
        self._runs += 1
        kind = actors.deleter if self._world.chance(0.08) else actors.worker
        return kind(self._world, f"run-{self._runs}")


def look(world: World) -> None:
    """The invariants of the tables, which no call reveals."""
    with world.subject.raw() as connection:
        tables = Tables(connection)
    audit(tables)
    tokens = {t: row["claim_token"] for t, row in tables.threads.items() if row["claim_token"] is not None}
    assert tokens == {t: held[0] for t, held in world.held.items()}


def settle(world: World) -> None:
    """At the end: nothing lost, nothing twice, every history one chain of steps."""
    look(world)
    world.journal.check()
    for t in THREADS:
        story = world.journal.story(t)
        cursor = max(story.start, story.present.floor) - 1
        assert world.read(t, cursor, MANY) == world.journal.readable(t, cursor)
        for life in story.past:
            assert world.journal.refusal(t, life.last) is not None
        steps = [each.snapshot["step"] for each in world.store.history(t, limit=MANY)]
        assert steps == list(range(len(steps), 0, -1)), (t, steps)
