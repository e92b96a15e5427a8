"""Sweep: cases 88 to 113 of checkpoints-operations.md 4.7, rulings 5, 27 and 70.

How much one call may cost is in test_ops_sweep_bounds.py.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import (
    Commit,
    EffectDraft,
    RetentionPolicy,
    SweepPolicy,
    SweepResult,
    ThreadQuery,
)
from engine.checkpoints.reclaim import reclaim
from engine.errors import ReadOnlyStore, ReplayUnavailable, ValidationError
from tests.support.builders import MANY, TTL, chain, ck, claim, emit, ev, fresh_id, seqs, task_ids, wr
from tests.support.refusals import refused
from tests.support.retention import (
    Noting,
    buried,
    hist,
    mark,
    nothing,
    recorded,
    state,
    sweep_through,
    three_runs,
)
from tests.support.threads import ids, put
from tests.support.together import all_succeeded, together
from tests.support.tombs import check_deleted, deleted_at, five_events_deleted, read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.checkpoints import Checkpointer
    from engine.store import Store
    from tests.support.harness import Harness

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
MILLISECOND = timedelta(milliseconds=1)
KEEP_ONE = SweepPolicy(RetentionPolicy(max_checkpoints=1))
BURY = SweepPolicy(tombstone_age=HOUR)
RACERS = 50


def five_and_a_tombstone(store: Checkpointer) -> list[str]:
    """Five threads and a tombstone among them; their ids in order."""
    for t in ("b", "e", "a", "d", "f"):
        put(store, t)
    buried(store, "c")
    return ["a", "b", "c", "d", "e", "f"]


def test_ops_88_a_pass_visits_everything_once(harness_any_clock: Harness) -> None:
    store, guard = harness_any_clock.checkpoints, Noting()
    present = five_and_a_tombstone(store)
    results = sweep_through(store, SweepPolicy(batch_size=2), guard)
    assert [result.next for result in results] == ["b", "d", None]
    assert [result.visited for result in results] == [2, 2, 2]
    assert guard.asked == [present[:2], present[2:4], present[4:]]


def test_ops_88_ids_that_hold_next_to_nothing_are_visited_too(harness_any_clock: Harness) -> None:
    """Ruling 70: a claim, a lone effect, lone events, and the id that sorts before every other."""
    store, guard = harness_any_clock.checkpoints, Noting()
    claim(store, "claimed")
    effect = EffectDraft("k", 1)
    store.commit("effect", Commit(claim(store, "effect").token, effects=[effect]))
    emit(store, "events", claim(store, "events").token, "a")
    put(store, "", "c1", run_id="first")
    put(store, "\U0010ffff")
    put(store, "child", origin="events")
    everything = ["", "child", "claimed", "effect", "events", "\U0010ffff"]
    for size in (1, 5, 6, 1000):
        results = sweep_through(store, SweepPolicy(batch_size=size), guard)
        assert sum(result.visited for result in results) == len(everything)
        assert [t for asked in guard.asked for t in asked] == everything
        guard.asked.clear()


def test_ops_89_every_pass_has_the_same_order(harness: Harness) -> None:
    store, guard = harness.checkpoints, Noting()
    present = five_and_a_tombstone(store)
    for size in (1, 2, 3, 100):
        for _ in range(2):
            sweep_through(store, SweepPolicy(batch_size=size), guard)
            assert [t for asked in guard.asked for t in asked] == present
            guard.asked.clear()


def test_ops_90_the_cursor_is_a_position(harness_any_clock: Harness) -> None:
    harness, guard = harness_any_clock, Noting()
    store = harness.checkpoints
    for t in ("a", "b", "c"):
        put(store, t)
    first = store.sweep(SweepPolicy(batch_size=2), guard)
    assert first.next == "b"
    store.delete_thread("b", claimed_again(harness, "b"))
    harness.advance(2 * HOUR)
    assert store.sweep(BURY, nothing).tombstones_reclaimed == 0
    buried(store, "b")
    harness.advance(2 * HOUR)
    assert store.sweep(BURY, nothing).tombstones_reclaimed == 1

    rest = store.sweep(SweepPolicy(batch_size=2), guard, after=first.next)
    assert (rest.next, guard.asked[1]) == (None, ["c"])


def claimed_again(harness: Harness, t: str) -> int:
    """A new token, once the last claim has lapsed."""
    harness.advance(TTL)
    return claim(harness.checkpoints, t, "again").token


@pytest.mark.parametrize("after", ["zz", "c", "\U0010ffff"])
def test_ops_91_beyond_the_last_id(harness: Harness, after: str) -> None:
    store, guard = harness.checkpoints, Noting()
    for t in ("a", "b", "c"):
        put(store, t)
    assert store.sweep(KEEP_ONE, guard, after=after) == SweepResult(None)
    assert guard.asked == []


def test_ops_91_a_cursor_no_store_can_hold(harness: Harness) -> None:
    for bad in ("\0", "\ud800", "x" * 513):
        with pytest.raises(ValidationError) as caught:
            harness.checkpoints.sweep(KEEP_ONE, nothing, after=bad)
        assert caught.value.field == "after"


def test_ops_92_the_guard_is_asked_once_and_first(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store, other = harness.checkpoints, harness.sibling().checkpoints
    for t in ("a", "b"):
        three_runs(store, t)
    seen = []

    def probe(asked: Sequence[str]) -> Mapping[str, frozenset[str]]:
        seen.append((list(asked), [len(hist(other, t)) for t in asked]))
        return {}

    result = store.sweep(KEEP_ONE, probe)
    assert seen == [(["a", "b"], [5, 5])]
    assert result == SweepResult(None, 2, checkpoints_removed=8, events_removed=8)


def test_ops_92_the_guard_may_do_as_it_likes_with_its_ids(harness: Harness) -> None:
    store = harness.checkpoints
    for t in ("a", "b"):
        three_runs(store, t)

    def greedy(asked: Sequence[str]) -> Mapping[str, frozenset[str]]:
        assert isinstance(asked, list)
        asked.clear()
        return {"unasked": frozenset({"r1"}), "a": frozenset()}

    assert store.sweep(KEEP_ONE, greedy).visited == 2
    assert hist(store, "a") == hist(store, "b") == ["c5"]


class Stop(BaseException):
    """As an interrupt or an exiting thread is: no Exception."""


@pytest.mark.parametrize("error", [ValueError("no answer"), Stop(), ReplayUnavailable("other", 1)], ids=repr)
def test_ops_93_a_guard_that_fails(harness_any_clock: Harness, error: BaseException) -> None:
    harness = harness_any_clock
    store, before = swept_later(harness)

    def failing(_asked: Sequence[str]) -> Mapping[str, frozenset[str]]:
        raise error

    policy = SweepPolicy(RetentionPolicy(max_checkpoints=1, max_events=0), tombstone_age=HOUR)
    with pytest.raises(type(error)) as caught:
        store.sweep(policy, failing)
    assert caught.value is error
    assert (state(harness, "a", "b"), mark(harness)) == before
    check_deleted(store, "x")
    assert store.sweep(policy, nothing).tombstones_reclaimed == 1


@pytest.mark.parametrize(
    "answer", [None, {"a": None}, {"b": frozenset({"\0"})}, {"a": frozenset({1})}], ids=repr
)
def test_ops_93_a_guard_whose_answer_makes_no_sense(harness: Harness, answer: object) -> None:
    store, before = swept_later(harness)
    with pytest.raises((TypeError, ValidationError)):
        store.sweep(KEEP_ONE, lambda _: answer)  # type: ignore[arg-type,return-value]
    assert (state(harness, "a", "b"), mark(harness)) == before


def swept_later(harness: Harness) -> tuple[Checkpointer, object]:
    """Two threads and an old tombstone; what they look like."""
    store = harness.checkpoints
    for t in ("a", "b"):
        three_runs(store, t)
    five_events_deleted(store, "x")
    harness.advance(2 * HOUR)
    return store, (state(harness, "a", "b"), mark(harness))


def guarding(t: str, *runs: str) -> Noting:
    """A guard that protects the runs of one thread."""
    return Noting({t: frozenset(runs)})


def test_ops_94_a_guarded_run(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    three_runs(store, t)
    result = store.sweep(KEEP_ONE, guarding(t, "r1"))
    assert hist(store, t) == ["c5", "c2"]
    refused(ReplayUnavailable(t, 5), store.events_after, t, 0, MANY)
    assert read(store, t, 4) == [5]
    assert result == SweepResult(None, 1, checkpoints_removed=3, events_removed=4)


def test_ops_95_two_guarded_runs(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    three_runs(store, t)
    store.sweep(KEEP_ONE, guarding(t, "r1", "r2"))
    assert hist(store, t) == ["c5", "c4", "c2"]


def test_ops_96_a_guarded_run_that_committed_nothing(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    three_runs(store, t)
    store.sweep(KEEP_ONE, guarding(t, "r9"))
    assert hist(store, t) == ["c5"]


def test_ops_96_a_run_guarded_in_another_thread(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    for t in ("a", "b"):
        three_runs(store, t)
    store.sweep(KEEP_ONE, guarding("b", "r1"))
    assert (hist(store, "a"), hist(store, "b")) == (["c5"], ["c5", "c2"])


def test_ops_97_an_open_entry_whatever_the_guard_says(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)
    recorded(harness.store, t, "r1")
    harness.checkpoints.sweep(KEEP_ONE, nothing)
    assert hist(harness.checkpoints, t) == ["c5", "c2"]


def test_ops_97_an_entry_that_is_recorded_while_the_guard_is_asked(harness_any_clock: Harness) -> None:
    """Open entries are read in the thread's own transaction, not with the guard."""
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)

    def slow(_asked: Sequence[str]) -> Mapping[str, frozenset[str]]:
        recorded(harness.store, t, "r1")
        return {}

    harness.checkpoints.sweep(KEEP_ONE, slow)
    assert hist(harness.checkpoints, t) == ["c5", "c2"]


def test_ops_98_guard_and_entry_together(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)
    recorded(harness.store, t, "r1")
    harness.checkpoints.sweep(KEEP_ONE, guarding(t, "r2"))
    assert hist(harness.checkpoints, t) == ["c5", "c4", "c2"]


POLICIES = {
    "count": RetentionPolicy(max_checkpoints=2),
    "age": RetentionPolicy(max_age=90 * MINUTE),
    "older than all": RetentionPolicy(max_age=MINUTE),
    "events": RetentionPolicy(max_events=3),
    "no events": RetentionPolicy(max_events=0),
    "count and age": RetentionPolicy(max_age=150 * MINUTE, max_checkpoints=2),
    "everything at once": RetentionPolicy(max_age=90 * MINUTE, max_checkpoints=3, max_events=1),
    "nothing": RetentionPolicy.KEEP_ALL,
    "nothing that is there": RetentionPolicy(max_age=timedelta.max, max_checkpoints=2**70, max_events=2**70),
}


SHAPES = ("chain", "checkpoints", "events", "short")


def test_ops_99_a_sweep_does_what_prune_does(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    names = [(policy, shape) for policy in POLICIES for shape in SHAPES]
    swept, pruned = ([f"{kind}-{policy}-{shape}" for policy, shape in names] for kind in ("swept", "pruned"))
    for _ in range(2):
        for t in (*swept, *pruned):
            shaped(harness, t)
        harness.advance(HOUR)

    for place, (name, policy) in enumerate(POLICIES.items()):
        mine = slice(place * len(SHAPES), (place + 1) * len(SHAPES))
        for t in pruned[mine]:
            harness.checkpoints.prune(t, policy)
        expected = state(harness, *pruned[mine])
        # Only these threads: nobody else's lie between them, and the page ends with the last of them.
        first, size = min(swept[mine]), SweepPolicy(policy, batch_size=len(SHAPES))
        result = harness.checkpoints.sweep(size, nothing, after=first[:-1])
        assert result.visited == len(SHAPES)
        assert state(harness, *pruned[mine]) == expected
        assert list(state(harness, *swept[mine]).values()) == list(expected.values()), name


def shaped(harness: Harness, t: str) -> None:
    """Some more of a thread whose content its name tells."""
    store, shape = harness.checkpoints, t.rpartition("-")[2]
    token = claim(store, t, fresh_id(), ttl=MINUTE).token
    stored = store.latest(t)
    over = None if stored is None else stored.checkpoint.id
    if shape == "chain":
        chain(store, t, token, [f"{over}/1", f"{over}/2"])
        emit(store, t, token, "x", "y")
    elif shape == "checkpoints":
        put(store, t, f"{over}/1", over, token=token)
    elif shape == "events":
        emit(store, t, token, "x", "y", "z")
    elif shape == "short" and over is None:
        chain(store, t, token, ["only"])
    store.release(t, token)


def test_ops_100_an_old_tombstone(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    buried(store, "x")
    harness.advance(HOUR if harness.exact_expiry else HOUR - MINUTE)
    assert store.sweep(BURY, nothing) == SweepResult(None, 1)
    deleted_at(store, "x", range(1, 6))
    assert mark(harness) == 1
    with harness.store.engine.connect() as connection:
        for age in (HOUR if harness.exact_expiry else HOUR + MINUTE, timedelta.max):
            assert not reclaim(connection, "x", age)

    harness.advance(MILLISECOND if harness.exact_expiry else 2 * MINUTE)
    assert store.sweep(BURY, nothing) == SweepResult(None, 1, tombstones_reclaimed=1)
    assert mark(harness) == 7
    assert store.sweep(BURY, nothing) == SweepResult(None)


def test_ops_101_without_an_age_a_tombstone_stays(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    buried(store, "x")
    harness.advance(timedelta(days=3650))
    for policy in (SweepPolicy(), KEEP_ONE, SweepPolicy(tombstone_age=timedelta.max)):
        assert store.sweep(policy, nothing) == SweepResult(None, 1)
    check_deleted(store, "x")


@pytest.mark.parametrize("runs", [frozenset[str](), frozenset({"r1"})], ids=len)
def test_ops_102_a_guarded_tombstone(harness_any_clock: Harness, runs: frozenset[str]) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    buried(store, "x")
    harness.advance(2 * HOUR)
    assert store.sweep(BURY, Noting({"x": runs})).tombstones_reclaimed == 0
    check_deleted(store, "x")
    assert store.sweep(BURY, nothing).tombstones_reclaimed == 1


def test_ops_103_a_bare_claim_keeps_the_tombstone(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    buried(store, "x")
    harness.advance(2 * HOUR)
    token = claim(store, "x", "again").token
    assert store.sweep(BURY, nothing).tombstones_reclaimed == 0
    harness.advance(2 * HOUR)
    assert store.sweep(BURY, nothing).tombstones_reclaimed == 0
    check_deleted(store, "x")

    store.release("x", token)
    assert store.sweep(BURY, nothing).tombstones_reclaimed == 1


LONE: dict[str, dict[str, Any]] = {
    "checkpoint": {"checkpoint": ck("c1", t="x")},
    "effect": {"effects": [EffectDraft("k", 1)]},
    "event": {"events": [ev("e")]},
    "metadata": {"metadata": {"kind": "chat"}},
}


@pytest.mark.parametrize("part", LONE)
def test_ops_103_anything_under_the_id_keeps_the_tombstone(harness_any_clock: Harness, part: str) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    buried(store, "x")
    token = claim(store, "x", "again").token
    store.commit("x", Commit(token, **LONE[part]))
    store.release("x", token)
    harness.advance(2 * HOUR)

    result = store.sweep(SweepPolicy(RetentionPolicy(max_events=0), tombstone_age=HOUR), nothing)

    assert result.tombstones_reclaimed == 0
    with harness.store.engine.connect() as connection:
        assert not reclaim(connection, "x", HOUR)
    deleted_at(store, "x", range(1, 6))
    assert mark(harness) == 1


def test_ops_104_a_new_thread_of_the_id(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    buried(store, "x")
    chain(store, "x", claim(store, "x").token, ["n1", "n2", "n3"])
    harness.advance(2 * HOUR)

    result = store.sweep(SweepPolicy(RetentionPolicy(max_checkpoints=2), tombstone_age=HOUR), nothing)

    assert result == SweepResult(None, 1, checkpoints_removed=1, events_removed=1)
    assert hist(store, "x") == ["n3", "n2"]
    deleted_at(store, "x", range(1, 6))
    refused(ReplayUnavailable("x", 8), store.events_after, "x", 6, MANY)


def test_ops_105_the_newest_delete_counts(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    buried(store, "x")
    harness.advance(50 * MINUTE)
    store.delete_thread("x", claim(store, "x", "again").token)
    harness.advance(40 * MINUTE)
    assert store.sweep(BURY, nothing).tombstones_reclaimed == 0
    check_deleted(store, "x")
    harness.advance(21 * MINUTE)
    assert store.sweep(BURY, nothing).tombstones_reclaimed == 1


def test_ops_106_beside_a_live_run(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1", "c2"])
    store.commit(t, Commit(token, writes=[wr("c2", "0.0"), wr("c2", "1.0")]))

    store.sweep(SweepPolicy(RetentionPolicy(max_checkpoints=1, max_events=0), tombstone_age=HOUR), nothing)

    assert task_ids(store, t) == ["0.0", "1.0"]
    store.commit(t, Commit(token, checkpoint=ck("c3", "c2", t=t), events=[ev("e")]))
    assert (hist(store, t), read(store, t, 2)) == (["c3", "c2"], [3])
    assert store.renew(t, token, TTL).token == token


def test_ops_107_threads_of_every_tenant(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    for t, tenant in (("a", "x"), ("b", "y"), ("c", None)):
        put(store, t, "c2", "c1", token=put(store, t, tenant=tenant), tenant=tenant)
    assert store.sweep(KEEP_ONE, nothing).checkpoints_removed == 3
    assert [hist(store, t) for t in ("a", "b", "c")] == [["c2"]] * 3


def test_ops_108_the_registry_does_not_move(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    for t in ("b", "a", "c"):
        three_runs(store, t)
        harness.advance(MINUTE)
    before = store.threads(ThreadQuery(None))
    policy = RetentionPolicy(max_age=MINUTE, max_checkpoints=1, max_events=0)
    assert store.sweep(SweepPolicy(policy), nothing).checkpoints_removed == 12
    assert store.threads(ThreadQuery(None)) == before
    assert ids(before) == ["c", "a", "b"]


def test_ops_109_two_sweeps_at_once(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    policy = SweepPolicy(RetentionPolicy(max_checkpoints=2, max_events=3), tombstone_age=HOUR, batch_size=10)
    alone = harness.open(harness.fresh_url())
    for store in (harness.store, alone):
        many_threads(store)
    harness.advance(2 * HOUR)
    if not harness.exact_expiry:
        policy = SweepPolicy(policy.retention, batch_size=10)

    stores = [harness.sibling().checkpoints for _ in range(2)]
    passes = all_succeeded(together(*(lambda store=store: sweep_through(store, policy) for store in stores)))
    sweep_through(alone.checkpoints, policy)

    names = [f"t-{number:02}" for number in range(RACERS)]
    assert state(harness, *names) == state(harness, *names, store=alone)
    assert sum(result.checkpoints_removed for results in passes for result in results) == 3 * 40
    reclaimed = sum(result.tombstones_reclaimed for results in passes for result in results)
    assert reclaimed == (10 if harness.exact_expiry else 0)


def many_threads(store: Store) -> None:
    """Forty threads of five checkpoints and ten tombstones."""
    for number in range(RACERS):
        t = f"t-{number:02}"
        if number % 5:
            three_runs(store.checkpoints, t)
        else:
            buried(store.checkpoints, t, number + 1)


def test_ops_110_a_thread_created_between_two_calls(harness_any_clock: Harness) -> None:
    store, guard = harness_any_clock.checkpoints, Noting()
    for t in ("b", "d", "f"):
        three_runs(store, t)
    policy = SweepPolicy(KEEP_ONE.retention, batch_size=1)
    first = store.sweep(policy, guard)
    for t in ("a", "c"):
        three_runs(store, t)

    following = first.next
    while following is not None:
        following = store.sweep(policy, guard, after=following).next

    assert guard.asked == [["b"], ["c"], ["d"], ["f"]]
    assert len(hist(store, "a")) == 5
    sweep_through(store, policy, guard)
    assert guard.asked[4] == ["a"]
    assert hist(store, "a") == ["c5"]


def test_ops_110_a_thread_created_while_the_guard_is_asked(harness_any_clock: Harness) -> None:
    """Nothing is removed of a thread that no guard was asked about."""
    store = harness_any_clock.checkpoints
    for t in ("a", "c"):
        three_runs(store, t)

    def creating(_asked: Sequence[str]) -> Mapping[str, frozenset[str]]:
        three_runs(store, "b")
        return {}

    assert store.sweep(KEEP_ONE, creating).visited == 2
    assert [len(hist(store, t)) for t in ("a", "b", "c")] == [1, 5, 1]


def test_ops_110_a_thread_deleted_while_the_guard_is_asked(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    tokens = {t: three_runs(store, t) for t in ("a", "b", "c")}

    def deleting(_asked: Sequence[str]) -> Mapping[str, frozenset[str]]:
        store.delete_thread("b", tokens["b"])
        return {}

    assert store.sweep(KEEP_ONE, deleting) == SweepResult(None, 3, checkpoints_removed=8, events_removed=8)
    assert [hist(store, t) for t in ("a", "b", "c")] == [["c5"], [], ["c5"]]


@pytest.mark.parametrize("size", [0, -1, 1001])
def test_ops_111_batch_sizes_out_of_bounds(size: int) -> None:
    problem = "batch_size must lie between 1 and 1000"
    refused(ValidationError("sweep", (problem,)), SweepPolicy, batch_size=size)


def test_ops_111_ages_out_of_bounds() -> None:
    old = "tombstone_age must be above zero, or None to keep tombstones"
    size = "batch_size must lie between 1 and 1000"
    refused(ValidationError("sweep", (old,)), SweepPolicy, tombstone_age=timedelta(0))
    both = {"tombstone_age": timedelta(seconds=-1), "batch_size": 0}
    refused(ValidationError("sweep", (old, size)), SweepPolicy, **both)
    default = SweepPolicy()
    assert (default.retention, default.tombstone_age, default.batch_size) == (
        RetentionPolicy.KEEP_ALL,
        None,
        100,
    )


def test_ops_112_a_floor_raised_by_a_compaction(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    three_runs(store, t)
    store.compact_events(t, 5)
    for policy, removed in ((RetentionPolicy(max_checkpoints=4), 1), (RetentionPolicy(max_events=3), 0)):
        assert store.sweep(SweepPolicy(policy), nothing) == SweepResult(None, 1, checkpoints_removed=removed)
        refused(ReplayUnavailable(t, 5), store.events_after, t, 3, MANY)
        assert read(store, t, 4) == [5]


def test_ops_113_an_empty_store(harness_any_clock: Harness) -> None:
    guard = Noting()
    full = SweepPolicy(RetentionPolicy(max_events=0, max_checkpoints=1, max_age=HOUR), tombstone_age=HOUR)
    assert harness_any_clock.checkpoints.sweep(full, guard) == SweepResult(None)
    assert guard.asked == []


def test_a_read_only_store_is_not_swept(harness: Harness) -> None:
    three_runs(harness.checkpoints, "a")
    guard = Noting()
    reader = harness.open(read_only=True).checkpoints
    for policy in (SweepPolicy(), KEEP_ONE):
        refused(ReadOnlyStore("sweep"), reader.sweep, policy, guard)
    assert (guard.asked, seqs(harness.checkpoints, "a")) == ([], [1, 2, 3, 4, 5])
