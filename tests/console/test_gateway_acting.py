"""The door of changes over real stores: a plan, a job, a decision, and what the audit says of each."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from console.acting.jobs import JobQuery, JobState
from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, DeleteWish, PlanState, ReleaseWish, SweepPart, SweepWish
from console.acting.records import AuditQuery
from console.acting.resolving import Came, Evidence, EvidenceKind, Released, Shows
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.model import GatewayError
from console.money_words import Address, Kind
from tests.support.builders import T0, chain, claim, fresh_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.harness import Harness

MK, JO = Person("mk", "bastion-2"), Person("jo", "laptop")
NOBODY = Bounds()


def order(what: str = "release", reason: str | None = "INC-1") -> Order:
    """A change as the console sends it."""
    return Order(what, reason, Route.KEY, "holdwatch plan release t")


@pytest.fixture
def looking(harness: Harness) -> Iterator[EngineGateway]:
    """The reading side."""
    gateway = EngineGateway(harness.url, harness.clock)
    yield gateway
    gateway.close()


@pytest.fixture
def acting(harness: Harness) -> Iterator[EngineActing]:
    """The changing side, its window open."""
    door = EngineActing(harness.url, MK, harness.clock)
    assert door.open(order("read-write window", "INC-1")) == {}
    yield door
    door.close("the test is over")


def another_role(harness: Harness) -> str:
    """The store's URL for somebody who connects as another database role; a file has none."""
    if harness.kind == "sqlite":
        return harness.url
    name = f"approver_{harness.url.partition('?')[0][-12:]}"
    with harness.raw() as connection:
        connection.execute(text(f"CREATE ROLE {name} SUPERUSER LOGIN"))
    return make_url(harness.url).set(username=name).render_as_string(hide_password=False)


def ran(acting: EngineActing, job: str) -> JobState:
    """Carry a job out to its end."""
    row = acting.run_job(job, threading.Event(), {})
    assert row is not None
    return row.state


def test_a_release_is_previewed_planned_executed_and_told(
    harness: Harness, looking: EngineGateway, acting: EngineActing
) -> None:
    claim(harness.store, "t")
    wish = ReleaseWish(("t", "nobody"))
    preview = looking.preview(wish, "prod")
    assert (preview.id, preview.state, preview.items, preview.apart_count) == (None, PlanState.PREVIEW, 1, 1)
    plan = acting.make_plan(wish, "prod", NOBODY)
    assert plan.id is not None
    assert [item.id for item in looking.plan_items(plan.id, None, 10).rows] == ["t"]
    with pytest.raises(GatewayError, match=r"phrase|type"):
        acting.execute(plan.id, order(), "RELEASE 99999", 0)
    sent = order()
    job = acting.execute(plan.id, sent, plan.phrase, 0)
    outcome = looking.outcome(sent.operation)
    assert outcome is not None
    assert (outcome.by, job in outcome.told) == (MK.name, True)
    assert [row.state for row in looking.jobs(JobQuery(), None, 10).rows] == [JobState.READY]
    assert ran(acting, job) is JobState.DONE
    view = looking.job(job)
    assert view is not None
    assert (view.row.applied, view.row.done, view.row.total) == (1, 1, 1)
    assert looking.claim("t") is None
    told = looking.audit(AuditQuery(object_kind="claim", object_id="t"), None, 10).rows
    assert [row.deed for row in told] == ["release"]
    assert looking.verify_audit(lambda _entries: None).broken_at is None


def test_a_tree_is_deleted_and_a_sweep_is_dry_first(
    harness: Harness, looking: EngineGateway, acting: EngineActing
) -> None:
    root = fresh_id()
    held = claim(harness.store, root)
    chain(harness.store.checkpoints, root, held.token, ["c0", "c1", "c2"])
    harness.store.checkpoints.release(root, held.token)
    sweep = SweepWish(frozenset({SweepPart.THREADS}), max_checkpoints=1)
    dry = looking.preview(sweep, "prod")
    assert dry.rows >= 1
    plan = acting.make_plan(sweep, "prod", NOBODY)
    assert plan.id is not None
    assert ran(acting, acting.execute(plan.id, order("sweep"), plan.phrase, 0)) is JobState.DONE
    plan = acting.make_plan(DeleteWish((root,)), "prod", NOBODY)
    assert plan.id is not None
    assert plan.phrase.endswith(" ON PROD")
    assert ran(acting, acting.execute(plan.id, order("delete"), plan.phrase, 0)) is JobState.DONE
    story = looking.story(root)
    assert story is not None
    assert story.tombstone is not None


def test_a_plan_above_the_bounds_waits_for_another_person(
    harness: Harness, looking: EngineGateway, acting: EngineActing
) -> None:
    claim(harness.store, "t")
    plan = acting.make_plan(ReleaseWish(("t",)), "prod", Bounds(rows=0))
    assert plan.id is not None
    assert plan.state is PlanState.AWAITING
    with pytest.raises(GatewayError):
        acting.approve_plan(plan.id, order("approve"))
    other = EngineActing(another_role(harness), JO, harness.clock)
    other.open(order())
    assert other.approve_plan(plan.id, order("approve")).approved_by == JO.name
    other.close("approved")
    assert ran(acting, acting.execute(plan.id, order(), plan.phrase, 0)) is JobState.DONE


def test_a_decision_is_written_under_what_was_shown(
    harness: Harness, looking: EngineGateway, acting: EngineActing
) -> None:
    which = harness.store.days.reserve(
        kind="call",
        micro=300_000,
        at=T0,
        expires=T0 + timedelta(minutes=1),
        cap_micro=10**6,
        require_fence=True,
    )
    shown = looking.resolvable(Address(Kind.DAY, "", which))
    assert shown is not None
    seen = Evidence(EvidenceKind.PROVIDER_CONSOLE, "req_1", T0 + timedelta(minutes=1), Shows.NOT_SPENT)
    assert [check.weight for check in looking.weigh(shown.story.row.address, Released(), ())] == ["need"]
    with pytest.raises(GatewayError, match="evidence"):
        acting.resolve(shown, Released(), (), order("resolve"))
    made = acting.resolve(shown, Released(), (seen,), order("resolve"))
    assert made.came is Came.RESOLVED
    again = acting.resolve(shown, Released(), (seen,), order("resolve"))
    assert (again.came, again.first is not None) == (Came.OVERTAKEN, True)
    assert again.first is not None
    assert again.first.operation == made.operation


def test_the_window_itself_is_told_and_without_it_nothing_goes(
    harness: Harness, looking: EngineGateway
) -> None:
    door = EngineActing(harness.url, MK, harness.clock)
    with pytest.raises(GatewayError, match="W turns them on"):
        door.make_plan(ReleaseWish(("t",)), "prod", NOBODY)
    opened = order("read-write window", "INC-9")
    door.open(opened)
    assert [row.reason for row in looking.audit(AuditQuery(unfinished=True), None, 10).rows] == ["INC-9"]
    door.close("turned off")
    assert looking.audit(AuditQuery(unfinished=True), None, 10).rows == ()
    assert [row.phase for row in looking.audit_of(opened.operation)] == ["intent", "result"]
    with pytest.raises(GatewayError, match="W turns them on"):
        door.pause_job("job", order())
