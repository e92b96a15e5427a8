"""The audit: append-only in the database itself, chained, intent before result (console.md; ruling 56)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from engine.desk import operations
from engine.desk.actor import Actor, Mandate, Route
from engine.desk.audit.chain import hash_of
from engine.desk.audit.model import Deed, ObjectKind, Phase, Told
from engine.desk.audit.pages import AuditFilter
from engine.errors import StoreFailure, ValidationError

if TYPE_CHECKING:
    from engine.store import Store
    from tests.support.harness import Harness

MK = Actor("mk", "bastion-2", "holdwatch 0.1.0", "ops_rw")
TOLD = Told(Deed.RELEASE, ObjectKind.CLAIM, "t", {"before": {"token": 7}})
ROWS = 5
FORGED = (
    "INSERT INTO audit (seq, hash, prev_hash, operation_id, phase, at, actor, route, object_kind, object_id, body)"
    " SELECT {seq}, {link}, {prev}, 'op_forged', phase, at, actor, route, object_kind, object_id, body"
    " FROM audit WHERE seq = 2"
)


def _mandate(actor: Actor = MK) -> Mandate:
    return Mandate(actor, "INC-1", Route.KEY, "holdwatch plan release t")


def _change(store: Store, mandate: Mandate, told: Told = TOLD) -> None:
    store._transactions.write("test", operations.intend, mandate, told)
    store._transactions.write("test", operations.conclude, mandate, told, {"applied": 1})


def test_ruling_56_intent_and_result_are_told_and_chained(harness: Harness) -> None:
    mandate = _mandate()
    _change(harness.store, mandate)
    result, intent = harness.store.desk.audit().rows
    assert (intent.phase, result.phase) == (Phase.INTENT, Phase.RESULT)
    assert (intent.seq, result.seq, result.prev_hash) == (1, 2, intent.hash)
    assert intent.body["reason"] == "INC-1"
    assert intent.body["actor"] == MK.facts()
    assert intent.body["before"] == {"token": 7}
    assert harness.store.desk.audit_of(mandate.operation_id) == (intent, result)
    known = harness.store.desk.outcome_of(mandate.operation_id)
    assert known is not None
    assert (known.kind, known.object_id, known.actor, known.result) == (
        "release",
        "t",
        MK.name,
        {"applied": 1},
    )
    assert harness.store.desk.outcome_of("op_other") is None


def test_report_102_own_actions_and_one_objects_newest_first(harness: Harness) -> None:
    other = Actor("jo", "laptop")
    for n in range(ROWS):
        _change(harness.store, _mandate(), Told(Deed.DELETE, ObjectKind.THREAD, f"t{n}"))
    _change(harness.store, _mandate(other), Told(Deed.DELETE, ObjectKind.THREAD, "t1"))
    desk = harness.store.desk
    mine = desk.audit(AuditFilter(actor=MK.name), limit=4)
    rest = desk.audit(AuditFilter(actor=MK.name), mine.next, limit=200)
    assert [entry.seq for entry in (*mine.rows, *rest.rows)] == list(range(2 * ROWS, 0, -1))
    assert rest.next is None
    of_t1 = desk.audit(AuditFilter(object_kind="thread", object_id="t1")).rows
    assert [entry.actor for entry in of_t1] == [other.name, other.name, MK.name, MK.name]


def test_an_intent_without_a_result_is_shown_as_open(harness: Harness) -> None:
    lost, ended = _mandate(), _mandate()
    harness.store._transactions.write("test", operations.intend, lost, TOLD)
    _change(harness.store, ended)
    found = harness.reopen().desk.open_intents().rows
    assert [entry.operation_id for entry in found] == [lost.operation_id]
    assert harness.store.desk.open_intents("jo@laptop").rows == ()


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE audit SET actor = 'somebody else'",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE seq = 1",
    ],
)
def test_ruling_56_the_database_refuses_to_change_or_remove_an_entry(harness: Harness, forgery: str) -> None:
    _change(harness.store, _mandate())
    with pytest.raises(DBAPIError, match="only grows"), harness.raw() as connection:
        connection.execute(text(forgery))
    assert harness.store.desk.verify_audit().broken_at is None


def test_ruling_56_no_other_way_around_it(harness: Harness) -> None:
    _change(harness.store, _mandate())
    around = {
        "sqlite": "INSERT OR REPLACE INTO audit SELECT seq, hash, operation_id, phase, at, 'x', route, object_kind,"
        " object_id, body, prev_hash FROM audit",
        "postgresql": "TRUNCATE audit",
    }
    with pytest.raises(DBAPIError, match="only grows"), harness.raw() as connection:
        connection.execute(text(around[harness.kind]))
    assert len(harness.store.desk.audit().rows) == 2


def test_a_forged_past_is_found(harness: Harness) -> None:
    for _ in range(ROWS):
        _change(harness.store, _mandate())
    assert harness.store.desk.verify_audit().entries == 2 * ROWS
    _without_the_guard(harness, "UPDATE audit SET actor = 'nobody@nowhere' WHERE seq = 4")
    found = harness.store.desk.verify_audit()
    assert (found.entries, found.broken_at) == (3, 4)
    assert found.problem == "it was changed after it was written"


def test_a_cut_past_is_found(harness: Harness) -> None:
    for _ in range(ROWS):
        _change(harness.store, _mandate())
    _without_the_guard(harness, "DELETE FROM audit WHERE seq = 10")
    found = harness.store.desk.verify_audit()
    assert (found.broken_at, found.problem) == (10, "the log ends at entry 9, its head says 10")
    _without_the_guard(harness, "DELETE FROM audit WHERE seq = 3")
    assert harness.store.desk.verify_audit().problem == "entry 3 is missing"


def test_an_entry_numbered_before_the_first_is_found(harness: Harness) -> None:
    _change(harness.store, _mandate())
    with harness.raw() as connection:
        connection.execute(text(FORGED.format(seq="-5", prev="'x'", link="'forged'")))
    found = harness.store.desk.verify_audit()
    assert (found.entries, found.broken_at) == (0, -5)
    assert "before the first" in str(found.problem)


@pytest.mark.parametrize("said", ["seq = 1, hash = 'x'", "seq = 0, hash = ''"])
def test_a_head_that_was_set_back_is_found(harness: Harness, said: str) -> None:
    _change(harness.store, _mandate())
    with harness.raw() as connection:
        connection.execute(text(f"UPDATE audit_head SET {said}"))
    found = harness.store.desk.verify_audit()
    assert found.broken_at == 1
    assert "head" in str(found.problem)


def test_a_chained_entry_that_the_head_does_not_know_is_found(harness: Harness) -> None:
    _change(harness.store, _mandate())
    last = harness.store.desk.audit().rows[0]
    with harness.raw() as connection:
        row = dict(connection.execute(text("SELECT * FROM audit WHERE seq = 2")).one()._mapping)
        row |= {"seq": 3, "prev_hash": last.hash, "operation_id": "op_forged"}
        line = FORGED.format(seq="3", prev=f"'{last.hash}'", link=f"'{hash_of(row)}'")
        connection.execute(text(line))
    found = harness.store.desk.verify_audit()
    assert (found.entries, found.broken_at) == (3, 3)
    assert "the head says 2" in str(found.problem)


def _without_the_guard(harness: Harness, statement: str) -> None:
    """As one would who owns the tables."""
    off = {
        "sqlite": ["DROP TRIGGER IF EXISTS audit_no_update", "DROP TRIGGER IF EXISTS audit_no_delete"],
        "postgresql": ["ALTER TABLE audit DISABLE TRIGGER ALL"],
    }
    with harness.raw() as connection:
        for line in (*off[harness.kind], statement):
            connection.execute(text(line))


def test_one_operation_has_one_result(harness: Harness) -> None:
    mandate = _mandate()
    _change(harness.store, mandate)
    with pytest.raises(ValidationError, match="begun under it already"):
        _change(harness.store, mandate)
    with pytest.raises(StoreFailure):
        harness.store._transactions.write("test", operations.conclude, mandate, TOLD, {})
    assert harness.store.desk.verify_audit().entries == 2


def _changes(store: Store) -> None:
    for _ in range(ROWS):
        _change(store, _mandate())


def test_two_writers_keep_the_chain_whole(harness: Harness) -> None:
    stores = [harness.open() for _ in range(2)]
    told = [threading.Thread(target=_changes, args=(store,)) for store in stores]
    for each in told:
        each.start()
    for each in told:
        each.join()
    found = harness.store.desk.verify_audit()
    assert (found.entries, found.broken_at) == (4 * ROWS, None)


def test_a_reason_is_asked_for_and_bounded() -> None:
    with pytest.raises(ValidationError, match="say why"):
        Mandate(MK, "  ").reasoned()
    with pytest.raises(ValidationError, match="at most 2000"):
        Mandate(MK, "x" * 2001)
    with pytest.raises(ValidationError, match="must not be empty"):
        Actor("", "host")
