"""Who lives in the simulated world. Each actor is a generator that makes at most one transaction between two yields."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.checkpoints import Checkpoint, CheckpointStatus, Commit, EventDraft, PendingWrite
from engine.errors import ReplayUnavailable, StaleClaim, ThreadBusy, ThreadDeleted
from tests.simulation.world import TENANTS, THREADS, Lost, World
from tests.support.builders import STEP, TTL

if TYPE_CHECKING:
    from collections.abc import Iterator

    Actor = Iterator[None]

CRASH = 0.08
"""The chance, at each step, that an actor is gone without a word."""
JUMPS = (STEP, timedelta(seconds=1), TTL / 3, TTL, TTL * 2, -timedelta(seconds=2))


def worker(world: World, run: str) -> Actor:
    """Claims a thread, goes some steps from where it stands, and releases it; or dies on the way."""
    t, tenant = world.dice.choice(THREADS), world.dice.choice(TENANTS)
    try:
        token = world.claim(t, run, tenant).token
    except (ThreadBusy, Lost):
        return  # Somebody else has it, or the answer never came.
    for _ in range(world.dice.randint(1, 8)):
        yield
        if world.chance(CRASH):
            return
        try:
            yield from one_step(world, t, run, token)
        except StaleClaim:
            return  # Taken over: this run is done for.
    yield
    try:
        world.release(t, token)
    except Lost:
        return  # Released or not: the lease ends either way.


def one_step(world: World, t: str, run: str, token: int) -> Actor:
    """Read where the thread stands, then commit the step after it, until it is known to have landed.

    Only the holder writes: a CheckpointConflict can mean nothing but a defect, and passes through.
    """
    name = f"{run}/{world.fresh()}"
    for _ in range(3):
        stored = world.store.latest(t)
        if stored is not None and stored.checkpoint.id == name:
            return
        yield
        try:
            if world.chance(0.25):
                world.renew(t, token)
            world.commit(t, _step(world, t, name, token, None if stored is None else stored.checkpoint))
        except Lost:
            yield
        else:
            return


def _step(world: World, t: str, name: str, token: int, before: Checkpoint | None) -> Commit:
    """The commit of the step after `before`: sometimes only events or writes of it."""
    events = [
        EventDraft("step", {"n": world.fresh()}, name, name)
        for _ in range(world.dice.choice((0, 1, 1, 2, 5)))
    ]
    if before is not None and world.chance(0.3):
        return Commit(token, writes=[PendingWrite(before.id, name, "node", None)], events=events)
    step = 1 if before is None else before.snapshot["step"] + 1
    parent = None if before is None else before.id
    status = CheckpointStatus.COMPLETED if world.chance(0.2) else CheckpointStatus.RUNNING
    made = Checkpoint(name, t, name, status, {"step": step}, parent, fencing_token=token)
    return Commit(token, checkpoint=made, writes=[PendingWrite(name, "task", "node", step)], events=events)


def deleter(world: World, run: str) -> Actor:
    """Claims a thread to delete it; or dies in between, and somebody takes the thread over."""
    t = world.dice.choice(THREADS)
    try:
        token = world.claim(t, run, world.dice.choice(TENANTS)).token
        yield
        if not world.chance(CRASH):
            world.delete(t, token)
    except (ThreadBusy, StaleClaim, Lost):
        return  # The journal knows what was done by then.


def compactor(world: World) -> Actor:
    """Drops the start of some log, over and over."""
    while True:
        t = world.dice.choice(THREADS)
        start = world.journal.story(t).start
        with suppress(Lost):  # Compacted or not: the floor is read when it matters.
            world.compact(t, start + world.dice.randint(-3, 12))
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
