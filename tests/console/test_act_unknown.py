"""console.md F8 for scripts: the answer to a change is lost, and what is said then equals what the store holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from console.act import sending
from console.acting.model import UNKNOWN_CODE, Outcome
from console.cli import Exit
from console.gateway.acting import EngineActing
from console.gateway.records import RecordsReading
from console.model import GatewayError
from engine import open_store
from engine.clock import ManualClock
from engine.desk.actor import Actor, Mandate
from engine.desk.audit.model import Deed, ObjectKind, Told
from engine.desk.closing import UNDER_WAY
from tests.console.act_play import claims, executed, fenced, looking, planned
from tests.support.commands import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.harness import Harness

LOST = GatewayError("the connection was lost while committing", code=UNKNOWN_CODE, retryable=False)
EVIDENCE = ("--evidence", "kind=invoice,ref=1,observed=now,shows=not spent")


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


@pytest.fixture
def lose(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """Loses the answer to one kind of change, after it was done or before; counts how often it was sent."""

    def lossy(name: str, *, lands: bool) -> list[int]:
        call, sent = getattr(EngineActing, name), [0]

        def lost(*arguments: Any) -> Any:
            sent[0] += 1
            if lands:
                call(*arguments)
            raise LOST

        monkeypatch.setattr(EngineActing, name, lost)
        return sent

    return lossy


def test_F8_an_execution_that_landed_is_found_and_its_job_is_run_once(
    harness: Harness, holdwatch: Command, lose: Callable[..., list[int]]
) -> None:
    claims(harness, "t")
    plan = planned(holdwatch, "plan", "release", harness.url, "t")
    sent = lose("execute", lands=True)
    said = executed(holdwatch, harness.url, plan)
    assert (said.code, sent) == (Exit.OK, [1]), said
    assert "it was done at" in said.err
    assert said.document["job"]["applied"] == 1


def test_F8_an_execution_that_did_not_land_is_said_to_have_no_effect_so_far(
    harness: Harness, holdwatch: Command, lose: Callable[..., list[int]]
) -> None:
    claims(harness, "t")
    plan = planned(holdwatch, "plan", "release", harness.url, "t")
    sent = lose("execute", lands=False)
    said = executed(holdwatch, harness.url, plan)
    assert (said.code, said.out, sent) == (Exit.STORE_FAILURE, "", [1])
    assert "UNKNOWN: it has no effect in the store so far" in said.err
    assert "holdwatch outcome " in said.err
    with looking(harness) as gateway:
        assert gateway.claim("t") is not None


CHANGES = {
    "cancel_plan": ("plan", "cancel", "PLAN", "--reason", "r"),
    "resolve": (
        "resolve", "day", "-", "ROW", "--released", *EVIDENCE, "--reason", "r", "--confirm", "RELEASE 0.300000",
    ),
    "pause_job": ("jobs", "pause", "JOB", "--reason", "r"),
    "cancel_job": ("jobs", "cancel", "JOB", "--reason", "r"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_F8_every_other_change_that_landed_is_reported_as_done_and_not_sent_again(
    harness: Harness, holdwatch: Command, lose: Callable[..., list[int]], name: str
) -> None:
    claims(harness, "t", "u")
    row = fenced(harness)
    plan = planned(holdwatch, "plan", "release", harness.url, "t")
    other = planned(holdwatch, "plan", "release", harness.url, "u")
    job = executed(holdwatch, harness.url, other, "--no-run").document["job"]["id"]
    sent = lose(name, lands=True)
    words = list(CHANGES[name])
    words.insert(1 if name == "resolve" else 2, harness.url)
    known = {"PLAN": plan["id"], "JOB": job, "ROW": row}
    said = holdwatch(*(known.get(word, word) for word in words), "--json")
    assert (said.code, sent) == (Exit.OK, [1]), said
    states = {"cancel_plan": "cancelled", "pause_job": "paused", "cancel_job": "cancelled"}
    if name == "resolve":
        assert said.document["came"] == "resolved"
        assert said.document["after"]["state"] == "settled"
    else:
        found = said.document if name == "cancel_plan" else said.document["job"]
        assert found["state"] == states[name]


def test_F8_a_store_that_stays_away_is_asked_so_often_and_then_said_to_be_unknown(
    sqlite_harness: Harness,
    holdwatch: Command,
    lose: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claims(sqlite_harness, "t")
    plan = planned(holdwatch, "plan", "release", sqlite_harness.url, "t")
    asked = [0]

    def away(_self: object, _operation: str) -> None:
        asked[0] += 1
        raise GatewayError("no route to host", code="store_failure", retryable=True)

    lose("execute", lands=True)
    monkeypatch.setattr(RecordsReading, "outcome", away)
    monkeypatch.setattr(sending, "PAUSE_SECONDS", 0.0)
    said = executed(holdwatch, sqlite_harness.url, plan)
    assert (said.code, asked) == (Exit.STORE_FAILURE, [sending.ATTEMPTS])
    assert "UNKNOWN: the store cannot be asked: no route to host" in said.err


def test_F8_a_change_that_was_refused_meanwhile_is_said_to_be_refused(
    sqlite_harness: Harness,
    holdwatch: Command,
    lose: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claims(sqlite_harness, "t")
    plan = planned(holdwatch, "plan", "release", sqlite_harness.url, "t")
    lose("execute", lands=False)
    refused = Outcome("op", "release", "jo@x", datetime.now(UTC), "refused executed", applied=False)
    monkeypatch.setattr(
        RecordsReading, "outcome", lambda _self, operation: replace(refused, operation=operation)
    )
    said = executed(holdwatch, sqlite_harness.url, plan)
    assert (said.code, "it was refused" in said.err) == (Exit.REFUSED, True)


def test_F8_a_plan_that_may_be_stored_is_to_be_looked_for(
    sqlite_harness: Harness, holdwatch: Command, lose: Callable[..., list[int]]
) -> None:
    claims(sqlite_harness, "t")
    lose("make_plan", lands=True)
    said = holdwatch("plan", "release", sqlite_harness.url, "t")
    assert (said.code, "UNKNOWN whether the plan was stored" in said.err) == (Exit.STORE_FAILURE, True)
    assert len(holdwatch.json("plans", sqlite_harness.url)["rows"]) == 1


@pytest.mark.parametrize(("lost", "code"), [(2, Exit.STORE_FAILURE), (3, Exit.OK)])
def test_F8_the_real_link_is_cut_after_a_commit(
    postgres_harness: Harness, holdwatch: Command, lost: int, code: Exit
) -> None:
    """A socket that loses one answer: to the intent, after which nothing follows, or to the execution itself."""
    from tests.support.lossy import LossyLink

    claims(postgres_harness, "t")
    plan = planned(holdwatch, "plan", "release", postgres_harness.url, "t")
    call = EngineActing.execute
    with LossyLink(postgres_harness.url) as link, pytest.MonkeyPatch.context() as patch:
        seen = [0]

        def the_one(tag: bytes) -> bool:
            seen[0] += tag == b"COMMIT"
            return seen[0] == lost  # the first one ends a read

        def armed(self: EngineActing, *arguments: Any) -> str:
            link.arm(the_one)
            return call(self, *arguments)

        patch.setattr(EngineActing, "execute", armed)
        said = executed(holdwatch, link.url, plan)
        assert link.lost == 1
    assert (said.code, "the answer was lost" in said.err) == (code, True), said
    jobs = holdwatch.json("jobs", postgres_harness.url)["rows"]
    assert [row["state"] for row in jobs] == (["done"] if code is Exit.OK else [])
    assert ("UNKNOWN: it has no effect in the store so far" in said.err) is (code is not Exit.OK)


def begun(harness: Harness, ago: timedelta) -> str:
    """The operation of a release of ann's that died so long ago between its intent and its effect."""
    lost = Mandate(Actor("ann", "desk1"), "the incident")
    clock = ManualClock(datetime.now(UTC) - ago)
    with open_store(harness.url, ensure_schema=False, wakeups=False, clock=clock) as store:
        store.desk.record(lost, Told(Deed.RELEASE, ObjectKind.CLAIM, "t"))
    return lost.operation_id


def test_the_end_of_a_change_that_nobody_told_is_written_down_by_who_looked(
    harness: Harness, holdwatch: Command
) -> None:
    lost, young = begun(harness, 2 * UNDER_WAY), begun(harness, timedelta(0))
    close = ("--close", "--reason", "nobody is left to tell")
    asked = holdwatch("outcome", harness.url, lost)
    assert (asked.code, "release claim t, begun by ann@desk1" in asked.err) == (Exit.REFUSED, True)
    assert f"{lost} --close --reason" in asked.err
    early = holdwatch("outcome", harness.url, young, *close)
    assert (early.code, "may still be under way" in early.err) == (Exit.REFUSED, True)
    closed = holdwatch("outcome", harness.url, lost, *close, "--json")
    assert (closed.code, closed.document["applied"]) == (Exit.OK, False), closed
    assert "not applied" in closed.document["told"]
    assert holdwatch("outcome", harness.url, lost).code == Exit.REFUSED
    left = holdwatch.json("audit", harness.url, "--unfinished")["rows"]
    assert [row["operation_id"] for row in left] == [young]
    assert holdwatch("outcome", harness.url, young, "--close").code == Exit.USAGE
