"""The metered wrapper: cases 133 to 140 of checkpoints-operations.md 4.10.

134 is the whole contract: tests/conftest.py runs it once more over wrapped stores; here is told that it does.
"""

from __future__ import annotations

import copy
import inspect
import logging
import threading
import time
from collections import Counter as Tally
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from engine import open_store
from engine.checkpoints import (
    Checkpointer,
    ClaimRequest,
    Commit,
    Fence,
    MeteredCheckpointer,
    RetentionPolicy,
    SweepPolicy,
    SweepResult,
    ThreadQuery,
)
from engine.checkpoints.metered import OPERATIONS, UNMETERED
from engine.errors import EngineError, StoreFailure, ValidationError, WaitCancelled
from tests.support.background import LIMIT, background
from tests.support.builders import MANY, TTL, ck, claim, emit, ev, seqs
from tests.support.intercept import Interceptor, failing
from tests.support.threads import put

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.support.harness import Harness

CALLS = "checkpointer_operations_total"
API = {
    "claim",
    "renew",
    "release",
    "commit",
    "latest",
    "checkpoint",
    "history",
    "events_after",
    "await_events_after",
    "compact_events",
    "delete_thread",
    "effect",
    "children",
    "threads",
    "incomplete",
    "latest_of_runs",
    "prune",
    "sweep",
}
SOON = timedelta(milliseconds=20)


class Meter:
    """A wrapped checkpointer and what its registry has counted."""

    def __init__(self, inner: Checkpointer) -> None:
        self.registry = CollectorRegistry()
        self.checkpoints = MeteredCheckpointer(inner, self.registry)

    def counted(self) -> dict[tuple[str, str], int]:
        """How many calls, by method and outcome."""
        samples = [sample for metric in self.registry.collect() for sample in metric.samples]
        return {
            (sample.labels["op"], sample.labels["outcome"]): int(sample.value)
            for sample in samples
            if sample.name == CALLS
        }

    def sample(self, name: str, **labels: str) -> float | None:
        """One figure."""
        return self.registry.get_sample_value(name, labels)

    def series(self) -> set[str]:
        """Every combination of name and labels there is."""
        lines = generate_latest(self.registry).decode().splitlines()
        return {line.rpartition(" ")[0] for line in lines if not line.startswith("#")}


@pytest.fixture
def meter(harness: Harness) -> Meter:
    """The test's store, wrapped."""
    return Meter(harness.checkpoints)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call answers, or the error that ends it."""
    try:
        return call()
    except EngineError as error:
        return error


def prepared(store: Checkpointer) -> dict[str, int]:
    """Threads for every call: `t` with four events compacted to three, a child, a deleted one; the tokens."""
    tokens = {"t": put(store, "t", "c1", run_id="r1")}
    emit(store, "t", tokens["t"], "a", "b", "c", "d")
    store.compact_events("t", 2)
    tokens["child"] = put(store, "child", origin="t")
    tokens["gone"] = claim(store, "gone").token
    emit(store, "gone", tokens["gone"], "a", "b", "c")
    store.delete_thread("gone", tokens["gone"])
    tokens["spare"] = claim(store, "spare").token
    return tokens


def protect_nothing(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """A guard."""
    return {}


Call = tuple[str, "Callable[[Checkpointer], Any]"]


def successes(tokens: dict[str, int]) -> list[Call]:
    """A call of each method that is answered, in an order that works."""
    token = tokens["t"]
    return [
        ("renew", lambda store: store.renew("t", token, TTL)),
        ("commit", lambda store: store.commit("t", Commit(token, events=[ev("next")]))),
        ("latest", lambda store: store.latest("t")),
        ("checkpoint", lambda store: store.checkpoint("t", "c1")),
        ("history", lambda store: store.history("t", limit=5)),
        ("events_after", lambda store: store.events_after("t", 2, 2)),
        ("await_events_after", lambda store: store.await_events_after("t", 2, 2, SOON)),
        ("await_events_after", lambda store: store.await_events_after("t", 5, 2, SOON)),
        ("compact_events", lambda store: store.compact_events("t", 3)),
        ("effect", lambda store: store.effect("t", "none")),
        ("children", lambda store: store.children("t")),
        ("child_states", lambda store: store.child_states("t")),
        ("threads", lambda store: store.threads(ThreadQuery(None))),
        ("incomplete", lambda store: store.incomplete(None)),
        ("find_threads", lambda store: store.find_threads(None, "t")),
        ("latest_of_runs", lambda store: store.latest_of_runs("t", ["r1"])),
        ("tombstones", lambda store: store.tombstones()),
        ("prune", lambda store: store.prune("t", RetentionPolicy(max_events=1))),
        ("sweep", lambda store: store.sweep(SweepPolicy(), protect_nothing)),
        ("release", lambda store: store.release("t", token)),
        ("claim", lambda store: store.claim("t", ClaimRequest("second", TTL))),
        ("delete_thread", lambda store: store.delete_thread("spare", tokens["spare"])),
    ]


def test_ops_133_every_method_answers_as_the_bare_store_and_is_counted_once(
    harness: Harness, meter: Meter
) -> None:
    twin = harness.open(harness.fresh_url()).checkpoints
    calls = zip(successes(prepared(harness.checkpoints)), successes(prepared(twin)), strict=True)
    expected: Tally[tuple[str, str]] = Tally()
    for (name, call), (_, same) in calls:
        assert call(meter.checkpoints) == same(twin), name
        expected[name, "ok"] += 1
        assert meter.counted() == expected
    assert {name for name, _ in expected} == set(OPERATIONS)


def refusals(tokens: dict[str, int]) -> list[tuple[str, str, Callable[[Checkpointer], Any]]]:
    """Each refusal there is, with its label."""
    token = tokens["t"]
    twice = Commit(token, checkpoint=ck("c1", "c1", t="t"))
    return [
        ("claim", "busy", lambda store: claim(store, "t", "second")),
        ("renew", "stale", lambda store: store.renew("t", token + 99, TTL)),
        ("commit", "stale", lambda store: store.commit("t", Commit(token + 99, events=[ev("late")]))),
        ("delete_thread", "stale", lambda store: store.delete_thread("t", token, Fence("gone", 1))),
        ("commit", "conflict", lambda store: store.commit("t", Commit(token, checkpoint=ck("c2", t="t")))),
        ("commit", "invalid", lambda store: store.commit("t", twice)),
        ("history", "not_found", lambda store: store.history("t", before="nope")),
        ("events_after", "replay_unavailable", lambda store: store.events_after("t", 0, 9)),
        ("events_after", "deleted", lambda store: store.events_after("gone", 2, 9)),
        ("await_events_after", "deleted", lambda store: store.await_events_after("gone", 2, 9, SOON)),
        ("children", "invalid", lambda store: store.children("t", after="nope")),
        ("incomplete", "invalid", lambda store: store.incomplete(None, limit=0)),
        ("tombstones", "invalid", lambda store: store.tombstones(after="t")),
        ("latest", "invalid", lambda store: store.latest("t\0")),
    ]


def test_ops_133_every_refusal_is_the_bare_stores_and_is_counted_once(harness: Harness, meter: Meter) -> None:
    tokens = prepared(harness.checkpoints)
    expected: Tally[tuple[str, str]] = Tally()
    for name, label, call in refusals(tokens):
        mine, theirs = outcome(partial(call, meter.checkpoints)), outcome(partial(call, harness.checkpoints))
        assert isinstance(mine, EngineError)
        assert (type(mine), mine) == (type(theirs), theirs)
        expected[name, label] += 1
        assert meter.counted() == expected


def test_ops_133_durations_are_observed(harness: Harness, meter: Meter) -> None:
    token = put(meter.checkpoints, "t")
    emit(meter.checkpoints, "t", token, "a")
    with pytest.raises(ValidationError):
        meter.checkpoints.latest("\0")
    for name, times in (("claim", 1.0), ("commit", 2.0), ("latest", 1.0)):
        assert meter.sample("checkpointer_operation_seconds_count", op=name) == times
        total = meter.sample("checkpointer_operation_seconds_sum", op=name)
        assert total is not None
        assert 0 < total < LIMIT
    meter.checkpoints.await_events_after("t", 0, 9, SOON)
    meter.checkpoints.await_events_after("t", 1, 9, SOON)
    with pytest.raises(ValidationError):
        meter.checkpoints.await_events_after("t", -1, 9, SOON)
    for word in ("events", "empty", "error"):
        assert meter.sample("checkpointer_await_seconds_count", outcome=word) == 1.0
    waited = meter.sample("checkpointer_await_seconds_sum", outcome="empty")
    assert waited is not None
    assert waited >= SOON.total_seconds()


def test_ops_133_sweeps_are_counted(harness: Harness, meter: Meter) -> None:
    prepared(harness.checkpoints)
    harness.advance(TTL)
    token = claim(harness.checkpoints, "t").token
    put(harness.checkpoints, "t", "c2", "c1", token=token)
    policy = SweepPolicy(RetentionPolicy(max_checkpoints=1, max_events=1), tombstone_age=TTL / 2)
    done = meter.checkpoints.sweep(policy, protect_nothing)
    counted = {
        "swept_threads": done.visited,
        "reclaimed_tombstones": done.tombstones_reclaimed,
        "removed_checkpoints": done.checkpoints_removed,
        "removed_events": done.events_removed,
    }
    assert min(counted.values()) > 0
    for name, figure in counted.items():
        assert meter.sample(f"checkpointer_{name}_total") == figure


class Echo:
    """Answers every method with one object, or raises one, and keeps what it was asked with."""

    def __init__(self, answer: object = None, error: BaseException | None = None) -> None:
        self.answer, self.error = answer, error
        self.asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            self.asked.append((name, args, options))
            if self.error is not None:
                raise self.error
            return self.answer

        return call


def test_ops_133_the_very_objects_go_in_and_come_out() -> None:
    answer, given, option = object(), object(), object()
    echo = Echo(answer)
    meter = Meter(cast("Checkpointer", echo))
    assert set(OPERATIONS) | UNMETERED == API | {
        "tail",
        "changes",
        "child_states",
        "find_threads",
        "tombstones",
    }
    for name in (*OPERATIONS, *sorted(UNMETERED)):
        assert getattr(meter.checkpoints, name)(given, option=option) is answer
        ((asked, args, options),) = echo.asked
        assert asked == name
        assert args[0] is given
        assert options["option"] is option
        echo.asked.clear()
    assert set(meter.counted()) >= {(name, "ok") for name in API - {"sweep"}}


def test_ops_133_the_wrapper_has_every_public_method_of_the_store() -> None:
    for name, method in inspect.getmembers(Checkpointer, inspect.isfunction):
        if name.startswith("_"):
            continue
        wrapped = getattr(MeteredCheckpointer, name)
        assert wrapped is not method, f"{name} would run on the wrapper itself"
        assert inspect.signature(wrapped) == inspect.signature(method)


def test_ops_134_the_contract_runs_over_wrapped_stores(
    harness: Harness, request: pytest.FixtureRequest
) -> None:
    kind = request.node.callspec.params["harness"]
    for store in (harness.store, harness.sibling(), harness.reopen()):
        assert type(store.checkpoints) is (MeteredCheckpointer if kind.endswith("-metered") else Checkpointer)
        assert store.checkpoints is store.checkpoints
    assert harness.kind == kind.partition("-")[0]


def test_ops_134_a_stores_own_checkpointer_is_the_bare_one() -> None:
    with open_store("memory:") as store:
        assert type(store.checkpoints) is Checkpointer


def test_ops_135_a_wrapped_store_still_wakes_its_waiters() -> None:
    with open_store("memory:") as store:
        meter = Meter(store.checkpoints)
        token = claim(meter.checkpoints, "t").token
        waiting = background(meter.checkpoints.await_events_after, "t", 0, 9, timedelta(seconds=10))
        time.sleep(0.2)
        began = time.monotonic()
        emit(meter.checkpoints, "t", token, "a")
        assert [record.seq for record in waiting.result(LIMIT)] == [1]
        assert time.monotonic() - began < 1.0


def break_every_metric(patch: pytest.MonkeyPatch) -> None:
    """From now on the metrics library raises whatever is asked of it."""

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the metrics are broken")

    for kind in (Counter, Histogram):
        for name in ("labels", "inc", "observe"):
            if hasattr(kind, name):
                patch.setattr(kind, name, broken)


def test_ops_136_broken_metrics_change_nothing(
    harness: Harness, meter: Meter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    twin = harness.open(harness.fresh_url()).checkpoints
    tokens, others = prepared(harness.checkpoints), prepared(twin)
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        break_every_metric(patch)
        for _, label, call in refusals(tokens):
            mine, bare = (
                outcome(partial(call, meter.checkpoints)),
                outcome(partial(call, harness.checkpoints)),
            )
            assert mine == bare, label
        for (name, call), (_, same) in zip(successes(tokens), successes(others), strict=True):
            assert call(meter.checkpoints) == same(twin), name
    records = [record for record in caplog.records if record.name == "engine.checkpoints.metered"]
    assert {record.levelno for record in records} == {logging.WARNING}
    assert len(records) >= len(refusals(tokens)) + len(successes(tokens))


class BrokenRegistry(CollectorRegistry):
    """Takes no metric."""

    def register(self, collector: Any) -> None:
        """See the class."""
        raise RuntimeError("the registry is broken")


def test_ops_136_a_registry_that_takes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with open_store("memory:") as store, caplog.at_level(logging.WARNING):
        wrapped = MeteredCheckpointer(store.checkpoints, BrokenRegistry())
        assert "registry" in caplog.text
        token = claim(wrapped, "t").token
        emit(wrapped, "t", token, "a")
        assert seqs(wrapped, "t") == [1]


def test_ops_136_bad_figures_are_ignored() -> None:
    odd = SweepResult(None, visited=-5)
    meter = Meter(cast("Checkpointer", Echo(odd)))
    assert meter.checkpoints.sweep(SweepPolicy(), protect_nothing) is odd
    assert meter.sample("checkpointer_swept_threads_total") == 0


@pytest.mark.parametrize(
    "error",
    [StoreFailure("latest", "the disk is full"), RuntimeError("boom"), KeyboardInterrupt(), OSError()],
    ids=repr,
)
def test_ops_137_a_failing_store_fails_in_the_same_way(harness: Harness, error: BaseException) -> None:
    inner = Interceptor(harness.checkpoints)
    meter = Meter(inner.checkpoints)
    inner.before("latest", failing(error))
    with pytest.raises(type(error)) as caught:
        meter.checkpoints.latest("t")
    assert caught.value is error
    assert meter.counted() == {("latest", "error"): 1}
    assert meter.checkpoints.latest("t") is None
    assert meter.counted() == {("latest", "error"): 1, ("latest", "ok"): 1}


def test_ops_138_cancelling_a_wait(harness: Harness, meter: Meter) -> None:
    store = meter.checkpoints
    token = claim(store, "t").token
    cancel = threading.Event()
    waiting = background(store.await_events_after, "t", 0, 9, timedelta(seconds=60), cancel)
    time.sleep(0.1)
    cancel.set()
    with pytest.raises(WaitCancelled) as caught:
        waiting.result(LIMIT)
    assert caught.value == WaitCancelled("await_events_after")
    assert meter.counted() == {("claim", "ok"): 1, ("await_events_after", "cancelled"): 1}
    with pytest.raises(WaitCancelled):
        store.events_after("t", 0, 9, cancel=cancel)
    assert meter.counted()["events_after", "cancelled"] == 1
    emit(store, "t", token, "a")
    assert seqs(harness.checkpoints, "t") == seqs(store, "t") == [1]


def use(store: Checkpointer, number: int) -> None:
    """A thread, a tenant and a run of their own."""
    t, run = f"thread-{number}", f"run-{number}"
    token = claim(store, t, run, tenant=f"tenant-{number}").token
    made = ck(f"c-{number}", t=t, run_id=run, tenant=f"tenant-{number}")
    store.commit(t, Commit(token, checkpoint=made, events=[ev(f"kind-{number}")]))
    outcome(lambda: claim(store, t, "another"))
    store.latest_of_runs(t, [run])
    store.threads(ThreadQuery(f"tenant-{number}"))
    store.events_after(t, 0, MANY)


def test_ops_139_labels_do_not_grow_with_what_is_stored(sqlite_harness: Harness) -> None:
    meter = Meter(sqlite_harness.checkpoints)
    use(meter.checkpoints, 0)
    once = meter.series()
    for number in range(1, 1_000):
        use(meter.checkpoints, number)
    assert meter.series() == once
    assert meter.counted()["commit", "ok"] == 1_000
    assert not [line for line in once if "thread-0" in line or "run-0" in line or "tenant-0" in line]


def test_ops_139_labels_are_methods_and_outcomes(harness: Harness, meter: Meter) -> None:
    tokens = prepared(harness.checkpoints)
    for _, _, call in refusals(tokens):
        outcome(partial(call, meter.checkpoints))
    for _, call in successes(tokens):
        call(meter.checkpoints)
    allowed = {
        "ok",
        "busy",
        "stale",
        "conflict",
        "invalid",
        "not_found",
        "replay_unavailable",
        "deleted",
        "cancelled",
        "error",
    }
    for name, word in meter.counted():
        assert name in OPERATIONS
        assert word in allowed


def test_ops_140_the_guard_is_asked_once_with_the_same_ids(harness: Harness, meter: Meter) -> None:
    for t in ("a", "b", "c"):
        put(harness.checkpoints, t)
    asked: list[Sequence[str]] = []

    def guard(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
        asked.append(ids)
        return {}

    policy = SweepPolicy(RetentionPolicy(max_checkpoints=1), batch_size=2)
    first = meter.checkpoints.sweep(policy, guard)
    assert [list(ids) for ids in asked] == [["a", "b"]]
    meter.checkpoints.sweep(policy, guard, after=first.next)
    assert [list(ids) for ids in asked] == [["a", "b"], ["c"]]


def test_ops_140_a_guards_own_error_passes(harness: Harness, meter: Meter) -> None:
    put(harness.checkpoints, "a")
    error = LookupError("the guard does not know")

    def guard(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        raise error

    with pytest.raises(LookupError) as caught:
        meter.checkpoints.sweep(SweepPolicy(RetentionPolicy(max_checkpoints=1)), guard)
    assert caught.value is error
    assert meter.counted() == {("sweep", "error"): 1}


def test_ops_133_wrappers_may_share_a_registry() -> None:
    registry = CollectorRegistry()
    with open_store("memory:") as store:
        wrapped = [MeteredCheckpointer(store.checkpoints, registry) for _ in range(3)]
        for each in wrapped:
            each.latest("t")
        assert registry.get_sample_value(CALLS, {"op": "latest", "outcome": "ok"}) == 3
        assert copy.copy(wrapped[0]).latest("t") is None
        assert registry.get_sample_value(CALLS, {"op": "latest", "outcome": "ok"}) == 4
