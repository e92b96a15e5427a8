"""What a plan to sweep holds: exactly what a sweep would take now, and no more later (rulings 54, 55 and 69)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.checkpoints import RetentionPolicy, SweepPolicy
from engine.checkpoints.events import COMPACT_STEP
from engine.clock import to_ns
from engine.desk.plans import ItemKind, PlanState, SweepAsked, SweepPart, preview_sweep
from engine.desk.plans import sweep_threads as threads
from engine.desk.plans.budget import Budget
from engine.desk.plans.sweep_rows import NOTHING_LAPSED, NOTHING_SETTLED
from engine.errors import PlanRefused, ValidationError
from tests.support import crowd
from tests.support.builders import T0, chain, claim, emit
from tests.support.cascades import grow
from tests.support.meters import CONSUMED, metering
from tests.support.planning import Planner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.desk.plans import Preview
    from tests.support.harness import Harness

P = SweepPart
HOUR = timedelta(hours=1)
POLICIES = {
    "count": RetentionPolicy(max_checkpoints=2),
    "age": RetentionPolicy(max_age=HOUR),
    "events": RetentionPolicy(max_events=3),
    "no event": RetentionPolicy(max_events=0),
    "all three": RetentionPolicy(max_age=HOUR, max_checkpoints=3, max_events=4),
    "nothing goes": RetentionPolicy(max_checkpoints=50, max_age=timedelta(days=50), max_events=50),
}


def histories(harness: Harness) -> None:
    """Threads with long and short histories, old and young ones, one with an open queue entry, one with none."""
    for name, count in (("old", 6), ("one", 1), ("queued", 4)):
        token = claim(harness.store, name, ttl=10 * HOUR).token
        run_id = f"run-{name}"
        for n in range(count):
            chain(harness.checkpoints, name, token, [f"{name}-{n}"], run_id=run_id if n == 1 else "run")
            harness.advance(timedelta(minutes=25))
        emit(harness.checkpoints, name, token, "x", "y")
        harness.checkpoints.release(name, token)
    harness.store.queue.enqueue("queued", {})
    entry = harness.store.queue.lease("worker", HOUR)
    assert entry is not None
    harness.store.queue.record_run(entry.id, entry.lease_token, "run-queued")


def asked(policy: RetentionPolicy, **more: Any) -> SweepAsked:
    """A sweep of threads."""
    return SweepAsked(frozenset({P.THREADS}), SweepPolicy(policy), **more)


def stored(harness: Harness) -> tuple[set[tuple[str, str]], dict[str, int]]:
    """Every checkpoint, and every thread's floor."""
    with harness.raw() as connection:
        kept = connection.execute(text("SELECT thread_id, checkpoint_id FROM checkpoint")).all()
        floors = connection.execute(text("SELECT thread_id, floor_seq FROM thread")).all()
    return {(each[0], each[1]) for each in kept}, {each[0]: each[1] for each in floors}


@pytest.mark.parametrize("policy", POLICIES)
def test_ruling_54_planned_is_what_a_sweep_would_take_now(harness: Harness, policy: str) -> None:
    histories(harness)
    before, floors = stored(harness)
    preview = Planner(harness.store).look(preview_sweep, asked(POLICIES[policy]))
    assert stored(harness) == (before, floors)
    harness.checkpoints.sweep(SweepPolicy(POLICIES[policy]), lambda _: {})
    after, raised = stored(harness)
    planned = {(item.object_id, each) for item in preview.items for each in item.guard["checkpoints"]}
    assert planned == before - after
    planned_floors = {item.object_id: item.guard["floor"] for item in preview.items}
    assert floors | planned_floors == raised
    events = sum(raised[name] - floors[name] for name in floors)
    assert preview.totals.rows == len(planned) + events
    assert {item.kind for item in preview.items} <= {ItemKind.RETENTION}
    assert all(item.guard["checkpoints"] or item.note["event"] for item in preview.items)
    assert bool(preview.items) == (policy != "nothing goes")


def test_ruling_54_a_sweep_plan_does_not_grow_with_its_threads(harness: Harness) -> None:
    histories(harness)
    planner = Planner(harness.store)
    made = planner.store_it(planner.look(preview_sweep, asked(POLICIES["count"])))
    before = planner.items(made.plan_id)
    token = claim(harness.store, "old").token
    chain(harness.checkpoints, "old", token, ["old-6", "old-7"])
    assert planner.items(made.plan_id) == before
    assert planner.checked(made.plan_id, made.phrase) == made
    assert made.params["retention"] == {"max_age": None, "max_checkpoints": 2, "max_events": None}


def test_a_floor_far_above_one_step_is_planned_whole(harness: Harness) -> None:
    token = claim(harness.store, "t", ttl=10 * HOUR).token
    for _ in range(4):
        emit(harness.checkpoints, "t", token, *(["e"] * (COMPACT_STEP // 2)))
    harness.advance(2 * HOUR)
    emit(harness.checkpoints, "t", token, "young")
    preview = Planner(harness.store).look(preview_sweep, asked(POLICIES["age"]))
    (item,) = preview.items
    assert item.guard == {"checkpoints": [], "floor": 2 * COMPACT_STEP + 1}
    assert item.note["event"] == 2 * COMPACT_STEP


def test_of_a_very_long_history_the_oldest_are_planned(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    histories(harness)
    monkeypatch.setattr(threads, "MOST_OF_ONE", 2)
    preview = Planner(harness.store).look(preview_sweep, asked(POLICIES["count"]))
    first = {item.object_id: item.guard["checkpoints"] for item in preview.items}
    assert first["old"] == ["old-0", "old-1"]
    assert preview.totals.warnings == ("old: only its 2 oldest checkpoints are planned; plan again for more",)


def test_a_prefix_narrows_a_sweep(harness: Harness) -> None:
    grow(harness.checkpoints, dict.fromkeys([f"a{n}" for n in range(3)]))
    grow(harness.checkpoints, dict.fromkeys([f"b{n}" for n in range(3)]))
    planner = Planner(harness.store)
    everything = planner.look(preview_sweep, asked(POLICIES["no event"]))
    narrow = planner.look(preview_sweep, asked(POLICIES["no event"], prefix="b"))
    assert [item.object_id for item in everything.items] == ["a0", "a1", "a2", "b0", "b1", "b2"]
    assert [item.object_id for item in narrow.items] == ["b0", "b1", "b2"]


def test_every_page_of_ids_is_looked_at(harness: Harness) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "t", threads.PAGE + 200)
        crowd.tombs(connection, "u", 1_100)
    asked_for = SweepAsked(frozenset({P.TOMBSTONES}), SweepPolicy(tombstone_age=HOUR))
    harness.advance(2 * HOUR)
    assert len(Planner(harness.store).look(preview_sweep, asked_for).items) == 1_100


def test_tombstones_are_planned_by_the_time_of_their_delete(harness: Harness) -> None:
    grow(harness.checkpoints, {"t": None, "u": None})
    for name in ("t", "u"):
        token = claim(harness.store, name).token
        harness.checkpoints.delete_thread(name, token)
        harness.advance(HOUR)
    asked_for = SweepAsked(frozenset({P.TOMBSTONES}), SweepPolicy(tombstone_age=90 * timedelta(minutes=1)))
    preview = Planner(harness.store).look(preview_sweep, asked_for)
    (item,) = preview.items
    assert (item.kind, item.object_id) == (ItemKind.TOMBSTONE, "t")
    assert item.guard == {"deleted_at": to_ns(T0)}
    assert preview.totals.rows == 1


def bare(label: str) -> str:
    """A table's name without the schema that PostgreSQL shows in front of it."""
    return label.rpartition(".")[2]


def tentative(harness: Harness, deadlines: list[timedelta]) -> None:
    """A table of somebody's that adopted the convention."""
    from engine.reserved import convention_columns_ddl

    with harness.raw() as connection:
        columns = convention_columns_ddl(connection.dialect)
        connection.execute(text(f"CREATE TABLE booking (id TEXT PRIMARY KEY, {columns})"))
        for n, ttl in enumerate(deadlines):
            connection.execute(
                text("INSERT INTO booking VALUES (:id, 'txn', 'reserved', :due)"),
                {"id": str(n), "due": to_ns(T0 + ttl)},
            )


def test_lapsed_rows_are_planned_by_table_up_to_now(harness: Harness) -> None:
    tentative(harness, [timedelta(0), timedelta(minutes=1), HOUR])
    harness.advance(timedelta(minutes=2))
    planner = Planner(harness.store)
    preview = planner.look(preview_sweep, SweepAsked(frozenset({P.LAPSED})))
    (item,) = preview.items
    assert (item.kind, bare(item.object_id)) == (ItemKind.LAPSED, "booking")
    assert item.guard == {"until": to_ns(harness.now())}
    assert preview.totals.rows == 2
    assert {bare(each.object_id): each.reason for each in preview.totals.not_applicable} == {
        "plan_item": NOTHING_LAPSED
    }


def test_lapsed_items_of_plans_are_swept_like_any_other(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]))
    harness.advance(timedelta(minutes=5))
    preview = planner.look(preview_sweep, SweepAsked(frozenset({P.LAPSED}), tables=("plan_item",)))
    assert [(bare(item.object_id), item.note["rows"]) for item in preview.items] == [
        ("plan_item", made.items)
    ]


def test_settled_rows_of_meters_are_planned_by_an_instant(harness: Harness) -> None:
    meter = metering(harness, a=9, table_prefix="acme")
    for n in range(3):
        meter.reserve("a", f"op{n}")
        if n < 2:
            meter.settle(f"op{n}", CONSUMED)
    planner = Planner(harness.store)
    early = SweepAsked(frozenset({P.METERS}), before=T0)
    assert [each.reason for each in planner.look(preview_sweep, early).totals.not_applicable] == [
        NOTHING_SETTLED
    ]
    preview = planner.look(preview_sweep, SweepAsked(frozenset({P.METERS}), before=T0 + HOUR))
    (item,) = preview.items
    assert (item.kind, item.object_id, item.note["rows"]) == (ItemKind.PURGE, "acme", 2)
    assert item.guard == {"before": to_ns(T0 + HOUR)}


def test_nothing_to_sweep_is_a_plan_that_cannot_be_executed(harness: Harness) -> None:
    planner = Planner(harness.store)
    preview: Preview = planner.look(preview_sweep, asked(POLICIES["count"]))
    assert planner.store_it(preview).state is PlanState.BLOCKED


FAULTS: dict[str, dict[str, Any]] = {
    "no part": {"parts": frozenset()},
    "threads without a policy": {"parts": frozenset({P.THREADS})},
    "tombstones without an age": {"parts": frozenset({P.TOMBSTONES})},
    "meters without an instant": {"parts": frozenset({P.METERS})},
    "an unknown part": {"parts": frozenset({"everything"})},
    "a prefix that is none": {"parts": frozenset({P.METERS}), "before": T0, "meters": ("a b",)},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_asked_for(fault: str) -> None:
    with pytest.raises(ValidationError):
        SweepAsked(**FAULTS[fault])


def test_an_unknown_table_or_meter_is_an_error(harness: Harness) -> None:
    planner = Planner(harness.store)
    for wrong in (
        SweepAsked(frozenset({P.LAPSED}), tables=("nowhere",)),
        SweepAsked(frozenset({P.METERS}), meters=("nowhere",), before=T0),
    ):
        with pytest.raises(ValidationError):
            planner.look(preview_sweep, wrong)


def test_report_66_a_sweep_too_is_refused_by_its_budget(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    histories(harness)
    planner = Planner(harness.store)
    for budget in (Budget(span=timedelta(0)), Budget(most=1)):
        with pytest.raises(PlanRefused) as caught:
            planner.look(preview_sweep, asked(POLICIES["no event"]), budget)
        assert caught.value.why == "too wide"
    monkeypatch.setattr(threads, "MOST_NAMED", 3)
    with pytest.raises(PlanRefused) as caught:
        planner.look(preview_sweep, asked(POLICIES["count"]))
    assert caught.value.why == "too wide"


def test_a_sweep_that_is_too_wide_names_a_beginning_of_the_ids_that_is_not(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "PAGE", 2)
    grow(harness.checkpoints, dict.fromkeys(["t-10", "t-11", "t-12", "t-20", "t-21", "u"]))
    planner = Planner(harness.store)
    with pytest.raises(PlanRefused) as caught:
        planner.look(preview_sweep, asked(POLICIES["no event"]), Budget(most=4))
    assert caught.value.message == (
        "more than 4 objects are meant; narrow the filter by the beginning of the ids: 't-1' is narrow enough"
        " (it came as far as 't-20')"
    )
    narrow = planner.look(preview_sweep, asked(POLICIES["no event"], prefix="t-1"), Budget(most=4))
    assert [item.object_id for item in narrow.items] == ["t-10", "t-11", "t-12"]


def protects(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """A guard that keeps what begins with an o: of `old` three runs and more, of the others none by name."""
    return {t: frozenset(f"r{n}" for n in range(5 if t == "old" else 0)) for t in ids if t.startswith("o")}


def fails(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """A guard without a word."""
    raise LookupError(f"no answer about {len(ids)}")


def test_what_the_guard_protects_now_is_told_beforehand_and_planned_all_the_same(harness: Harness) -> None:
    histories(harness)
    parts, policy = frozenset({P.THREADS, P.TOMBSTONES}), SweepPolicy(POLICIES["count"], tombstone_age=HOUR)
    token = claim(harness.store, "other").token
    emit(harness.checkpoints, "other", token, "x")
    harness.checkpoints.delete_thread("other", token)
    harness.advance(2 * HOUR)

    def warned(guard: str | None) -> tuple[str, ...]:
        wanted = SweepAsked(parts, policy, guard=guard)
        preview = harness.store.desk.preview_sweep(wanted, environment="prod")
        assert {item.object_id for item in preview.items} == {"old", "other", "queued"}
        return preview.totals.warnings

    here = "tests.contract.test_plans_sweep"
    assert warned(None) == ()
    assert warned(f"{here}:protects") == (
        "old: the guard protects it now: the newest checkpoint of r0, r1, r2 and 2 more would stay",
        "other: the guard protects it now: its tombstone would stay",
    )
    assert warned(f"{here}:fails") == (
        "the guard raised LookupError: no answer about 3; while it does, nothing goes",
    )
    (unknown,) = warned("tests.contract.test_plans_sweep:nowhere")
    assert unknown.startswith("the guard cannot be asked here")
