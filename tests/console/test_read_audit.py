"""`holdwatch audit` and `holdwatch audit verify`, and the audit of objects, on real stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, ReleaseWish
from console.acting.records import AuditQuery
from console.audit_filters import audit, of_thread
from console.cli import Exit
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from tests.support.builders import claim
from tests.support.commands import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.harness import Harness

ME = Person("mk", "bastion-2")
RAN = Order("your command restart", "INC-2", Route.CUSTOM, "restart t", "op_ran")


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


@pytest.fixture
def acting(harness: Harness) -> Iterator[EngineActing]:
    """A window in which a plan was made for thread t, and given up."""
    claim(harness.store, "t")
    door = EngineActing(harness.url, ME, harness.clock)
    door.open(Order("read-write window", "INC-1", Route.KEY, "holdwatch (W)", "op_window"))
    plan = door.make_plan(ReleaseWish(("t",)), "prod", Bounds())
    assert plan.id is not None
    door.execute(plan.id, Order("execute", "INC-1", Route.KEY, "holdwatch execute"), plan.phrase, 0)
    yield door
    door.close("the test is over")


def test_entries_are_listed_newest_first_by_actor_object_and_operation(
    harness: Harness, acting: EngineActing, holdwatch: Command
) -> None:
    found = holdwatch.json("audit", harness.url)
    assert [row["seq"] for row in found["rows"]] == [4, 3, 2, 1]
    assert found["rows"][0]["body"]["reason"] == "INC-1"
    assert holdwatch.json("audit", harness.url, "--actor", "jo@laptop")["rows"] == []
    plan = found["rows"][0]["object_id"]
    told = holdwatch.json("audit", harness.url, "--object", "plan", plan)["rows"]
    assert [row["phase"] for row in told] == ["result", "intent"]
    alone = holdwatch.json("audit", harness.url, "--operation", "op_window")["rows"]
    assert [row["body"]["deed"] for row in alone] == ["read-write window"]
    left = holdwatch.json("audit", harness.url, "--unfinished", "--actor", ME.name)["rows"]
    assert [row["object_kind"] for row in left] == ["job", "store"]


def test_verify_tells_the_head_or_the_first_entry_that_does_not_fit(
    harness: Harness, acting: EngineActing, holdwatch: Command
) -> None:
    said = holdwatch("audit", "verify", harness.url)
    assert (said.code, "whole: 4 entries" in said.out) == (Exit.OK, True)
    with harness.raw() as connection:
        for statement in unguarded(harness.kind):
            connection.execute(text(statement))
        connection.execute(text("UPDATE audit SET actor = 'nobody' WHERE seq = 3"))
    said = holdwatch("audit", "verify", harness.url)
    assert said.code == Exit.REFUSED
    assert "BROKEN at entry 3: it was changed after it was written; 2 entries were read" in said.out


def unguarded(kind: str) -> list[str]:
    """What an intruder with all rights does first."""
    if kind == "sqlite":
        return ["DROP TRIGGER audit_no_update"]
    return ["ALTER TABLE audit DISABLE TRIGGER ALL"]


@pytest.mark.parametrize(
    "words",
    [
        ["audit", "a.db", "b.db"],
        ["audit", "a.db", "--object", "moon", "1"],
        ["audit", "verify", "a.db", "--actor", "mk@b"],
        ["audit", "a.db", "--unfinished", "--operation", "op"],
        ["audit"],
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(holdwatch: Command, words: list[str]) -> None:
    assert holdwatch(*words).code == Exit.USAGE


def test_the_history_of_a_thread_holds_what_was_done_to_its_claim(
    harness: Harness, acting: EngineActing
) -> None:
    import threading

    acting.run_job(None, threading.Event(), {})
    looking = EngineGateway(harness.url, harness.clock)
    query = audit(of_thread("t"), ME.name)
    rows = looking.audit(query, None, 10).rows
    assert [(row.object_kind, row.deed) for row in rows] == [("claim", "release")]
    assert looking.audit(AuditQuery("thread", "t"), None, 10).rows == ()
    looking.close()


def test_a_program_outside_the_store_is_told_before_and_after_also_when_changes_went_off_meanwhile(
    harness: Harness, acting: EngineActing
) -> None:
    looking = EngineGateway(harness.url, harness.clock)
    acting.record(RAN, {"name": "restart"})
    assert [row.phase for row in looking.audit_of("op_ran")] == ["intent"]
    acting.close("its ten minutes were over")
    acting.recorded(RAN, {"name": "restart", "exit_code": 0})
    intent, result = looking.audit_of("op_ran")
    assert (intent.deed, result.phase, result.body["exit_code"]) == ("custom command", "result", 0)
    assert acting._store is None
    looking.close()
