"""Prune: cases 8 to 11, 13 to 15 and 19 to 22 of checkpoints-operations.md, rulings 5, 15 and 69.

Cases 16 to 18, the owner's view of it, are in test_ops_tenancy.py.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import (
    CheckpointStatus,
    Commit,
    EffectDraft,
    RetentionPolicy,
    TenantThreads,
    ThreadQuery,
)
from engine.errors import CheckpointNotFound, ReplayUnavailable, ValidationError
from tests.support.builders import MANY, T0, TTL, chain, ck, claim, emit, ev, fresh_id, seqs, task_ids, wr
from tests.support.refusals import refused
from tests.support.retention import hist, log_of, recorded
from tests.support.rows import rows_of
from tests.support.threads import put
from tests.support.tombs import deleted_at, five_events_deleted, read
from tests.support.worker import Blocked, Worker

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
YEAR = timedelta(days=365)
MILLISECOND = timedelta(milliseconds=1)
DELETING = CheckpointStatus.DELETING


def gone_before(store: Checkpointer, t: str, floor: int) -> None:
    """The log begins at `floor`: neither a reader from the start nor one just behind it is served."""
    for cursor in {0, floor - 2} - {-1}:
        refused(ReplayUnavailable(t, floor), store.events_after, t, cursor, MANY)
    assert read(store, t, floor - 1)[:1] in ([], [floor])


def one_by_one(harness: Harness, t: str, *ages: tuple[str, timedelta]) -> int:
    """Commit each checkpoint with its event, the given time before the next; the token."""
    token = claim(harness.checkpoints, t).token
    for name, until_next in ages:
        chain(harness.checkpoints, t, token, [name])
        harness.advance(until_next)
    return token


def test_ops_8_prune_by_count(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1", "c2", "c3", "c4", "c5"])
    store.commit(t, Commit(token, writes=[wr("c5", "4.0")], events=[ev("tail")]))

    store.prune(t, RetentionPolicy(max_checkpoints=2))
    assert hist(store, t) == ["c5", "c4"]
    assert store.checkpoint(t, "c3") is None
    gone_before(store, t, 4)
    assert read(store, t, 3) == [4, 5, 6]
    assert task_ids(store, t) == ["4.0"]

    store.prune(t, RetentionPolicy(max_checkpoints=1))
    assert (hist(store, t), task_ids(store, t)) == (["c5"], ["4.0"])
    gone_before(store, t, 5)
    assert emit(store, t, token, "next") == [7]


def test_ops_8_as_many_as_may_stay_keep_their_whole_log(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    token = claim(store, t).token
    emit(store, t, token, "before the first checkpoint")
    chain(store, t, token, ["c1", "c2"])

    store.prune(t, RetentionPolicy(max_checkpoints=2))

    assert (hist(store, t), seqs(store, t)) == (["c2", "c1"], [1, 2, 3])


def test_ops_9_prune_by_age(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    store = harness.checkpoints
    token = one_by_one(harness, t, ("old", 30 * MINUTE), ("middle", 20 * MINUTE), ("young", 10 * MINUTE))

    store.prune(t, RetentionPolicy(max_age=20 * MINUTE))
    assert (hist(store, t), read(store, t, 2)) == (["young"], [3])
    gone_before(store, t, 3)

    harness.advance(timedelta(days=10))
    store.prune(t, RetentionPolicy(max_age=MINUTE))
    assert hist(store, t) == ["young"]
    gone_before(store, t, 4)
    assert emit(store, t, token, "by a lapsed token") == [4]


def test_ops_10_prune_by_events(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1"])
    emit(store, t, token, "two", "three", "four", "five")

    store.prune(t, RetentionPolicy(max_events=2))
    gone_before(store, t, 4)
    assert read(store, t, 3) == [4, 5]

    store.prune(t, RetentionPolicy(max_events=10))
    gone_before(store, t, 4)

    store.prune(t, RetentionPolicy(max_events=0))
    gone_before(store, t, 6)
    assert (read(store, t, 5), hist(store, t)) == ([], ["c1"])
    assert emit(store, t, token, "six") == [6]


def test_ops_11_an_unknown_thread(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    harness.checkpoints.prune(t, RetentionPolicy(max_checkpoints=1, max_events=0, max_age=MINUTE))
    with harness.raw() as connection:
        assert rows_of(connection, t) == {}


def test_ops_11_a_thread_without_checkpoints_or_without_events(harness_any_clock: Harness) -> None:
    store, bare, plain = harness_any_clock.checkpoints, fresh_id(), fresh_id()
    token = claim(store, bare).token
    everything = RetentionPolicy(max_checkpoints=1, max_events=1, max_age=HOUR)
    store.prune(bare, everything)
    emit(store, bare, token, "a", "b")
    put(store, plain, "c2", "c1", token=put(store, plain))
    for t in (bare, plain):
        store.prune(t, everything)
    assert read(store, bare, 1) == [2]
    assert (hist(store, plain), seqs(store, plain)) == (["c2"], [])


def test_ops_13_the_policy_that_keeps_everything() -> None:
    assert RetentionPolicy() == RetentionPolicy.KEEP_ALL
    assert RetentionPolicy(max_events=0) != RetentionPolicy.KEEP_ALL
    part = RetentionPolicy(max_age=HOUR, max_checkpoints=2, max_events=3)
    assert replace(part, max_events=0) == RetentionPolicy(max_age=HOUR, max_checkpoints=2, max_events=0)


AGE, COUNT, EVENTS = (
    "max_age must be above zero",
    "max_checkpoints must be at least 1",
    "max_events must be at least 0",
)


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"max_age": timedelta(0)}, (AGE,)),
        ({"max_checkpoints": 0}, (COUNT,)),
        ({"max_events": -1}, (EVENTS,)),
        ({"max_age": timedelta(seconds=-1), "max_checkpoints": 0}, (AGE, COUNT)),
        ({"max_age": timedelta(0), "max_checkpoints": -5, "max_events": -1}, (AGE, COUNT, EVENTS)),
    ],
    ids=str,
)
def test_ops_13_all_bad_fields_are_named_at_once(
    fields: dict[str, object], problems: tuple[str, ...]
) -> None:
    refused(ValidationError("retention", problems), RetentionPolicy, **fields)


def test_ops_13_keeping_all_changes_nothing(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    one_by_one(harness, t, ("c1", YEAR), ("c2", YEAR))
    huge = RetentionPolicy(max_age=timedelta.max, max_checkpoints=2**70, max_events=2**70)
    for policy in (RetentionPolicy.KEEP_ALL, huge):
        store.prune(t, policy)
        assert (hist(store, t), seqs(store, t)) == (["c2", "c1"], [1, 2])


def test_ops_14_two_runs(harness: Harness) -> None:
    store, t, target = harness.checkpoints, fresh_id(), fresh_id()
    threads, worker = TenantThreads(store, "a"), Worker(store)
    worker.start(t, ["x"], "first", "a")
    worker.start(t, ["y"], "second", "a")
    before = threads.history(t)
    assert len(before) == 4

    threads.prune(t, RetentionPolicy(max_checkpoints=2))
    assert threads.history(t) == before[:2]
    floor = events_kept(store, t)
    assert store.events_after(t, floor - 1, 1)[0].checkpoint_id == before[1].id
    for pruned in before[2:]:
        refused(CheckpointNotFound(t, pruned.id), worker.fork, t, pruned.id, target, "forker")
        refused(CheckpointNotFound(t, pruned.id), threads.history, t, before=pruned.id)

    threads.prune(t, RetentionPolicy(max_checkpoints=1))
    assert threads.history(t) == before[:1]
    assert worker.start(t, ["z"], "third", "a").snapshot["results"] == ["X", "Y", "Z"]


def events_kept(store: Checkpointer, t: str) -> int:
    """Where the log begins, as a reader from the start is told."""
    with pytest.raises(ReplayUnavailable) as caught:
        store.events_after(t, 0, 1)
    return caught.value.earliest_seq


def test_ops_15_a_half_finished_turn(harness: Harness) -> None:
    store, t, worked = harness.checkpoints, fresh_id(), []

    def crash_once(item: str) -> str:
        worked.append(item)
        if worked.count("b") == 1 and item == "b":
            raise ConnectionError("the model is down")
        return item.upper()

    threads, worker = TenantThreads(store, None), Worker(store, crash_once)
    worker.start(t, ["x"], "earlier")
    with pytest.raises(ConnectionError):
        worker.start(t, ["a", "b"], "run")

    threads.prune(t, RetentionPolicy(max_checkpoints=1, max_events=0))

    assert (task_ids(store, t), len(threads.history(t))) == (["0.0"], 1)
    assert events_kept(store, t) == 1 + len(["started", "done", "ended", "started", "done"])
    assert worker.recover(t, "second").snapshot["results"] == ["X", "A", "B"]
    assert worked == ["x", "a", "b", "b"]


def test_ops_15_a_turn_is_retracted_after_a_prune(harness: Harness) -> None:
    """Invariant 2: what a run does next is the same, the settled turns before it gone or not."""
    store, t = harness.checkpoints, fresh_id()

    def block(item: str) -> str:
        store.prune(t, RetentionPolicy(max_checkpoints=1))
        raise Blocked(item)

    settled = Worker(store).start(t, ["a"], "good")
    failed = Worker(store, block).start(t, ["b"], "blocked")
    assert store.history(t) == [failed]
    assert settled.id not in hist(store, t)
    assert Worker(store).start(t, ["c"], "next").snapshot["results"] == ["A", "C"]


def produced(harness: Harness, t: str, at: datetime, between: timedelta) -> None:
    """A checkpoint and an event that a producer says are of `at`, then one of each that are of T0."""
    store = harness.checkpoints
    token = put(store, t, "c1", created_at=at)
    store.commit(t, Commit(token, events=[ev("one", timestamp=at)]))
    harness.advance(between)
    put(store, t, "c2", "c1", token=token, created_at=T0)
    store.commit(t, Commit(token, events=[ev("two", timestamp=T0)]))


def test_ops_19_an_old_producer_time_is_no_age(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    produced(harness, t, T0 - YEAR, timedelta(0))
    harness.advance(MINUTE)

    harness.checkpoints.prune(t, RetentionPolicy(max_age=HOUR))

    assert hist(harness.checkpoints, t) == ["c2", "c1"]


def test_ops_20_a_new_producer_time_saves_nothing(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    produced(harness, t, T0 + YEAR, 2 * HOUR)

    harness.checkpoints.prune(t, RetentionPolicy(max_age=HOUR))

    assert hist(harness.checkpoints, t) == ["c2"]


def test_ops_21_events_go_by_their_commit_too(harness_any_clock: Harness) -> None:
    harness, early, late = harness_any_clock, fresh_id(), fresh_id()
    produced(harness, late, T0 + YEAR, 2 * HOUR)
    produced(harness, early, T0 - YEAR, timedelta(0))
    harness.advance(MINUTE)
    for t in (early, late):
        harness.checkpoints.prune(t, RetentionPolicy(max_age=HOUR))

    assert seqs(harness.checkpoints, early) == [1, 2]
    gone_before(harness.checkpoints, late, 2)


def test_ops_22_exactly_as_old_as_allowed(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    store = harness.checkpoints
    one_by_one(harness, t, ("A", HOUR), ("B", timedelta(0)))
    margin = timedelta(0) if harness.exact_expiry else MINUTE

    store.prune(t, RetentionPolicy(max_age=HOUR + margin))
    assert (hist(store, t), seqs(store, t)) == (["B", "A"], [1, 2])

    harness.advance(MILLISECOND)
    store.prune(t, RetentionPolicy(max_age=HOUR - margin))
    assert (hist(store, t), read(store, t, 1)) == (["B"], [2])
    gone_before(store, t, 2)


def test_prune_by_age_keeps_the_newest_of_all_that_are_old(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    store = harness.checkpoints
    one_by_one(harness, t, ("c1", HOUR), ("c2", HOUR), ("c3", HOUR))
    store.prune(t, RetentionPolicy(max_age=MINUTE, max_checkpoints=2))
    assert hist(store, t) == ["c3"]
    gone_before(store, t, 4)


def test_prune_by_age_on_a_clock_that_went_back(harness: Harness) -> None:
    """The first event that is young enough begins the log, whatever follows it and whatever else is asked."""
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t, ttl=YEAR).token
    for forward in (2 * HOUR, -2 * HOUR, 2 * HOUR):
        harness.advance(forward)
        emit(store, t, token, "e")
    store.prune(t, RetentionPolicy(max_age=HOUR))
    assert seqs(store, t) == [1, 2, 3]
    store.prune(t, RetentionPolicy(max_age=HOUR, max_events=2))
    assert read(store, t, 1) == [2, 3]


def test_prune_leaves_the_rest_of_a_thread_alone(harness_any_clock: Harness) -> None:
    """2.5: pending writes, claim, effects, metadata, `updated_at` and child places stay."""
    harness, t = harness_any_clock, fresh_id()
    store = harness.checkpoints
    token = put(store, t, "c1", tenant="x")
    effect, pairs = EffectDraft("mail", {"sent": True}), {"kind": "chat"}
    store.commit(
        t,
        Commit(
            token,
            checkpoint=ck("c2", "c1", t=t, tenant="x"),
            writes=[wr("c2", "0.0")],
            effects=[effect],
            events=[ev("e")],
            metadata=pairs,
        ),
    )
    put(store, "child", origin=t)
    listed, known = store.threads(ThreadQuery("x")), store.effect(t, "mail")
    with harness.raw() as connection:
        before = rows_of(connection, t)

    store.prune(t, RetentionPolicy(max_checkpoints=1, max_events=0))

    with harness.raw() as connection:
        left = rows_of(connection, t)
    assert before == left | {"checkpoint": 2, "event": 1}
    assert left["checkpoint"] == 1
    assert (store.threads(ThreadQuery("x")), store.effect(t, "mail")) == (listed, known)
    assert (task_ids(store, t), store.children(t)) == (["0.0"], ["child"])
    assert store.renew(t, token, TTL).token == token


def test_prune_leaves_a_gap_that_commits_do_not_see(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1", "c2", "c3"])
    store.prune(t, RetentionPolicy(max_checkpoints=1))
    (latest,) = store.history(t)
    assert latest.parent == "c2"
    chain(store, t, token, ["c4", "c1"])
    assert hist(store, t) == ["c1", "c4", "c3"]


def test_prune_of_a_second_life(harness_any_clock: Harness) -> None:
    """A thread numbered from 7: behind the floor it is compacted, within the old log deleted."""
    store, t = harness_any_clock.checkpoints, fresh_id()
    five_events_deleted(store, t)
    token = claim(store, t).token
    chain(store, t, token, ["c1", "c2", "c3"])
    store.prune(t, RetentionPolicy(max_checkpoints=1))
    for cursor in (0, 6, 7):
        refused(ReplayUnavailable(t, 9), store.events_after, t, cursor, MANY)
    assert read(store, t, 8) == [9]
    deleted_at(store, t, range(1, 6))


def test_ruling_69_events_that_name_a_checkpoint_play_no_part(harness: Harness) -> None:
    """The floor is where the log stood when K's oldest was committed, not the first event that names it."""
    store, t = harness.checkpoints, fresh_id()
    token = put(store, t, "c1")
    put(store, t, "c2", "c1", token=token)
    emit(store, t, token, "of c2, which it does not name")
    store.commit(t, Commit(token, events=[ev("of c2", checkpoint_id="c2")]))
    put(store, t, "c3", "c2", token=token)
    store.prune(t, RetentionPolicy(max_checkpoints=2))
    assert (hist(store, t), seqs(store, t)) == (["c3", "c2"], [1, 2])
    store.prune(t, RetentionPolicy(max_checkpoints=1))
    gone_before(store, t, 3)


def test_the_floor_never_falls(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1", "c2", "c3", "c4", "c5"])
    store.compact_events(t, 5)
    for policy in (
        RetentionPolicy(max_checkpoints=3),
        RetentionPolicy(max_events=4),
        RetentionPolicy(max_age=HOUR),
    ):
        store.prune(t, policy)
        gone_before(store, t, 5)
    assert hist(store, t) == ["c5", "c4", "c3"]


def test_prune_refuses_an_id_no_store_can_hold(harness: Harness) -> None:
    for bad in ("\0", "\ud800", "x" * 513):
        with pytest.raises(ValidationError):
            harness.checkpoints.prune(bad, RetentionPolicy(max_events=0))


def test_prune_keeps_a_deletion_mark(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1", "c2"])
    put(store, t, "going", "c2", token=token, status=DELETING)
    harness.advance(YEAR)
    store.prune(t, RetentionPolicy(max_age=MINUTE, max_checkpoints=1, max_events=0))
    assert hist(store, t) == ["going"]


@dataclass(frozen=True, slots=True)
class Row:
    """A checkpoint or an event as the rules see it; `number` is its place or its sequence number."""

    number: int
    at: datetime
    run: str = ""
    first: int = 0


class Rules:
    """Section 2.5, step by step, over plain lists: what must be left of one thread."""

    def __init__(self) -> None:
        self.history: list[Row] = []
        self.events: list[Row] = []
        self.floor = 1

    @property
    def following(self) -> int:
        return self.events[-1].number + 1 if self.events else 1

    def prune(self, policy: RetentionPolicy, now: datetime, runs: set[str]) -> None:
        kept, floors = self._kept(policy, now), [self.floor]
        if len(kept) < len(self.history):
            floors.append(kept[0].first)
        if policy.max_age is not None:
            young = (row.number for row in self._log() if row.at >= now - policy.max_age)
            floors.append(next(young, self.following))
        if policy.max_events is not None:
            floors.append(self.following - policy.max_events)
        newest = {row.run: row for row in self.history if row.run in runs}
        self.history = [row for row in self.history if row in kept or row in newest.values()]
        self.floor = min(max(floors), self.following)

    def numbers(self) -> list[int]:
        return [row.number for row in self._log()]

    def _log(self) -> list[Row]:
        return [row for row in self.events if row.number >= self.floor]

    def _kept(self, policy: RetentionPolicy, now: datetime) -> list[Row]:
        kept = [
            row
            for row in self.history
            if row is self.history[-1] or policy.max_age is None or row.at >= now - policy.max_age
        ]
        return kept if policy.max_checkpoints is None else kept[-policy.max_checkpoints :]


@pytest.mark.parametrize("seed", range(4))
def test_prune_agrees_with_its_rules_whatever_the_clock_does(harness: Harness, seed: int) -> None:
    """Random histories on a clock that also goes back, pruned by one random policy after the other."""
    dice, store = random.Random(seed), harness.checkpoints
    for _ in range(8):
        t, rules, open_runs = fresh_id(), Rules(), set(dice.sample("abc", dice.randrange(3)))
        token = claim(store, t).token
        entry = recorded(harness.store, t, *sorted(open_runs))
        for _ in range(dice.randrange(3, 8)):
            grow(harness, t, token, rules, dice)
            if dice.random() < 0.5:
                policy = any_policy(dice)
                store.prune(t, policy)
                rules.prune(policy, harness.now(), open_runs)
            places = [f"c{row.number}" for row in reversed(rules.history)]
            assert hist(store, t) == places
            assert log_of(store, t)[1] == rules.numbers()
        harness.store.queue.cancel(entry.id)


def grow(harness: Harness, t: str, token: int, rules: Rules, dice: random.Random) -> None:
    """Some more checkpoints and events of the thread, each with its own time."""
    stored = harness.checkpoints.latest(t)
    latest = None if stored is None else stored.checkpoint.id
    for _ in range(dice.randrange(1, 4)):
        harness.advance(dice.randrange(-30, 90) * MINUTE)
        events = [ev("e") for _ in range(dice.randrange(3))]
        made, now, following = None, harness.now(), rules.following
        if dice.random() < 0.7:
            place, run = 1 + int(latest[1:] if latest else 0), dice.choice("abcd")
            made = ck(f"c{place}", latest, t=t, run_id=run)
            rules.history.append(Row(place, now, run, following))
            latest = made.id
        harness.checkpoints.commit(t, Commit(token, checkpoint=made, events=events))
        rules.events += [Row(following + n, now) for n in range(len(events))]


def any_policy(dice: random.Random) -> RetentionPolicy:
    """Each limit or none."""
    return RetentionPolicy(
        max_age=dice.choice([None, dice.randrange(1, 300) * MINUTE]),
        max_checkpoints=dice.choice([None, dice.randrange(1, 6)]),
        max_events=dice.choice([None, dice.randrange(8)]),
    )
