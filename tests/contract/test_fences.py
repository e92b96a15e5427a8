"""Fences by another thread's claim: cases 43 to 50 of checkpoints.md 4.3."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.checkpoints import Commit, Fence
from engine.errors import StaleClaim
from tests.support.builders import TTL, chain, ck, claim, emit, ev, fresh_id, latest_id, seqs, task_ids, wr
from tests.support.refusals import busy, named, refused
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer, EventRecord
    from tests.support.harness import Harness

ROUNDS = 12
"""How often the race of case 49 is run."""
MOST_COMMITS = 1000
"""Where a race gives up waiting for its takeover."""
HEAD_START = 0.02
"""Seconds at most by which a takeover waits for the commits to be under way."""
EVENTS = 20
"""In each commit of a race, so that there is time between its checks and its end."""
PAUSE = 0.4
"""Seconds for which a transaction is held open where two of them must overlap."""


@dataclass(frozen=True, slots=True)
class Family:
    """A child thread and the parent whose claim fences it."""

    store: Checkpointer
    child: str
    parent: str
    child_token: int
    parent_token: int

    def commit(self, **content: Any) -> list[EventRecord]:
        """A commit on the child, fenced by the parent's first token."""
        fence = Fence(self.parent, self.parent_token)
        return self.store.commit(self.child, Commit(self.child_token, fence=fence, **content))

    def stale_fence(self, current: int | None) -> StaleClaim:
        """The refusal that names the parent."""
        return StaleClaim(self.parent, self.parent_token, current)


def family(harness: Harness) -> Family:
    """Both threads claimed."""
    store, child, parent = harness.checkpoints, fresh_id(), fresh_id()
    child_token = claim(store, child, "child", ttl=100 * TTL).token
    return Family(store, child, parent, child_token, claim(store, parent, "parent").token)


def parent_taken_over(harness: Harness) -> tuple[Family, int]:
    """The parent's claim lapsed and was replaced; its new token."""
    members = family(harness)
    harness.advance(TTL)
    return members, claim(members.store, members.parent, "rival").token


def test_core_43_current_fence(harness: Harness) -> None:
    members = family(harness)
    (record,) = members.commit(checkpoint=ck("k1", t=members.child), events=[ev("a")])
    assert (record.seq, record.fencing_token) == (1, members.child_token)
    assert latest_id(members.store, members.child) == "k1"
    assert members.store.latest(members.parent) is None


def test_core_43_fence_naming_the_own_thread(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    assert len(store.commit(t, Commit(token, events=[ev("a")], fence=Fence(t, token)))) == 1
    other = Commit(token, events=[ev("b")], fence=Fence(t, token + 1))
    refused(StaleClaim(t, token + 1, token), store.commit, t, other)
    assert seqs(store, t) == [1]


def test_core_44_replaced_fence_writes_nothing(harness: Harness) -> None:
    members, rival = parent_taken_over(harness)
    store, child = members.store, members.child
    emit(store, child, members.child_token, "before")
    content = {"checkpoint": ck("k1", t=child), "writes": [wr("k1", "0.0")], "events": [ev("lost")]}
    refused(members.stale_fence(rival), members.commit, **content)
    assert store.latest(child) is None
    assert seqs(store, child) == [1]
    assert emit(store, child, members.child_token, "next") == [2]


def test_core_45_released_fence(harness: Harness) -> None:
    members = family(harness)
    members.store.release(members.parent, members.parent_token)
    refused(members.stale_fence(None), members.commit, events=[ev("a")])
    assert seqs(members.store, members.child) == []


def test_core_45_fence_released_on_a_thread_that_goes_on(harness: Harness) -> None:
    members = family(harness)
    chain(members.store, members.parent, members.parent_token, ["p1"])
    members.store.release(members.parent, members.parent_token)
    refused(members.stale_fence(None), members.commit, events=[ev("a")])
    assert seqs(members.store, members.child) == []


def test_core_45_fence_of_an_unknown_thread(harness: Harness) -> None:
    store, child, nobody = harness.checkpoints, fresh_id(), fresh_id()
    token = claim(store, child).token
    fenced = Commit(token, events=[ev("a")], fence=Fence(nobody, token))
    refused(StaleClaim(nobody, token, None), store.commit, child, fenced)
    assert seqs(store, child) == []


def test_core_46_own_claim_is_judged_before_the_fence(harness: Harness) -> None:
    store, child, parent = harness.checkpoints, fresh_id(), fresh_id()
    members = Family(store, child, parent, claim(store, child).token, claim(store, parent).token)
    harness.advance(TTL)
    replaced = claim(store, child, "second").token
    claim(store, parent, "second")
    refused(StaleClaim(child, members.child_token, replaced), members.commit, events=[ev("a")])
    assert seqs(store, child) == []


def test_core_47_fence_is_judged_before_the_parent_checkpoint(harness: Harness) -> None:
    members, rival = parent_taken_over(harness)
    chain(members.store, members.child, members.child_token, ["k1"])
    refused(members.stale_fence(rival), members.commit, checkpoint=ck("k2", "nope", t=members.child))
    assert latest_id(members.store, members.child) == "k1"


def test_core_48_lapsed_but_unreplaced_fence_holds(harness: Harness) -> None:
    members = family(harness)
    harness.advance(2 * TTL)
    assert [record.seq for record in members.commit(events=[ev("a")])] == [1]


@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_core_49_no_fenced_commit_lands_after_the_takeover(harness: Harness, round_number: int) -> None:
    members = family(harness)
    harness.advance(TTL)
    delay = random.Random(round_number).uniform(0, HEAD_START)

    def write() -> tuple[int, StaleClaim]:
        for landed in range(MOST_COMMITS):
            try:
                members.commit(events=[ev("fenced")] * EVENTS)
            except StaleClaim as refusal:
                return landed, refusal
        raise AssertionError(f"no takeover within {MOST_COMMITS} commits")

    def take_over() -> tuple[int, list[int]]:
        time.sleep(delay)
        rival = claim(members.store, members.parent, "rival").token
        return rival, seqs(members.store, members.child)

    (landed, refusal), (rival, seen_at_takeover) = all_succeeded(together(write, take_over))
    assert refusal == members.stale_fence(rival)
    assert seqs(members.store, members.child) == seen_at_takeover == list(range(1, EVENTS * landed + 1))
    refused(members.stale_fence(rival), members.commit, events=[ev("later")])


def test_core_49_takeover_waits_for_a_fenced_commit(postgres_harness: Harness) -> None:
    members = family(postgres_harness)
    postgres_harness.advance(TTL)
    with postgres_harness.raw() as connection:
        connection.execute(text(LINGER))

    def take_over() -> tuple[int, list[int]]:
        time.sleep(PAUSE / 2)
        rival = claim(members.store, members.parent, "rival").token
        return rival, seqs(members.store, members.child)

    commit = partial(members.commit, events=[ev("slow", kind="lingering")])
    landed, (rival, seen_at_takeover) = all_succeeded(together(commit, take_over))
    assert [record.seq for record in landed] == seen_at_takeover == [1]
    refused(members.stale_fence(rival), members.commit, events=[ev("later")])


def test_core_49_fenced_commit_waits_for_a_takeover(postgres_harness: Harness) -> None:
    members = family(postgres_harness)
    rival = members.parent_token + 100

    def take_over() -> None:
        with postgres_harness.raw() as connection:
            change = text("UPDATE thread SET claim_token = :rival WHERE thread_id = :t")
            connection.execute(change, {"rival": rival, "t": members.parent})
            time.sleep(PAUSE)

    def write() -> None:
        time.sleep(PAUSE / 2)
        refused(members.stale_fence(rival), members.commit, events=[ev("late")])

    all_succeeded(together(take_over, write))
    assert seqs(members.store, members.child) == []


def test_core_50_fenced_deletion(harness: Harness) -> None:
    members = family(harness)
    store, child = members.store, members.child
    chain(store, child, members.child_token, ["k1"])
    store.delete_thread(child, members.child_token, fence=Fence(members.parent, members.parent_token))
    assert store.latest(child) is None
    assert seqs(store, child) == []
    assert claim(store, child, "again").token > members.parent_token
    busy(members.parent, None, named("parent"), claim, store, members.parent, "other")


def test_core_50_deletion_behind_a_stale_fence(harness: Harness) -> None:
    members, rival = parent_taken_over(harness)
    store, child, token = members.store, members.child, members.child_token
    chain(store, child, token, ["k1"])
    store.commit(child, Commit(token, writes=[wr("k1", "0.0")]))

    fence = Fence(members.parent, members.parent_token)
    refused(members.stale_fence(rival), store.delete_thread, child, token, fence=fence)

    assert latest_id(store, child) == "k1"
    assert task_ids(store, child) == ["0.0"]
    assert seqs(store, child) == [1]
    busy(child, "k1", named("child"), claim, store, child, "other")
    assert emit(store, child, token, "next") == [2]


def test_core_50_deletion_with_both_stale_names_the_child(harness: Harness) -> None:
    members, _ = parent_taken_over(harness)
    store, child = members.store, members.child
    harness.advance(100 * TTL)
    replaced = claim(store, child, "second").token
    fence = Fence(members.parent, members.parent_token)
    stale = StaleClaim(child, members.child_token, replaced)
    refused(stale, store.delete_thread, child, members.child_token, fence=fence)


LINGER = f"""
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_sleep({PAUSE}); RETURN NEW; END $$;
    CREATE TRIGGER linger BEFORE INSERT ON event FOR EACH ROW
    WHEN (NEW.kind = 'lingering') EXECUTE FUNCTION linger()
    """
"""Holds a commit open, after its checks, for as long as `PAUSE` says."""
