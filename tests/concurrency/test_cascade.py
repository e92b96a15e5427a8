"""A tree goes while its writers keep trying: cases 147, 151 and 152 of checkpoints-operations.md under fire."""

from __future__ import annotations

import itertools
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine import open_store
from engine.checkpoints import Commit, Fence, Origin, delete_thread_cascade
from engine.errors import StaleClaim, ThreadBusy
from tests.support.background import LIMIT, background, until
from tests.support.builders import TTL, ck, claim, emit, ev
from tests.support.cascades import Recorder, alive, cascade, check_only_tombstones, marked
from tests.support.processes import Program
from tests.support.together import errors, together, values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from engine.checkpoints import CascadeResult, Checkpointer
    from tests.support.harness import Harness

SIZE = 200
WRITERS = 4
PACE = 0.002
"""Seconds between two attempts, so that there is a machine left for the deleter."""
PATIENCE = 60.0
SHORT = timedelta(seconds=3)
"""The lease of a deleter that is going to be killed."""


def tree_of(size: int) -> dict[str, str | None]:
    """A tree of that many threads, each with up to three children: the root is t000."""
    names = [f"t{n:03}" for n in range(size)]
    return {name: names[(n - 1) // 3] if n else None for n, name in enumerate(names)}


@dataclass(slots=True)
class Late:
    """A writer of one descendant that nobody told: it goes on with the token it had."""

    thread_id: str
    token: int
    parent: str | None
    landed: int = 0
    refused: int = 0
    after_refusal: int = 0
    latest: str = "c1"

    def write(self, store: Checkpointer) -> None:
        """One more attempt; once it was turned away it tries everything that a claim allows."""
        calls = [self._event, self._checkpoint, *([self._renew, self._delete] if self.refused else [])]
        try:
            calls[(self.landed + self.refused) % len(calls)](store)
        except StaleClaim:
            self.refused += 1
        else:
            self.landed += 1
            self.after_refusal += self.refused > 0

    def _event(self, store: Checkpointer) -> None:
        store.commit(self.thread_id, Commit(self.token, events=[ev("late")]))

    def _renew(self, store: Checkpointer) -> None:
        store.renew(self.thread_id, self.token, TTL)

    def _delete(self, store: Checkpointer) -> None:
        store.delete_thread(self.thread_id, self.token)

    def _checkpoint(self, store: Checkpointer) -> None:
        name = f"late-{self.landed}-{self.refused}"
        origin = None if self.parent is None else Origin(self.parent)
        made = ck(name, self.latest, t=self.thread_id, origin=origin)
        store.commit(self.thread_id, Commit(self.token, checkpoint=made))
        self.latest = name


def planted(store: Checkpointer, tree: dict[str, str | None], ttl: timedelta = TTL) -> list[Late]:
    """The tree, each thread held by a writer whose claim nobody gives back."""
    writers = []
    for t, parent in tree.items():
        token = claim(store, t, f"writer of {t}", ttl=ttl).token
        origin = None if parent is None else Origin(parent)
        store.commit(t, Commit(token, checkpoint=ck("c1", t=t, origin=origin), events=[ev("made")]))
        writers.append(Late(t, token, parent))
    return writers


class Fire:
    """The writers at work, a few real threads for all of them, until they are called off."""

    def __init__(self, stores: Sequence[Checkpointer], writers: Sequence[Late]) -> None:
        self._stop = threading.Event()
        shares = [writers[n :: len(stores)] for n in range(len(stores))]
        self._running = [background(self._go_on, *each) for each in zip(stores, shares, strict=True)]

    def _go_on(self, store: Checkpointer, writers: Sequence[Late]) -> None:
        for writer in itertools.cycle(writers):
            if self._stop.is_set():
                return
            writer.write(store)
            time.sleep(PACE)

    def cease(self) -> None:
        """End; the first error that is no refusal is raised."""
        self._stop.set()
        for running in self._running:
            running.result(PATIENCE)


@contextmanager
def under_fire(harness: Harness, writers: Sequence[Late], **options: None) -> Iterator[None]:
    """Every writer goes on trying meanwhile, through stores of their own."""
    fire = Fire([harness.open(**options).checkpoints for _ in range(WRITERS)], writers)
    try:
        yield
    finally:
        fire.cease()


def check_all_refused(store: Checkpointer, writers: Sequence[Late]) -> None:
    """Each was turned away, none got through after that, and none gets through now."""
    for writer in writers:
        assert writer.refused > 0, writer
        assert writer.after_refusal == 0, writer
        with pytest.raises(StaleClaim) as caught:
            store.commit(writer.thread_id, Commit(writer.token, events=[ev("too late")]))
        assert caught.value == StaleClaim(writer.thread_id, writer.token, None)


def all_were_turned_away(writers: Sequence[Late]) -> bool:
    """Whether every writer met at least two refusals, so that some came after the tree was gone."""
    return all(writer.refused >= 2 for writer in writers)


def test_ops_147_a_tree_of_200_goes_while_its_writers_keep_trying(harness: Harness) -> None:
    store = harness.checkpoints
    tree = tree_of(SIZE)
    writers = planted(store, tree)
    harness.advance(TTL)
    with under_fire(harness, writers):
        until(lambda: sum(writer.landed for writer in writers) > 20, "late writes land before the delete")
        deleted = cascade(store, "t000").deleted
        until(lambda: all_were_turned_away(writers), "every writer is refused", limit=PATIENCE)
    assert sorted(deleted) == sorted(tree)
    assert deleted[-1] == "t000"
    places = {t: place for place, t in enumerate(deleted)}
    assert all(parent is None or places[t] < places[parent] for t, parent in tree.items())
    check_all_refused(store, writers)
    assert alive(store, tree) == set()
    check_only_tombstones(harness, tree)


def doomed(url: str) -> None:
    """A process that deletes the tree as slowly as a big one, and is killed on the way."""
    with open_store(url) as store:
        watched = Recorder(store.checkpoints)
        watched.before("delete_thread", *[lambda: time.sleep(0.01)] * SIZE)
        delete_thread_cascade(watched.checkpoints, "t000", run_id="doomed", tenant=None, ttl=SHORT)


def when_lapsed(store: Checkpointer) -> CascadeResult:
    """Delete what is left of the tree as soon as the dead deleter's claims run out."""
    deadline = time.monotonic() + LIMIT
    while True:
        try:
            return delete_thread_cascade(store, "t000", run_id="second", tenant=None)
        except ThreadBusy:
            assert time.monotonic() < deadline, "the claims never lapsed"
            time.sleep(0.05)


def test_ops_151_killed_halfway_a_second_call_finishes(harness: Harness) -> None:
    store = harness.open(clock=None).checkpoints
    tree = tree_of(SIZE)
    writers = planted(store, tree, ttl=timedelta(milliseconds=1))
    with under_fire(harness, writers, clock=None):
        program = Program(doomed, harness.url)
        half = SIZE // 3
        until(
            lambda: program.lives() and len(store.tombstones(limit=SIZE)) >= half,
            "a third is gone",
            limit=PATIENCE,
        )
        program.kill()
        gone = len(store.tombstones(limit=SIZE))
        assert half <= gone < SIZE - 20
        assert marked(store, "t000")

        deleted = when_lapsed(store).deleted
        assert len(deleted) == SIZE - gone
        until(lambda: all_were_turned_away(writers), "every writer is refused", limit=PATIENCE)
    check_all_refused(store, writers)
    assert alive(store, tree) == set()
    check_only_tombstones(harness, tree)


def test_ops_152_a_root_that_is_taken_over_keeps_what_is_left(harness: Harness) -> None:
    store = harness.checkpoints
    tree = tree_of(60)
    writers = planted(store, tree)
    harness.advance(TTL)
    watched, taken = Recorder(store), list[int]()

    def take_over() -> None:
        harness.advance(TTL)
        taken.append(claim(harness.sibling().checkpoints, "t000", "successor").token)

    with under_fire(harness, writers):
        watched.before("delete_thread", *[lambda: None] * 20, take_over)
        with pytest.raises(StaleClaim) as caught:
            cascade(watched.checkpoints, "t000")
        assert (caught.value.thread_id, caught.value.current) == ("t000", taken[0])
        left = alive(store, tree)
        assert len(left) == 40
        time.sleep(0.2)
        assert alive(store, tree) == left
        store.release("t000", taken[0])
        assert set(cascade(store, "t000", run_id="second").deleted) == left
        until(lambda: all_were_turned_away(writers), "every writer is refused", limit=PATIENCE)
    check_all_refused(store, writers)
    check_only_tombstones(harness, tree)


def test_ops_150_of_cascades_at_once_one_goes_through(harness: Harness) -> None:
    tree = tree_of(40)
    planted(harness.checkpoints, tree)
    harness.advance(TTL)
    stores = [harness.sibling().checkpoints for _ in range(4)]
    calls = [lambda n=n, each=each: cascade(each, "t000", run_id=f"d{n}") for n, each in enumerate(stores)]
    outcomes = together(*calls, within=PATIENCE)
    assert all(isinstance(error, ThreadBusy) for error in errors(outcomes))
    deleted = list(itertools.chain(*(result.deleted for result in values(outcomes))))
    # One that came when all was gone succeeds as for an unknown thread.
    assert sorted(t for t in deleted if t != "t000") == sorted(tree)[1:]
    assert "t000" in deleted
    check_only_tombstones(harness, tree)


def test_ops_147_a_child_that_is_born_meanwhile_goes_or_lives_whole(harness: Harness) -> None:
    """New children under the root's fence: each is in the tree that goes, or refused; none is left behind."""
    store = harness.checkpoints
    planted(store, tree_of(20))
    harness.advance(TTL)
    root = claim(store, "t000", "the parent's run").token
    harness.advance(TTL)
    born, over = list[str](), threading.Event()
    other = harness.sibling().checkpoints

    def bear() -> None:
        for number in itertools.count():
            name = f"new-{number:04}"
            token = claim(other, name).token
            made = ck("c1", t=name, origin=Origin("t000"))
            try:
                other.commit(name, Commit(token, made, events=[ev("born")], fence=Fence("t000", root)))
            except StaleClaim:
                return  # The root is taken: no child can be born under it any more.
            finally:
                other.release(name, token)
            born.append(name)
            if over.is_set():
                return

    bearing: Future[None] = background(bear)
    until(lambda: len(born) > 5, "children are born")
    deleted = cascade(store, "t000").deleted
    bearing.result(LIMIT)
    over.set()
    assert set(born) <= set(deleted)
    assert alive(store, born) == set()
    assert store.children("t000") == []
    emit(store, "unrelated", claim(store, "unrelated").token, "alive")
