"""What the desk tells a doctor: the schema, the clock, the server, rights, journal and pool."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import make_url, text

import engine.database.vitals
from engine.desk import Level
from engine.desk.health import SKEW
from tests.support.builders import claim

if TYPE_CHECKING:
    import pytest

    from engine.desk import Finding, Health
    from tests.support.harness import Harness

SUBJECTS = {
    "sqlite": ["schema", "clock", "server", "journal", "durability", "permissions", "size", "pool"],
    "postgresql": [
        "schema",
        "clock",
        "server",
        "role",
        "permissions",
        "durability",
        "connections",
        "transactions",
        "pool",
    ],
}


def of(health: Health, subject: str) -> Finding:
    """The finding of one subject."""
    (found,) = (each for each in health.findings if each.subject == subject)
    return found


def test_a_store_is_looked_at_all_over(harness: Harness) -> None:
    health = harness.store.desk.health()
    assert [each.subject for each in health.findings] == SUBJECTS[harness.kind]
    # The tests' server runs without fsync, and its role may do anything.
    weak = {"role", "durability"} if harness.kind == "postgresql" else set()
    assert {each.subject for each in health.findings if each.level is not Level.OK} == weak | (
        {"clock"} if harness.kind == "postgresql" else set()
    )
    assert "version 3" in of(health, "schema").text
    assert health.as_of == harness.now()


def test_a_read_only_connection_is_enough(harness: Harness) -> None:
    health = harness.open(read_only=True, statement_timeout=timedelta(seconds=5)).desk.health()
    assert [each.subject for each in health.findings] == SUBJECTS[harness.kind]
    if harness.kind == "postgresql":
        assert "read-only" in of(health, "role").text


def test_the_clocks_are_compared_on_a_server(postgres_harness: Harness) -> None:
    store = postgres_harness.open(clock=None)
    before = datetime.now(UTC)
    health = store.desk.health()
    assert of(health, "clock").level is Level.OK
    assert abs(health.skew) <= health.within + timedelta(milliseconds=50)
    assert before - SKEW < health.as_of < datetime.now(UTC) + SKEW
    far = postgres_harness.store.desk.health()
    assert of(far, "clock").level is Level.WARNING
    assert abs(far.skew) > timedelta(days=1) / 24


def test_another_journal_is_warned_of() -> None:
    findings = engine.database.vitals._sqlite_journal("delete", 1)
    assert [each.level for each in findings] == [Level.WARNING, Level.WARNING]
    findings = engine.database.vitals._sqlite_journal("wal", 2)
    assert [each.level for each in findings] == [Level.OK, Level.OK]


def test_a_file_that_may_only_be_read_is_no_fault(
    sqlite_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(sqlite_harness.store, "t")
    assert of(sqlite_harness.store.desk.health(), "permissions").text == "may read and write the file"
    monkeypatch.setattr("os.access", lambda *_: False)
    found = of(sqlite_harness.store.desk.health(), "permissions")
    assert (found.level, found.text) == (Level.OK, "may read the file, not write it")


def test_a_role_without_rights_is_a_failure(postgres_harness: Harness) -> None:
    with postgres_harness.raw() as connection:
        connection.execute(text("DROP ROLE IF EXISTS half_blind"))
        connection.execute(text("CREATE ROLE half_blind LOGIN"))
        connection.execute(text("GRANT SELECT ON meta, thread TO half_blind"))
        connection.execute(text("GRANT INSERT, UPDATE, DELETE ON thread TO half_blind"))
    url = make_url(postgres_harness.url).set(username="half_blind")
    try:
        store = postgres_harness.open(url.render_as_string(hide_password=False), ensure_schema=False)
        health = store.desk.health()
        rights = of(health, "permissions")
        assert rights.level is Level.FAILURE
        assert "event" in rights.text
        assert "thread," not in rights.text.replace("thread_metadata", "")
        assert (of(health, "role").level, of(health, "role").text) == (Level.OK, "role half_blind")
        store.close()
    finally:
        with postgres_harness.raw() as connection:
            connection.execute(text("DROP OWNED BY half_blind"))
            connection.execute(text("DROP ROLE half_blind"))


def test_a_transaction_left_open_is_warned_of(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.database.vitals, "LONG_TRANSACTION", timedelta(0))
    with postgres_harness.store.engine.begin() as connection:
        connection.execute(text("SELECT 1"))
        found = of(postgres_harness.sibling().desk.health(), "transactions")
    assert found.level is Level.WARNING
    assert "holds tails" in found.text
