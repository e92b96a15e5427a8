"""Who works in the simulated world. Each actor is a generator that makes at most one transaction between two yields."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    Commit,
    EffectDraft,
    EventDraft,
    Fence,
    Origin,
    PendingWrite,
)
from engine.errors import ReplayUnavailable, StaleClaim, StaleLease, ThreadBusy, ThreadDeleted
from tests.simulation.world import PARENTS, TENANTS, THREADS, Lost
from tests.support.builders import STEP, TTL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.checkpoints import QueueEntry
    from tests.simulation.upkeep import Upkeep
    from tests.simulation.world import World

    Actor = Iterator[None]

CRASH = 0.06
"""The chance, at each step, that an actor is gone without a word."""
JUMPS = (STEP, timedelta(seconds=1), TTL / 3, TTL, TTL * 2, -timedelta(seconds=2))
RUN = "run-"
"""How the name of every run begins that may have children of its own."""


def worker(world: World, run: str) -> Actor:
    """Claims a thread, goes some steps from where it stands, and releases it; or dies on the way."""
    yield from work(world, _place_to_work(world), run)


def work(world: World, t: str, run: str) -> Actor:
    """The same on that thread. A child's first step is fenced by the run that its parent had by then."""
    fence = _parent_run(world, t)
    try:
        token = world.claim(t, run, world.dice.choice(TENANTS)).token
        for _ in range(world.dice.randint(1, 8)):
            yield
            if world.chance(CRASH):
                return
            yield from _one_step(world, t, run, token, fence)
        yield
        world.release(t, token)
    except (ThreadBusy, StaleClaim, ThreadDeleted, Lost):
        return  # Somebody else has it, or it is on its way out, or who knows: the lease ends either way.


def _place_to_work(world: World) -> str:
    """Any thread there is, or that a run is there to adopt."""
    t: str = world.dice.choice(THREADS)
    while not _may_begin(world, t):
        t = PARENTS[t] or ""
    return t


def _may_begin(world: World, t: str) -> bool:
    there = PARENTS[t] is None or world.journal.life(t).latest is not None
    return there or _parent_run(world, t) is not None


def _parent_run(world: World, t: str) -> Fence | None:
    """The claim of a run on the thread's parent; nobody who deletes the parent is one."""
    parent = PARENTS[t]
    if parent is None or parent not in world.held or not world.held[parent][1].startswith(RUN):
        return None
    return Fence(parent, world.held[parent][0])


def _one_step(world: World, t: str, run: str, token: int, fence: Fence | None) -> Actor:
    """Read where the thread stands, then commit the step after it, until it is known to have landed.

    Only the holder writes: a CheckpointConflict can mean nothing but a defect, and passes through.
    """
    name = f"{run}/{world.fresh()}"
    for _ in range(3):
        stored = world.store.latest(t)
        latest = None if stored is None else stored.checkpoint
        if latest is not None and latest.id == name:
            return
        yield
        if latest is None and PARENTS[t] is not None and fence is None:
            raise Lost  # Nobody is there to adopt it.
        try:
            if world.chance(0.25):
                world.renew(t, token)
                yield
            world.commit(t, _step(world, t, run, name, token, latest, None if latest else fence))
        except Lost:
            yield
        else:
            return


def _step(
    world: World, t: str, run: str, name: str, token: int, before: Checkpoint | None, fence: Fence | None
) -> Commit:
    """The commit of the step after `before`: sometimes only events or writes of it."""
    events = [
        EventDraft("step", {"n": world.fresh()}, run, name) for _ in range(world.dice.choice((0, 1, 1, 2, 5)))
    ]
    if before is not None and world.chance(0.3):
        return Commit(token, writes=[PendingWrite(before.id, name, "node", None)], events=events)
    step = 1 if before is None else before.snapshot.get("step", 0) + 1
    parent = PARENTS[t]
    made = Checkpoint(
        name,
        t,
        run,
        CheckpointStatus.COMPLETED if world.chance(0.2) else CheckpointStatus.RUNNING,
        {"step": step},
        None if before is None else before.id,
        fencing_token=token,
        origin=None if parent is None else Origin(parent),
    )
    writes = [PendingWrite(name, "task", "node", step)]
    effects = [EffectDraft(name, step)] if world.chance(0.3) else []
    metadata = {"step": str(step), run[-1]: run} if world.chance(0.3) else None
    return Commit(token, made, writes, events, effects, metadata, fence)


def caller(world: Upkeep, _run: str) -> Actor:
    """Wishes for a run of some thread, and now and then thinks better of it."""
    with suppress(Lost):  # Wished or not: it was only a wish.
        entry = world.enqueue(world.dice.choice(THREADS), world.dice.randint(1, 3))
        yield
        if world.chance(0.15):
            world.ask("cancel", entry)


def hand(world: Upkeep, run: str) -> Actor:
    """A worker of the queue: leases an entry, records its run, and only then touches the thread."""
    with suppress(Lost, StaleLease):  # The lease ends, or has: another worker goes on with the entry.
        entry: QueueEntry | None = world.ask("lease", run, TTL)
        if entry is None:
            return
        yield
        found = world.store.latest_of_runs(entry.thread_id, entry.run_ids)
        if found is not None and found.status is not CheckpointStatus.RUNNING:
            world.ask("complete", entry.id, entry.lease_token)
            return
        world.ask("record_run", entry.id, entry.lease_token, run)
        yield
        if _may_begin(world, entry.thread_id):
            yield from work(world, entry.thread_id, run)
        yield
        yield from _finish(world, entry)


def _finish(world: Upkeep, entry: QueueEntry) -> Actor:
    """Extends the lease for a while, says how it went, or is gone."""
    if world.chance(CRASH * 3):
        return
    if world.chance(0.4):
        world.ask("extend", entry.id, entry.lease_token, TTL)
        yield
    verb = world.dice.choice(("complete", "retry", "retry", "kill"))
    more = {"complete": (), "retry": (STEP,), "kill": ("it broke",)}[verb]
    world.ask(verb, entry.id, entry.lease_token, *more)


def compactor(world: World) -> Actor:
    """Drops the start of some log, over and over."""
    while True:
        t = world.dice.choice(THREADS)
        with suppress(Lost):  # Compacted or not: the floor is read when it matters.
            world.compact(t, world.journal.start(t) + world.dice.randint(-3, 12))
        yield


def reader(world: World) -> Actor:
    """Follows one thread for ever; what it has must be a log without a gap that nobody told it about.

    That each answer is right the world sees; here it is that answers, strung together, are.
    """
    t, cursor, expected = world.dice.choice(THREADS), 0, None
    while True:
        yield
        try:
            records = world.read(t, cursor, world.dice.randint(1, 4))
        except ReplayUnavailable as gap:
            cursor, expected = gap.earliest_seq - 1, gap.earliest_seq
        except ThreadDeleted:
            cursor, expected = 0, None
        else:
            for record in records:
                assert expected in (None, record.seq), f"{record.seq} came, {expected} was next"
                expected = record.seq + 1
            cursor = records[-1].seq if records else cursor


def clock(world: World) -> Actor:
    """Time passes, now and then past a lease's end, and is sometimes set back."""
    while True:
        world.advance(world.dice.choice(JUMPS))
        yield


def restarter(world: World) -> Actor:
    """Every store on the storage ends and begins again."""
    while True:
        if world.chance(0.05):
            world.reopen()
        yield
