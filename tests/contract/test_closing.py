"""Intents that nobody told the end of: what became of them is written down once, by who looked (console.md F8)."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.desk import operations
from engine.desk.actor import Actor, Mandate
from engine.desk.audit import chain
from engine.desk.audit.model import Deed, ObjectKind, Phase, Told
from engine.desk.closing import OUTSIDE, UNDER_WAY
from engine.errors import StoreFailure, ValidationError
from tests.support.jobs import ANN, BOB, made, open_intents, word

if TYPE_CHECKING:
    from engine.desk.operations import KnownOutcome
    from tests.support.harness import Harness

TOLD = Told(Deed.RELEASE, ObjectKind.CLAIM, "t", {"before": {"token": 7}})
CLOSER = Mandate(BOB, "looked: nothing of it is there")


def begun(harness: Harness, told: Told = TOLD, actor: Actor = ANN) -> str:
    """The operation of a change that died between its intent and its effect."""
    lost = word(actor)
    harness.store._transactions.write("test", operations.intend, lost, told)
    return lost.operation_id


def closed(harness: Harness, operation: str) -> KnownOutcome:
    """What became of it, as BOB writes it down."""
    return harness.store.desk.close_intent(operation, word(BOB, CLOSER.reason))


def refused(harness: Harness, operation: str) -> str:
    """Why its end may not be written."""
    with pytest.raises(ValidationError) as caught:
        closed(harness, operation)
    return str(caught.value)


def test_an_open_intent_is_closed_by_who_looked(harness: Harness) -> None:
    lost, desk = begun(harness), harness.store.desk
    harness.advance(UNDER_WAY)
    found = closed(harness, lost)
    assert found == desk.outcome_of(lost)
    assert (found.kind, found.object_id, found.actor) == ("release", "t", BOB.name)
    assert found.result["refused"] == "not applied"
    intent, result = desk.audit_of(lost)
    assert (intent.actor, result.actor, result.body["reason"]) == (ANN.name, BOB.name, CLOSER.reason)
    assert (result.body["begun_by"], result.object_kind, result.object_id) == (ANN.name, "claim", "t")
    own = desk.audit_of(str(result.body["closed_by"]))
    assert [(each.phase, each.object_kind, each.object_id) for each in own] == [
        (Phase.INTENT, "operation", lost),
        (Phase.RESULT, "operation", lost),
    ]
    assert own[1].body["outcome"] == "not applied"
    assert open_intents(harness) == []
    assert desk.verify_audit().broken_at is None


def test_a_change_that_may_be_under_way_is_not_closed(harness: Harness) -> None:
    lost = begun(harness)
    outside = begun(harness, Told(Deed.CUSTOM, ObjectKind.STORE, "db"))
    harness.advance(UNDER_WAY - timedelta(seconds=1))
    assert "may still be under way" in refused(harness, lost)
    harness.advance(timedelta(seconds=1))
    assert "may still be under way" in refused(harness, outside)
    harness.advance(OUTSIDE)
    assert closed(harness, outside).result["ended"] == "not known"
    assert sorted(open_intents(harness)) == [lost]


def test_a_closed_change_cannot_land_any_more(harness: Harness) -> None:
    lost = word(ANN)
    harness.store._transactions.write("test", operations.intend, lost, TOLD)
    harness.advance(UNDER_WAY)
    closed(harness, lost.operation_id)
    with pytest.raises(StoreFailure):
        harness.store._transactions.write("test", operations.conclude, lost, TOLD, {"applied": 1})
    assert "written already" in refused(harness, lost.operation_id)


def test_a_commit_that_is_under_way_is_waited_for(harness: Harness) -> None:
    lost = word(ANN)
    harness.store._transactions.write("test", operations.intend, lost, TOLD)
    harness.advance(UNDER_WAY)
    written, waited, problems = threading.Event(), threading.Event(), []

    def land(connection: object) -> None:
        operations.conclude(connection, lost, TOLD, {"applied": 1})  # type: ignore[arg-type]
        written.set()
        waited.wait(0.2)

    def close() -> None:
        problems.append(refused(harness, lost.operation_id))

    landing = threading.Thread(target=harness.store._transactions.write, args=("test", land), name="landing")
    landing.start()
    assert written.wait(20)
    closing = threading.Thread(target=close, name="closing")
    closing.start()
    landing.join(20)
    closing.join(20)
    assert len(problems) == 1
    known = harness.store.desk.outcome_of(lost.operation_id)
    assert known is not None
    assert known.result == {"applied": 1}
    assert open_intents(harness) == []


def test_what_has_an_effect_is_told_as_it_was(harness: Harness) -> None:
    """An operation whose result entry alone is missing: no verb leaves one, a store put together by hand may."""
    lost = word(ANN)
    harness.store._transactions.write("test", operations.intend, lost, TOLD)
    harness.store._transactions.write("test", operations.note, lost, TOLD, {"applied": 1})
    harness.advance(UNDER_WAY)
    assert closed(harness, lost.operation_id).result == {"applied": 1}
    result = harness.store.desk.audit_of(lost.operation_id)[1]
    assert (result.body["applied"], result.actor) == (1, BOB.name)


def test_what_is_no_open_intent_is_not_closed(harness: Harness) -> None:
    job = made(harness.store, 1)
    harness.advance(UNDER_WAY)
    assert "no change was begun" in refused(harness, "op_never")
    assert "it is a job" in refused(harness, job.job_id)
    bare = word(ANN)
    harness.store._transactions.write("test", chain.append, Phase.RESULT, bare, TOLD)
    assert "no change was begun" in refused(harness, bare.operation_id)
    assert open_intents(harness) == [job.job_id]
