"""A plan's job does what was planned and nothing besides, whatever happened in between (console.md F1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import Commit
from engine.desk import ThreadFilter
from engine.desk.audit.model import Deed
from engine.desk.jobs import ItemOutcome, JobState, Runner, execute, executors_for
from engine.desk.plans import preview_delete, preview_release, store_plan
from tests.support.builders import TTL, ck, claim, emit, ev
from tests.support.cascades import check_only_tombstones, grow
from tests.support.jobs import ANN, counted, results, tx, word

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.desk.jobs import Job
    from engine.desk.plans import Plan
    from engine.store import Store
    from tests.support.harness import Harness

WANTED = ThreadFilter(prefix="batch-")
PREVIEWS: dict[Deed, Callable[..., Any]] = {Deed.DELETE: preview_delete, Deed.RELEASE: preview_release}


def matching(store: Store) -> list[str]:
    """What a console's list shows under the filter."""
    return [row.thread_id for row in store.desk.threads(WANTED, None, 200).rows]


def frozen(store: Store, deed: Deed, thread_ids: list[str]) -> Plan:
    """A stored plan for these threads."""
    preview = tx(store).snapshot("test.preview", PREVIEWS[deed], "prod", thread_ids)
    plan: Plan = tx(store).write("test.plan", store_plan, preview, ANN)
    return plan


def carried_out(store: Store, plan: Plan) -> Job:
    """The plan's job at its end."""
    job = execute(tx(store), plan.plan_id, word(), plan.phrase)
    return Runner(tx(store), executors_for(tx(store), {}), "console-a").run(job.job_id)


def whys(store: Store, job: Job) -> dict[str, str]:
    """Why each skipped item was skipped."""
    return {item.object_id: item.detail["why"] for item in results(store, job.job_id, ItemOutcome.SKIPPED)}


def test_F1_37_threads_are_planned_for_a_delete(harness: Harness) -> None:
    store, other = harness.store, harness.sibling()
    grow(store.checkpoints, {f"batch-{n:02}": None for n in range(37)})
    planned = matching(store)
    plan = frozen(store, Deed.DELETE, planned)
    assert (len(planned), plan.items) == (37, 37)

    grow(other.checkpoints, {"batch-99": None})
    bumped = claim(other, "batch-07", "late writer")
    emit(other.checkpoints, "batch-07", bumped.token, "still alive")
    other.checkpoints.release("batch-07", bumped.token)
    other.checkpoints.delete_thread("batch-21", claim(other, "batch-21", "deleter").token)
    done = carried_out(store, plan)

    assert (done.state, done.total, counted(done)) == (JobState.DONE, 37, (35, 2, 0))
    assert whys(store, done) == {"batch-07": "version changed", "batch-21": "already gone"}
    assert sorted(matching(store)) == ["batch-07", "batch-99"]
    check_only_tombstones(harness, [t for t in planned if t != "batch-07"])


def test_report_32_a_release_takes_the_set_that_was_shown(harness: Harness) -> None:
    store, other = harness.store, harness.sibling()
    held = {f"batch-{n:02}": claim(store, f"batch-{n:02}", "worker").token for n in range(5)}
    plan = frozen(store, Deed.RELEASE, list(held))

    late = claim(other, "batch-99", "worker")
    other.checkpoints.release("batch-01", held["batch-01"])
    taken = claim(other, "batch-01", "successor").token
    other.checkpoints.renew("batch-02", held["batch-02"], TTL * 2)
    other.checkpoints.release("batch-03", held["batch-03"])
    done = carried_out(store, plan)

    assert (done.state, counted(done)) == (JobState.DONE, (2, 3, 0))
    said = whys(store, done)
    assert said["batch-01"] == f"token is now {taken}"
    assert said["batch-02"].startswith("renewed until")
    assert set(said) == {"batch-01", "batch-02", "batch-03"}
    assert emit(other.checkpoints, "batch-99", late.token, "untouched") == [1]


def test_report_24_what_came_after_the_page_was_drawn_stays(harness: Harness) -> None:
    store = harness.store
    grow(store.checkpoints, {"batch-1": None, "batch-2": None})
    plan = frozen(store, Deed.DELETE, matching(store))
    grow(store.checkpoints, {"batch-3": None})
    assert counted(carried_out(store, plan)) == (2, 0, 0)
    assert matching(store) == ["batch-3"]


def test_ruling_54_a_child_that_came_meanwhile_stops_the_job_before_its_parent(harness: Harness) -> None:
    store = harness.store
    grow(store.checkpoints, {"batch-root": None, "batch-leaf": "batch-root"})
    plan = frozen(store, Deed.DELETE, ["batch-root"])
    grow(store.checkpoints, {"batch-late": None})
    token = claim(store, "batch-late", "child").token
    from engine.checkpoints import Origin

    made = ck("c2", "c1", t="batch-late", origin=Origin("batch-root"))
    store.checkpoints.commit("batch-late", Commit(token, checkpoint=made, events=[ev("adopted")]))
    done = carried_out(store, plan)
    assert done.state is JobState.STOPPED
    assert store.checkpoints.latest("batch-root") is not None
    assert store.checkpoints.latest("batch-late") is not None


@pytest.mark.parametrize("deed", list(PREVIEWS))
def test_report_29_a_repeated_delete_or_release_says_that_it_is_done(harness: Harness, deed: Deed) -> None:
    store = harness.store
    grow(store.checkpoints, {"batch-1": None})
    claim(store, "batch-1", "worker")
    if deed is Deed.DELETE:
        harness.advance(TTL)
    first, again = frozen(store, deed, ["batch-1"]), frozen(store, deed, ["batch-1"])
    assert counted(carried_out(store, first)) == (1, 0, 0)
    done = carried_out(store, again)
    assert counted(done) == (0, 1, 0)
    assert whys(store, done)["batch-1"] in ("already gone", "already released")
