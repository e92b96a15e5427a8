"""What one step and one call may cost: invariant 18 of checkpoints-operations.md, rulings 18, 27 and 70."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from engine.checkpoints import Commit, RetentionPolicy, SweepPolicy, SweepResult
from engine.checkpoints import events as event_verbs
from engine.checkpoints import prune as prune_verbs
from engine.checkpoints import sweep as sweep_verbs
from engine.checkpoints.reclaim import reclaim
from engine.checkpoints.tables import thread
from engine.errors import ReplayUnavailable
from tests.support.background import LIMIT, background, until
from tests.support.builders import MANY, chain, claim, emit, ev, fresh_id
from tests.support.refusals import refused
from tests.support.retention import Noting, buried, hist, log_of, mark, nothing, recorded, state, three_runs
from tests.support.threads import put
from tests.support.tombs import read

if TYPE_CHECKING:
    from engine.checkpoints.prune import Pruned
    from tests.support.harness import Harness

STEP = 5_000
"""Events removed in one transaction (ruling 18)."""
LONG = 3 * STEP + 2
HOUR = timedelta(hours=1)


class Interrupted(Exception):
    """The process that pruned is gone between two of its steps."""


class Steps:
    """What each step of a prune did; one beyond the `allowed` is not begun."""

    def __init__(self) -> None:
        self.seen: list[Pruned] = []
        self.allowed: int | None = None
        self._step = prune_verbs.prune_row

    def __call__(self, *args: Any) -> Pruned:
        if self.allowed is not None and len(self.seen) >= self.allowed:
            raise Interrupted
        self.seen.append(self._step(*args))
        return self.seen[-1]

    @property
    def events(self) -> list[int]:
        """How many events each step removed."""
        return [step.events for step in self.seen]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    """Every step of every prune and sweep of the test."""
    noted = Steps()
    monkeypatch.setattr(prune_verbs, "prune_row", noted)
    return noted


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> int:
    """Steps of ten events."""
    for module in (event_verbs, prune_verbs):
        monkeypatch.setattr(module, "COMPACT_STEP", 10)
    return 10


def long_log(harness: Harness, t: str) -> int:
    """Two checkpoints, an event each, and three steps of events between them; the token."""
    store = harness.checkpoints
    token = claim(store, t).token
    chain(store, t, token, ["c1"])
    for _ in range(3):
        store.commit(t, Commit(token, events=[ev("e")] * STEP))
    chain(store, t, token, ["c2"])
    return token


def test_ruling_18_a_long_log_is_pruned_in_steps(harness: Harness, steps: Steps) -> None:
    store, t = harness.checkpoints, fresh_id()
    long_log(harness, t)
    store.prune(t, RetentionPolicy(max_events=10, max_checkpoints=1))
    assert steps.events == [STEP, STEP, STEP, 1]
    assert [step.checkpoints for step in steps.seen] == [0, 0, 0, 1]


def test_ruling_18_the_next_prune_finishes_an_interrupted_one(harness: Harness, steps: Steps) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = long_log(harness, t)
    steps.allowed = 1
    with pytest.raises(Interrupted):
        store.prune(t, RetentionPolicy(max_checkpoints=1))

    # The floor rises first: until it has arrived the whole history stands over a shortened log.
    assert hist(store, t) == ["c2", "c1"]
    refused(ReplayUnavailable(t, STEP + 1), store.events_after, t, 0, MANY)
    assert read(store, t, STEP)[0] == STEP + 1
    assert emit(store, t, token, "one more") == [LONG + 1]

    steps.allowed = None
    store.prune(t, RetentionPolicy(max_checkpoints=1))
    assert hist(store, t) == ["c2"]
    assert log_of(store, t) == (LONG, [LONG, LONG + 1])
    assert sum(steps.events) == LONG - 1


def test_ruling_18_a_sweep_steps_and_protects_in_each_step(harness: Harness, steps: Steps) -> None:
    store, t = harness.checkpoints, fresh_id()
    long_log(harness, t)
    recorded(harness.store, t, "run")
    policy = SweepPolicy(RetentionPolicy(max_checkpoints=1))
    steps.allowed = 2
    with pytest.raises(Interrupted):
        store.sweep(policy, Noting({t: frozenset({"run"})}))
    assert hist(store, t) == ["c2", "c1"]

    steps.allowed = None
    result = store.sweep(policy, nothing)
    assert result == SweepResult(None, 1, checkpoints_removed=1, events_removed=LONG - 1 - 2 * STEP)
    assert log_of(store, t) == (LONG, [LONG])


@pytest.mark.parametrize("old", [0, 1, 9, 10, 11, 20, 21, 35])
def test_ruling_18_the_age_rule_steps_to_the_first_young_event(
    harness: Harness, steps: Steps, short_steps: int, old: int
) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    emit(store, t, token, *["old"] * old)
    harness.advance(2 * HOUR)
    emit(store, t, token, "young", "youngest")

    store.prune(t, RetentionPolicy(max_age=HOUR))

    assert read(store, t, old) == [old + 1, old + 2]
    assert log_of(store, t)[0] == (old + 1 if old else 0)
    assert (
        steps.events == ([short_steps] * (old // short_steps) + [old % short_steps])[: max(1, -(-old // 10))]
    )


def test_ruling_18_the_age_rule_may_take_everything_in_steps(
    harness: Harness, steps: Steps, short_steps: int
) -> None:
    store, t = harness.checkpoints, fresh_id()
    emit(store, t, claim(store, t).token, *["old"] * 30)
    harness.advance(2 * HOUR)
    store.prune(t, RetentionPolicy(max_age=HOUR))
    assert (steps.events, log_of(store, t)) == ([10, 10, 10], (31, []))


NO_TIME = -1.0
"""A time budget that is over before it begins."""


def test_a_sweep_out_of_time_tells_where_to_go_on(harness_any_clock: Harness, monkeypatch: Any) -> None:
    monkeypatch.setattr(sweep_verbs, "BUDGET_SECONDS", NO_TIME)
    monkeypatch.setattr(sweep_verbs, "TOGETHER", 1)
    harness, guard = harness_any_clock, Noting()
    store = harness.checkpoints
    for t in ("b", "d", "e"):
        three_runs(store, t)
    for t in ("a", "c", "f"):
        claim(store, t)
    policy = SweepPolicy(RetentionPolicy(max_checkpoints=1))

    first = store.sweep(policy, guard)
    second = store.sweep(policy, guard, after=first.next)
    third = store.sweep(policy, guard, after=second.next)

    assert first == SweepResult("c", 3, checkpoints_removed=4, events_removed=4)
    assert second == SweepResult("d", 1, checkpoints_removed=4, events_removed=4)
    assert third == SweepResult(None, 2, checkpoints_removed=4, events_removed=4)
    assert guard.asked == [["a", "b", "c", "d", "e", "f"], ["d", "e", "f"], ["e", "f"]]


def test_a_sweep_out_of_time_reclaims_one_at_least(harness_any_clock: Harness, monkeypatch: Any) -> None:
    monkeypatch.setattr(sweep_verbs, "BUDGET_SECONDS", NO_TIME)
    harness = harness_any_clock
    for t in ("a", "b"):
        buried(harness.checkpoints, t)
    harness.advance(2 * HOUR)
    policy = SweepPolicy(tombstone_age=HOUR)
    assert harness.checkpoints.sweep(policy, nothing) == SweepResult("a", 1, tombstones_reclaimed=1)
    assert harness.checkpoints.sweep(policy, nothing, after="a") == SweepResult(
        None, 1, tombstones_reclaimed=1
    )
    assert mark(harness) == 7


@pytest.mark.parametrize("names", [("a", "b", "c"), ("", "b", "c"), ("", "", "c")], ids="-".join)
def test_a_long_log_is_left_and_gone_on_with(
    harness: Harness, short_steps: int, monkeypatch: Any, names: tuple[str, ...]
) -> None:
    """One log of any length does not make a call long: its thread is the first of the next call."""
    monkeypatch.setattr(sweep_verbs, "BUDGET_SECONDS", NO_TIME)
    monkeypatch.setattr(sweep_verbs, "TOGETHER", 1)
    store = harness.checkpoints
    present = sorted(set(names))
    for t in present:
        emit(store, t, claim(store, t).token, *["e"] * 25)
    policy = SweepPolicy(RetentionPolicy(max_events=0), batch_size=2)
    results = [store.sweep(policy, nothing)]
    while results[-1].next is not None and len(results) < 20:
        results.append(store.sweep(policy, nothing, after=results[-1].next))

    assert sum(result.events_removed for result in results) == 25 * len(present)
    assert sum(result.visited for result in results) == len(present)
    assert [log_of(store, t) for t in present] == [(26, [])] * len(present)
    if "" not in present:
        assert [result.next for result in results] == ["", "", "a", "a", "a", "b", "b", "b", None]


def test_a_row_that_is_held_is_waited_for_with_no_other_in_hand(postgres_harness: Harness) -> None:
    store = postgres_harness.checkpoints
    for t in ("a", "b", "c"):
        three_runs(store, t)
    with postgres_harness.store.engine.connect() as holder:
        holder.execute(select(thread).where(thread.c.thread_id == "b").with_for_update())
        swept = background(store.sweep, SweepPolicy(RetentionPolicy(max_checkpoints=1)), nothing)
        until(lambda: [len(hist(store, t)) for t in ("a", "b", "c")] == [1, 5, 1], "the neighbours pruned")
        assert not swept.done()
    assert swept.result(LIMIT) == SweepResult(None, 3, checkpoints_removed=12, events_removed=12)


def test_within_its_time_a_sweep_does_the_whole_page(harness: Harness, short_steps: int) -> None:
    store = harness.checkpoints
    for t in ("a", "b"):
        emit(store, t, claim(store, t).token, *["e"] * 25)
    result = store.sweep(SweepPolicy(RetentionPolicy(max_events=0)), nothing)
    assert result == SweepResult(None, 2, events_removed=50)


def test_ruling_27_what_no_policy_touches_gets_no_transaction(
    harness_any_clock: Harness, steps: Steps, monkeypatch: Any
) -> None:
    harness, reclaims = harness_any_clock, list[str]()
    store = harness.checkpoints

    def noted(connection: Any, t: str, age: timedelta) -> bool:
        reclaims.append(t)
        return reclaim(connection, t, age)

    monkeypatch.setattr(sweep_verbs, "reclaim", noted)
    for t in ("a", "b", "c"):
        three_runs(store, t)
    buried(store, "x")
    harness.advance(2 * HOUR)
    chain(store, "b", claim(store, "b", "again").token, ["c6"])
    buried(store, "y")
    before = state(harness, "a", "b", "c")

    for keep in (
        RetentionPolicy.KEEP_ALL,
        RetentionPolicy(max_checkpoints=6, max_events=6, max_age=3 * HOUR),
    ):
        assert store.sweep(SweepPolicy(keep), nothing) == SweepResult(None, 5)
    assert (steps.seen, reclaims, state(harness, "a", "b", "c")) == ([], [], before)

    everything = SweepPolicy(RetentionPolicy(max_checkpoints=5, max_events=6), tombstone_age=HOUR)
    assert store.sweep(everything, nothing) == SweepResult(None, 5, 1, 1, 1)
    assert (len(steps.seen), reclaims) == (1, ["x"])


def test_ruling_27_a_second_pass_begins_no_transaction(harness_any_clock: Harness, steps: Steps) -> None:
    """The latest checkpoint stays however old it is, so that its age gives a sweep nothing to do."""
    harness = harness_any_clock
    store = harness.checkpoints
    three_runs(store, "a")
    put(store, "b")
    harness.advance(2 * HOUR)
    policy = SweepPolicy(RetentionPolicy(max_age=HOUR, max_checkpoints=1, max_events=1))
    assert store.sweep(policy, nothing) == SweepResult(None, 2, checkpoints_removed=4, events_removed=5)
    assert len(steps.seen) == 1
    assert store.sweep(policy, nothing) == SweepResult(None, 2)
    assert len(steps.seen) == 1
