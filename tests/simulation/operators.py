"""Who keeps the simulated world in order: sweeps, prunes, deletes, and follows the log of everything."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from engine.checkpoints import (
    ChildRetention,
    RetentionPolicy,
    SweepPolicy,
    delete_thread_cascade,
    retain_children,
)
from engine.errors import CommitUnknown, StaleClaim, ThreadBusy
from tests.simulation.actors import CRASH, RUN
from tests.simulation.stepped import Stepped
from tests.simulation.world import TENANTS, THREADS, Lost
from tests.support.builders import STEP, TTL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from engine.checkpoints import EventRecord
    from tests.simulation.journal import Life
    from tests.simulation.upkeep import Upkeep
    from tests.simulation.world import World

    Actor = Iterator[None]

AGES = (None, TTL / 3, TTL * 4)
TOMBSTONE_AGES = (None, STEP, STEP, TTL / 3)
LAST_READS = 100
"""Reads that the follower needs at most to come to the end of a run."""


def deleter(world: World, run: str) -> Actor:
    """Claims a thread without children to delete it; or dies in between, and somebody takes the thread over."""
    t = world.dice.choice([each for each in THREADS if not world.journal.brood(each)])
    try:
        token = world.claim(t, f"delete/{run}", world.dice.choice(TENANTS)).token
        yield
        if not world.chance(CRASH):
            world.delete(t, token)
    except (ThreadBusy, StaleClaim, Lost):
        return  # The journal knows what was done by then.


def feller(world: Upkeep, run: str) -> Actor:
    """Deletes a whole tree, one transaction at a time; may die on the way, and another goes on from there."""
    t = world.dice.choice([each for each in THREADS if world.journal.brood(each)] or THREADS)
    if world.chance(0.5):
        with suppress(Lost):  # The tree goes all the same.
            world.ask("cancel_thread", t)
        yield
    walk = Stepped(world, fenced_by=t)
    steps = walk.run(
        lambda store: delete_thread_cascade(store, t, run_id=f"fell/{run}", tenant=None, ttl=TTL)
    )
    yield from _until_over(world, "cascade", steps)


def forgetful(world: World, run: str) -> Actor:
    """A run that lets settled children of its thread go, under its claim."""
    t = world.dice.choice([each for each in THREADS if world.journal.brood(each)] or THREADS)
    try:
        token = world.claim(t, f"{RUN}of-children-{run}", None).token
    except (ThreadBusy, Lost):
        return  # Somebody else has it, or the claim ends by itself.
    yield
    policy = ChildRetention(keep_last=world.dice.randint(0, 1))
    walk = Stepped(world, fenced_by=t, token=token)
    yield from _until_over(
        world, "retention", walk.run(lambda store: retain_children(store, t, token, policy))
    )


def _until_over(world: World, what: str, steps: Iterator[None]) -> Actor:
    """Go on until the walk ends by itself, is refused, does not hear the answer, or crashes."""
    try:
        for _ in steps:
            yield
            if world.chance(CRASH / 3):
                world.seen[f"{what}: crashed"] += 1
                return
    except (ThreadBusy, StaleClaim, CommitUnknown) as stopped:
        world.seen[f"{what}: {type(stopped).__name__}"] += 1
    else:
        world.seen[f"{what}: done"] += 1
    finally:
        steps.close()  # type: ignore[attr-defined]


def pruner(world: Upkeep) -> Actor:
    """Applies some policy to some thread, over and over."""
    while True:
        with suppress(Lost):  # Pruned or not: the journal knows.
            world.prune(world.dice.choice(THREADS), _policy(world))
        yield


def sweeper(world: Upkeep) -> Actor:
    """Passes over the whole store, page by page; from the start again where it did not hear an answer."""
    while True:
        age = world.dice.choice(TOMBSTONE_AGES)
        policy = SweepPolicy(_policy(world), age, batch_size=world.dice.randint(1, 5))
        after, more = None, True
        while more:
            try:
                after = world.sweep(policy, _guarded(world), after).next
                more = after is not None
            except Lost:
                more = False
            yield


def _policy(world: World) -> RetentionPolicy:
    return RetentionPolicy(
        max_age=world.dice.choice(AGES),
        max_checkpoints=world.dice.choice((None, None, 1, 2)),
        max_events=world.dice.choice((None, None, 2, 6)),
    )


def _guarded(world: World) -> Mapping[str, frozenset[str]]:
    """Now and then a thread with one of its runs."""
    if world.chance(0.7):
        return {}
    t = world.dice.choice(THREADS)
    return {t: frozenset(list(world.journal.life(t).runs)[-2:-1])}


class Follower:
    """Reads the events of every thread in the order in which they were committed, through crashes and restarts.

    What it was not given must have been dropped or deleted by the time it was passed over.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._place = world.store.tail().position
        self._next = 0

    def follow(self) -> Actor:
        """For ever."""
        while True:
            yield
            self.read(self._world.dice.randint(1, 20))

    def read(self, limit: int) -> int:
        """At most so many; how many came."""
        page = self._world.store.tail(after=self._place).read(limit)
        for place, record in page:
            self._pass_to(record)
            self._place = place
        self._world.seen["follow: events"] += len(page)
        return len(page)

    def finish(self) -> None:
        """To the end of the log: what is left of it then is gone."""
        reads = 0
        while self.read(500):
            reads += 1
            assert reads < LAST_READS
        for life, record in self._world.journal.log[self._next :]:
            assert not life.has(record.seq), f"{record} was never delivered"

    def _pass_to(self, record: EventRecord) -> None:
        log: list[tuple[Life, EventRecord]] = self._world.journal.log
        while log[self._next][1] != record:
            life, passed = log[self._next]
            assert not life.has(passed.seq), f"{passed} was passed over for {record}"
            self._next += 1
            assert self._next < len(log), f"{record} was never committed, or came twice"
        self._next += 1
