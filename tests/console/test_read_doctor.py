"""`holdwatch doctor`: findings and exit codes, and never a password."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import make_url, text

from console.cli import Exit
from tests.support.commands import Command, Said

if TYPE_CHECKING:
    from tests.support.harness import Harness

SECRET = "hunter2/%&"


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def levels(said: Said) -> dict[str, str]:
    """The level of each subject, of a report in JSON."""
    return {each["subject"]: each["level"] for each in said.document["findings"]}


def test_a_file_that_is_well(sqlite_harness: Harness, holdwatch: Command) -> None:
    said = holdwatch("doctor", sqlite_harness.url, "--json")
    assert (said.code, said.err) == (Exit.OK, "")
    assert set(levels(said).values()) == {"ok"}
    assert {"program", "reachable", "schema", "journal", "permissions", "pool"} <= set(levels(said))
    assert said.document["exit_code"] == 0
    assert said.document["store"] == sqlite_harness.url
    assert said.document["as_of"].endswith("Z")
    as_text = holdwatch("doctor", sqlite_harness.url.removeprefix("sqlite:///"))
    assert as_text.code == Exit.OK
    assert any(line.startswith("ok       journal      journal mode wal") for line in as_text.lines)


def test_a_server_tells_its_weaknesses(postgres_harness: Harness, holdwatch: Command) -> None:
    said = holdwatch("doctor", postgres_harness.url, "--json")
    # The tests' own server runs without fsync, under a role above every right.
    assert said.code == Exit.REFUSED
    found = levels(said)
    assert {subject for subject, level in found.items() if level == "warning"} == {"role", "durability"}
    assert found["clock"] == found["connections"] == "ok"
    assert abs(said.document["skew_seconds"]) < 1
    assert said.document["within_seconds"] >= 0
    assert "WARNING  durability" in holdwatch("doctor", postgres_harness.url).out


def test_a_missing_file_is_a_failure_and_is_not_made(tmp_path: Path, holdwatch: Command) -> None:
    path = tmp_path / "none.db"
    said = holdwatch("doctor", str(path), "--json")
    assert (said.code, levels(said)["reachable"]) == (Exit.STORE_FAILURE, "failure")
    assert not path.exists()
    assert "FAILURE  reachable" in holdwatch("doctor", str(path)).out


def test_a_store_without_a_schema_answers_but_fails(harness: Harness, holdwatch: Command) -> None:
    url = harness.fresh_url()
    if harness.kind == "sqlite":
        Path(url.removeprefix("sqlite:///")).touch()
    said = holdwatch("doctor", url, "--json")
    assert said.code == Exit.STORE_FAILURE
    assert (levels(said)["reachable"], levels(said)["schema"]) == ("ok", "failure")
    assert "migrate" in said.out


def test_a_store_of_another_version_says_which(harness: Harness, holdwatch: Command) -> None:
    with harness.raw() as connection:
        connection.execute(text("UPDATE meta SET schema_version = 77"))
    said = holdwatch("doctor", harness.url, "--json")
    assert (said.code, levels(said)["schema"]) == (Exit.STORE_FAILURE, "failure")
    assert "77" in said.out


URLS = (
    "postgresql://ops:{0}@127.0.0.1:1/db",
    "postgresql+psycopg://ops@127.0.0.1:1/db?password={0}",
    "postgresql://ops:{0}@[::bad/x",
    "mysql://ops:{0}@127.0.0.1/db",
    "postgresql://ops:{0}@127.0.0.1:1/db?sslpassword={0}",
)


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_no_password_is_ever_printed(url: str, options: list[str], holdwatch: Command) -> None:
    for secret in ("hunter2", "hunter2%2F%25%26"):
        said = holdwatch("doctor", url.format(secret), *options)
        assert said.code == Exit.STORE_FAILURE
        assert "hunter2" not in said.out + said.err
        assert "reachable" in said.out


def test_the_password_of_a_store_that_answers_stays_hidden(
    postgres_harness: Harness, holdwatch: Command
) -> None:
    url = make_url(postgres_harness.url).set(password=SECRET).render_as_string(hide_password=False)
    for options in ([], ["--json"]):
        said = holdwatch("doctor", url, *options)
        assert "hunter2" not in said.out + said.err
        assert "it answers" in said.out


def test_a_clock_that_is_apart_is_a_warning(
    postgres_harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.desk.health.SKEW", timedelta(seconds=-1))
    said = holdwatch("doctor", postgres_harness.url, "--json")
    assert (said.code, levels(said)["clock"]) == (Exit.REFUSED, "warning")


def test_it_asks_nothing_that_changes(harness: Harness, holdwatch: Command) -> None:
    def everything() -> Any:
        with harness.raw() as connection:
            return connection.execute(text("SELECT * FROM meta")).all()

    before = everything()
    holdwatch("doctor", harness.url)
    assert everything() == before


def test_a_document_is_one_line(harness: Harness, holdwatch: Command) -> None:
    said = holdwatch("doctor", harness.url, "--json")
    assert len(said.lines) == 1
    assert json.loads(said.out)["findings"]
