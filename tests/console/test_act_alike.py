"""Issue 6, "Done when" 1: the audit shows what a script did and what a key did alike: deed, object and facts."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from console.acting import equivalent, job_moves
from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, DeleteWish, ReconcileWish, ReleaseWish, Source, SweepPart, SweepWish
from console.acting.resolving import Evidence, EvidenceKind, Released, Shows
from console.gateway.acting import EngineActing
from console.money_words import Address, Kind
from tests.console.act_play import audited, claims, executed, fenced, looking, planned, threads
from tests.console.test_gateway_acting import another_role
from tests.support.commands import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from console.acting.plans import Wish
    from console.acting.records import AuditRow
    from tests.support.harness import Harness

OWN = {"route", "command"}
"""What differs between a key and a script."""
_VARIES = re.compile(
    r"\b(pln_|job_|op_)?[0-9a-f]{32,64}\b|\b\d{16,19}\b|\d{4}-\d\d-\d\dT[0-9:.+]+|[0-9a-f-]{36}"
    r"|RELEASE \d+$|'day': \{[^}]*\}|'token': \d+"
)
"""Ids, hashes and instants; a claim's token; what other reservations have made of the day meanwhile."""


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


@pytest.fixture
def by_key(harness: Harness) -> Iterator[EngineActing]:
    """The door of a console, on the word of the same person."""
    door = EngineActing(harness.url, Person.here())
    door.open(Order("read-write window", "INC-1", Route.KEY, "holdwatch (W)"))
    yield door
    door.close("the test is over")


def by_keys(harness: Harness, door: EngineActing, wish: Wish, environment: str) -> None:
    """Plan, confirm and run, as the screens do it."""
    view = door.make_plan(wish, environment, Bounds())
    target = equivalent.aim(None, harness.url, None)
    line = equivalent.executing(target, str(view.id), view.phrase, "INC-1")
    job = door.execute(str(view.id), Order(view.deed.value, "INC-1", Route.KEY, line), view.phrase, 0)
    door.run_job(job, threading.Event(), {"day": "tests.console.act_play:consumed"})


def told(rows: list[AuditRow], name: str) -> list[Any]:
    """What entries say, less what is different each time; `name` is the object that this change was about."""
    return [
        (
            row.phase,
            row.deed,
            row.object_kind,
            row.reason,
            row.actor,
            plain(row.object_id, name),
            facts(row, name),
        )
        for row in rows
    ]


def facts(row: AuditRow, name: str) -> dict[str, str]:
    """The body's fields as text."""
    return {key: plain(str(value), name) for key, value in sorted(row.body.items()) if key not in OWN}


def plain(text: str, name: str) -> str:
    """The text without what varies."""
    return _VARIES.sub("#", text.replace(name, "OBJECT"))


CASES: dict[str, tuple[tuple[str, ...], Callable[[str], Wish]]] = {
    "delete": (("delete", "NAME"), lambda name: DeleteWish((name,))),
    "release": (("release", "NAME"), lambda name: ReleaseWish((name,))),
    "sweep": (
        ("sweep", "--max-checkpoints", "1", "--prefix", "NAME"),
        lambda name: SweepWish(frozenset({SweepPart.THREADS}), max_checkpoints=1, prefix=name),
    ),
    "reconcile": (
        ("reconcile", "--source", "resolver", "--resolver", "ours", "day:NAME"),
        lambda name: ReconcileWish(
            Source.RESOLVER, addresses=(Address(Kind.DAY, "", name),), resolver="ours"
        ),
    ),
}


def prepared(harness: Harness, deed: str, name: str) -> str:
    """Something for the deed to be done to; its name."""
    if deed == "reconcile":
        return fenced(harness)
    (claims if deed == "release" else threads)(harness, name)
    return name


@pytest.mark.parametrize("deed", CASES)
def test_a_planned_change_is_told_alike_by_script_and_by_key(
    harness: Harness, holdwatch: Command, by_key: EngineActing, deed: str
) -> None:
    words, wish = CASES[deed]
    verb, *rest = words
    by_script = prepared(harness, deed, "script")
    before = len(audited(harness))
    plan = planned(
        holdwatch,
        "plan",
        verb,
        harness.url,
        *(word.replace("NAME", by_script) for word in rest),
        "--reason",
        "INC-1",
    )
    done = executed(holdwatch, harness.url, plan, "--resolver", "day=tests.console.act_play:consumed")
    assert done.code == 0, done
    of_script = [row for row in audited(harness)[before:] if row.deed != "read-write window"]
    pressed = prepared(harness, deed, "keys")
    before = len(audited(harness))
    by_keys(harness, by_key, wish(pressed), plan["environment"])
    of_key = [row for row in audited(harness)[before:] if row.deed != "read-write window"]
    assert told(of_script, by_script) == told(of_key, pressed)
    assert len(of_key) >= 4
    assert {row.route for row in of_script} == {"script", "job"}
    assert {row.route for row in of_key} == {"key", "job"}


def test_a_decision_and_a_plan_given_up_are_told_alike(
    harness: Harness, holdwatch: Command, by_key: EngineActing
) -> None:
    first, second = fenced(harness), fenced(harness)
    seen = "kind=invoice,ref=INV-1,observed=2026-05-04T14:00:00Z,shows=not spent"
    said = holdwatch(
        "resolve", harness.url, "day", "-", first, "--released", "--evidence", seen, "--reason", "INC-1",
        "--confirm", "RELEASE 0.300000",
    )  # fmt: skip
    assert said.code == 0, said
    with looking(harness) as gateway:
        shown = gateway.resolvable(Address(Kind.DAY, "", second))
    assert shown is not None
    at = datetime(2026, 5, 4, 14, tzinfo=UTC)
    evidence = (Evidence(EvidenceKind.INVOICE, "INV-1", at, Shows.NOT_SPENT),)
    by_key.resolve(shown, Released(), evidence, Order("resolve", "INC-1", Route.KEY, "holdwatch resolve"))
    of = [audited(harness, object_kind="reservation", object_id=f"day:{row}") for row in (first, second)]
    assert told(of[0], first) == told(of[1], second)
    assert [row.phase for row in of[0]] == ["intent", "result"]
    claims(harness, "t")
    plan = planned(holdwatch, "plan", "release", harness.url, "t")
    assert holdwatch("plan", "cancel", harness.url, plan["id"], "--reason", "INC-1").code == 0
    other = by_key.make_plan(ReleaseWish(("t",)), plan["environment"], Bounds())
    by_key.cancel_plan(str(other.id), Order("cancel plan", "INC-1", Route.KEY, "holdwatch plan cancel"))
    both = [audited(harness, object_kind="plan", object_id=str(each)) for each in (plan["id"], other.id)]
    assert told(both[0], plan["id"]) == told(both[1], str(other.id))
    assert [row.phase for row in both[0]] == ["intent", "result"]


MOVES = (job_moves.PAUSE, job_moves.RESUME, job_moves.CANCEL)


def test_what_is_said_to_a_job_is_told_alike(
    harness: Harness, holdwatch: Command, by_key: EngineActing
) -> None:
    claims(harness, "t")
    plans = [planned(holdwatch, "plan", "release", harness.url, "t") for _ in range(2)]
    first, second = (
        executed(holdwatch, harness.url, plan, "--no-run").document["job"]["id"] for plan in plans
    )
    before = [len(of_job(harness, job)) for job in (first, second)]
    for move in MOVES:
        assert holdwatch("jobs", move.deed, harness.url, first, "--reason", "INC-1").code == 0, move.deed
        line = move.line(equivalent.aim(None, harness.url, None), second, "INC-1")
        move.call(by_key, second, Order(f"{move.deed} job", "INC-1", Route.KEY, line))
    of_script, of_key = (
        of_job(harness, job)[skip:] for job, skip in zip((first, second), before, strict=True)
    )
    check_alike(of_script, first, of_key, second)
    assert [row.deed for row in of_key if row.phase == "intent"] == [move.deed for move in MOVES]


def of_job(harness: Harness, job: str) -> list[AuditRow]:
    """What was said to a job, oldest first."""
    return audited(harness, object_kind="job", object_id=job)


def check_alike(of_script: list[AuditRow], script: str, of_key: list[AuditRow], key: str) -> None:
    """An intent and a result for each change, which say the same of two objects but for the way; what a job itself
    tells of its end is alike whoever ended it.
    """
    assert told(of_script, script) == told(of_key, key)
    said = [row for row in of_key if row.route != "job"]
    assert {row.route for row in said} == {"key"}
    assert {row.route for row in of_script} - {"job"} == {"script"}
    assert [row.phase for row in said] == ["intent", "result"] * (len(said) // 2)


def test_an_approval_is_told_alike(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another person than the one who made the plans, on both ways."""
    claims(harness, "t")
    first, second = (
        planned(holdwatch, "plan", "release", harness.url, "t", "--approve-above-rows", "0")["id"]
        for _ in range(2)
    )
    url = another_role(harness)
    monkeypatch.setattr("getpass.getuser", lambda: "jo")
    said = holdwatch("plan", "approve", url, first, "--reason", "seen")
    assert said.code == 0, said
    door = EngineActing(url, Person.here())
    door.open(Order("read-write window", "INC-1", Route.KEY, "holdwatch (W)"))
    line = equivalent.approving(equivalent.aim(None, url, None), second, "seen")
    assert door.approve_plan(second, Order("approve plan", "seen", Route.KEY, line)).approved_by
    door.close("the test is over")
    of_script, of_key = (audited(harness, object_kind="plan", object_id=plan) for plan in (first, second))
    check_alike(of_script, first, of_key, second)
    assert {row.actor.partition("@")[0] for row in of_key} == {"jo"}
