"""`holdwatch plan …` and `holdwatch plans` on real stores: what is frozen, what is only shown, what is refused."""

from __future__ import annotations

import io
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from console.cli import Exit
from console.identity import Seen
from console.memory import default_memory
from tests.console.act_play import audited, claims, executed, fenced, planned, threads
from tests.support.commands import Command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.harness import Harness

PLAN_FIELDS = {
    "id", "deed", "environment", "phrase", "state", "items", "rows", "bytes", "lines", "blockers", "warnings",
    "kept", "apart", "apart_count", "micro", "units", "params", "made_at", "as_of", "expires_at", "actor",
    "needs_approval", "approved_by", "job", "hash", "least_seconds", "most_seconds", "next_command",
}  # fmt: skip


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def test_a_plan_says_what_goes_what_is_left_out_and_what_to_type(
    harness: Harness, holdwatch: Command
) -> None:
    threads(harness, "a", "b")
    said = holdwatch("plan", "delete", harness.url, "a", "gone")
    assert (said.code, said.err) == (Exit.OK, "")
    text = said.out
    assert "left out  gone: already gone" in text
    assert "phrase" in text
    plan = holdwatch.json("plans", harness.url)["rows"][0]
    assert plan["phrase"] == f"DELETE {plan['rows']} ON {plan['environment'].upper()}"
    last = said.lines[-1]
    assert last.startswith("next: holdwatch execute ")
    assert plan["id"] in last
    assert f"--confirm '{plan['phrase']}'" in last


def test_the_document_of_a_plan_has_every_field_and_no_prompt(harness: Harness, holdwatch: Command) -> None:
    claims(harness, "t")
    made = planned(holdwatch, "plan", "release", harness.url, "t", "free")
    assert set(made) == PLAN_FIELDS
    assert (made["state"], made["items"], made["apart"]) == (
        "ready",
        1,
        [{"id": "free", "reason": "nobody holds it"}],
    )
    shown = holdwatch.json("plan", "show", harness.url, made["id"])
    assert {**shown, "as_of": 0} == {**made, "as_of": 0}
    items = holdwatch.json("plan", "show", harness.url, made["id"], "--items")
    assert [(item["n"], item["kind"], item["id"]) for item in items["rows"]] == [(1, "claim", "t")]
    assert set(items["rows"][0]["guard"]) == {"token", "expires_at"}


def test_a_dry_run_stores_nothing_and_works_read_only(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads(harness, "a")
    monkeypatch.setenv("HOLDWATCH_READ_ONLY", "1")
    said = holdwatch("plan", "delete", harness.url, "a", "--dry-run")
    assert (said.code, said.err) == (Exit.OK, "")
    assert "cannot be executed" in said.out
    dry = holdwatch.json("plan", "sweep", harness.url, "--max-checkpoints", "1", "--dry-run")
    assert (dry["id"], dry["state"], dry["next_command"]) == (None, "preview", None)
    assert [item["kind"] for item in dry["preview_items"]] == ["thread"] or dry["items"] == 1
    assert holdwatch.json("plans", harness.url)["rows"] == []
    assert audited(harness) == []


READ_ONLY_FILE = '[contexts.prod]\nurl = "{url}"\nread_only = true\n'


def test_whatever_says_read_only_wins_over_a_script(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """console.md 3.1 row 11: context and environment refuse alike, and nothing is written."""
    threads(harness, "a")
    file = tmp_path / "config.toml"
    file.write_text(READ_ONLY_FILE.format(url=harness.url))
    changes = (
        ("plan", "delete", "a"),
        ("plan", "cancel", "pln_x", "--reason", "r"),
        ("plan", "approve", "pln_x", "--reason", "r"),
        ("jobs", "run"),
        ("jobs", "pause", "job_x", "--reason", "r"),
    )
    for verb, name, *words in changes:
        by_context = holdwatch(verb, name, "prod", *words, "--config", str(file))
        assert (by_context.code, "read-only by context" in by_context.err) == (Exit.REFUSED, True), by_context
    monkeypatch.setenv("HOLDWATCH_READ_ONLY", "yes")
    for verb, name, *words in changes:
        said = holdwatch(verb, name, harness.url, *words)
        assert (said.code, "read-only by environment" in said.err) == (Exit.REFUSED, True), said
    assert audited(harness) == []


def test_report_104_a_plan_over_a_filter_takes_what_the_filter_means(
    harness: Harness, holdwatch: Command
) -> None:
    threads(harness, "a1", "a2", tenant="acme")
    threads(harness, "b1", tenant="beta")
    made = planned(holdwatch, "plan", "delete", harness.url, "--filter", "tenant:acme id:a")
    items = holdwatch.json("plan", "show", harness.url, made["id"], "--items")["rows"]
    assert sorted(item["id"] for item in items) == ["a1", "a2"]
    claims(harness, "c1", "c2")
    released = planned(holdwatch, "plan", "release", harness.url, "--filter", "state:live")
    assert released["items"] == 2
    nothing = holdwatch("plan", "delete", harness.url, "--filter", "tenant:nobody")
    assert (nothing.code, "nothing matches" in nothing.err) == (Exit.REFUSED, True)
    window_only = holdwatch("plan", "delete", harness.url, "--filter", "~a.*")
    assert window_only.code == Exit.USAGE
    only = planned(holdwatch, "plan", "delete", harness.url, "--filter", "status:idle", "--tenant", "beta")
    assert only["items"] == 1


def test_ids_come_from_standard_input_and_are_held_to_the_tenant(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads(harness, "a", "-b", tenant="acme")
    monkeypatch.setattr("sys.stdin", io.StringIO("a\n-b\n\na\n"))
    made = planned(holdwatch, "plan", "delete", harness.url, "-", "--tenant", "acme")
    assert made["items"] == 2
    other = holdwatch("plan", "delete", harness.url, "a", "--tenant", "beta")
    assert (other.code, "not of tenant" in other.err) == (Exit.REFUSED, True)
    monkeypatch.setattr("sys.stdin", io.StringIO("x" * 5000))
    assert holdwatch("plan", "delete", harness.url, "-").code == Exit.USAGE
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"t{n}\n" for n in range(10_002))))
    assert holdwatch("plan", "delete", harness.url, "-").code == Exit.USAGE


def test_a_plan_is_given_up_once_and_not_executed_afterwards(harness: Harness, holdwatch: Command) -> None:
    claims(harness, "t")
    made = planned(holdwatch, "plan", "release", harness.url, "t")
    said = holdwatch("plan", "cancel", harness.url, made["id"], "--reason", "not today", "--json")
    assert (said.code, said.document["state"]) == (Exit.OK, "cancelled")
    assert said.err.startswith("holdwatch: operation op_")
    again = holdwatch("plan", "cancel", harness.url, made["id"], "--reason", "not today")
    assert again.code == Exit.REFUSED
    refused = next(line.split()[-1] for line in again.err.splitlines() if "operation op_" in line)
    told = holdwatch("outcome", harness.url, refused)
    assert (told.code, told.lines[-1].startswith("REFUSED  ")) == (Exit.REFUSED, True)
    assert executed(holdwatch, harness.url, made).code == Exit.REFUSED
    gone = holdwatch("plan", "show", harness.url, "pln_none")
    assert (gone.code, "there is no plan" in gone.err) == (Exit.REFUSED, True)


def test_a_plan_above_the_bounds_waits_and_its_maker_cannot_approve_it(
    harness: Harness, holdwatch: Command, tmp_path: Path
) -> None:
    claims(harness, "t")
    made = planned(holdwatch, "plan", "release", harness.url, "t", "--approve-above-rows", "0")
    assert (made["state"], made["needs_approval"]) == ("awaiting approval", True)
    assert made["next_command"].startswith("holdwatch plan approve ")
    waits = executed(holdwatch, harness.url, made)
    assert (waits.code, "another person" in waits.err) == (Exit.REFUSED, True)
    own = holdwatch("plan", "approve", harness.url, made["id"], "--reason", "fine")
    assert own.code == Exit.REFUSED
    file = tmp_path / "strict.toml"
    file.write_text("[approval]\nrows = 0\n")
    still = planned(
        holdwatch, "plan", "release", harness.url, "t", "--approve-above-rows", "99", "--config", str(file)
    )
    assert still["needs_approval"], "a command line lowers the configured bounds, and does not lift them"


def test_another_person_approves_and_the_plan_goes(
    postgres_harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told apart by user and, where it is known, by database role."""
    from tests.console.test_gateway_acting import another_role

    claims(postgres_harness, "t")
    made = planned(
        holdwatch,
        "plan",
        "release",
        postgres_harness.url,
        "t",
        "--approve-above-usd",
        "0",
        "--approve-above-rows",
        "0",
    )
    monkeypatch.setattr("getpass.getuser", lambda: "jo")
    said = holdwatch(
        "plan", "approve", another_role(postgres_harness), made["id"], "--reason", "seen", "--json"
    )
    assert (said.code, said.document["state"]) == (Exit.OK, "ready"), said
    assert said.document["approved_by"].startswith("jo@")
    monkeypatch.undo()
    assert executed(holdwatch, postgres_harness.url, made).code == Exit.OK


def test_a_reconcile_pass_and_a_sweep_take_their_options(harness: Harness, holdwatch: Command) -> None:
    row = fenced(harness)
    threads(harness, "a")
    asked = planned(holdwatch, "plan", "reconcile", harness.url, "--day", "--source", "ask")
    assert (asked["items"], asked["micro"], asked["params"]["source"]) == (1, 300_000, "ask")
    named = planned(holdwatch, "plan", "reconcile", harness.url, f"day:{row}", "--source", "ask")
    assert named["items"] == 1
    by_filter = planned(
        holdwatch, "plan", "reconcile", harness.url, "--filter", "kind:day", "--source", "ask"
    )
    assert by_filter["items"] == 1
    swept = planned(
        holdwatch, "plan", "sweep", harness.url, "--max-checkpoints", "1", "--max-age", "90d", "--tombstones", "90d",
        "--lapsed", "--meters-before", "90d", "--prefix", "a",
    )  # fmt: skip
    assert set(swept["params"]["parts"]) == {"threads", "tombstones", "lapsed rows", "meters"}
    asked = ("plan", "sweep", harness.url, "--meters-before", "2026-01-01T00:00:00Z", "--dry-run")
    dated = planned(holdwatch, *asked)
    assert dated["params"]["before"] == 1_767_225_600 * 10**9


def test_a_context_that_leads_to_another_store_is_refused_until_it_is_trusted(
    harness: Harness, holdwatch: Command, tmp_path: Path
) -> None:
    """What a console's header would warn of, a script does not pass over."""
    claims(harness, "t")
    file = tmp_path / "config.toml"
    file.write_text(f'[contexts.prod]\nurl = "{harness.url}"\n')
    memory = default_memory()
    memory.note("prod", Seen("elsewhere", "agents", "", datetime(2026, 5, 4, tzinfo=UTC)))
    said = holdwatch("plan", "release", "prod", "t", "--config", str(file))
    assert (said.code, "another store than the context stands for" in said.err) == (Exit.REFUSED, True)
    assert memory.read()["prod"].server == "elsewhere"
    assert audited(harness) == []
    memory.file.unlink()
    made = planned(holdwatch, "plan", "release", "prod", "t", "--config", str(file))
    assert made["environment"] == "PROD"
    assert memory.read()["prod"].server != "elsewhere", "remembered, as a console does"


def test_the_help_of_changing_commands_is_light() -> None:
    """Neither a driver, nor SQLAlchemy, nor Textual, nor an event loop."""
    code = (
        "import sys; from console import cli; code = cli.run(['plan', 'sweep', '--help']); "
        "heavy = {'textual', 'sqlalchemy', 'psycopg', 'asyncio', 'engine'} & set(sys.modules); "
        "sys.exit(f'{code} {heavy}' if code or heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Plan a sweep" in done.stdout
