"""`holdwatch execute`, `jobs run|pause|resume|cancel`, `outcome` and `grants`: every exit code, and what is said."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from console.cli import Exit
from tests.console import act_play
from tests.console.act_play import audited, claims, executed, fenced, looking, planned, real, threads
from tests.support.builders import claim
from tests.support.commands import Command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.harness import Harness

JOB_FIELDS = {
    "id", "plan", "deed", "environment", "state", "owner", "lease_until", "done", "total", "applied", "skipped",
    "failed", "rate", "created_at", "unapplied",
}  # fmt: skip


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


class Terminal(io.StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """Standard input and error are a terminal's."""
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("console.act.asking.interactive", lambda *, as_json: not as_json)


def test_a_plan_is_executed_and_its_outcome_can_be_asked_for(harness: Harness, holdwatch: Command) -> None:
    threads(harness, "a", "b")
    plan = planned(holdwatch, "plan", "delete", harness.url, "a", "b")
    said = executed(holdwatch, harness.url, plan, "--rate", "1000")
    assert said.code == Exit.OK, said
    assert set(said.document) == {"operation", "plan", "job", "next_command"}
    assert set(said.document["job"]) == JOB_FIELDS
    job = said.document["job"]
    assert (job["state"], job["applied"], job["rate"], said.document["next_command"]) == (
        "done",
        2,
        1000,
        None,
    )
    operation = said.document["operation"]
    assert f"holdwatch: operation {operation}" in said.err
    found = holdwatch.json("outcome", harness.url, operation)
    assert set(found) == {"operation", "what", "by", "at", "told", "applied"}
    assert job["id"] in found["told"]
    assert holdwatch("outcome", harness.url, operation).lines[-1].startswith("applied  ")
    with looking(harness) as gateway:
        story = gateway.story("a")
        assert story is not None
        assert story.tombstone is not None
    again = executed(holdwatch, harness.url, plan)
    assert (again.code, "executed already as job" in again.err, ", by " in again.err) == (
        Exit.REFUSED,
        True,
        True,
    )


@pytest.mark.parametrize(("given", "rate"), [((), 700), (("--rate", "0"), 0), (("--rate", "900"), 900)])
def test_F10_the_configured_rate_holds_unless_another_is_given(
    harness: Harness,
    holdwatch: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: tuple[str, ...],
    rate: int,
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[jobs]\nrate = 700\n")
    monkeypatch.setenv("HOLDWATCH_CONFIG", str(file))
    threads(harness, "a")
    plan = planned(holdwatch, "plan", "delete", harness.url, "a")
    assert "--rate 700" in plan["next_command"]
    said = executed(holdwatch, harness.url, plan, *given)
    assert (said.code, said.document["job"]["rate"]) == (Exit.OK, rate)
    assert any(f"--rate {rate} " in f"{entry.body.get('command')} " for entry in audited(harness))


def test_what_changed_since_is_skipped_told_and_is_exit_code_1(harness: Harness, holdwatch: Command) -> None:
    claims(harness, "kept", "renewed")
    plan = planned(holdwatch, "plan", "release", harness.url, "kept", "renewed")
    with real(harness) as store:
        token = store.desk.claim("renewed").row.token  # type: ignore[union-attr]
        store.checkpoints.renew("renewed", token, act_play.TTL)
    said = executed(holdwatch, harness.url, plan)
    assert said.code == Exit.REFUSED
    job = said.document["job"]
    assert (job["applied"], job["skipped"]) == (1, 1)
    assert [(item["id"], item["outcome"]) for item in job["unapplied"]] == [("renewed", "skipped")]
    assert job["unapplied"][0]["why"]


def test_a_wrong_phrase_an_empty_reason_or_no_plan_changes_nothing(
    harness: Harness, holdwatch: Command
) -> None:
    claims(harness, "t")
    plan = planned(holdwatch, "plan", "release", harness.url, "t")
    given = ("execute", harness.url, plan["id"])
    wrong = holdwatch(*given, "--reason", "r", "--confirm", "RELEASE 999")
    assert (wrong.code, "nothing was changed" in wrong.err) == (Exit.REFUSED, True)
    for reason in ("...", " ", ""):
        assert holdwatch(*given, "--reason", reason, "--confirm", plan["phrase"]).code == Exit.USAGE
    assert holdwatch("execute", harness.url, "pln_x", "--reason", "r", "--confirm", "X").code == Exit.REFUSED
    with looking(harness) as gateway:
        assert gateway.claim("t") is not None


def test_nobody_is_asked_in_a_pipe_nor_with_json(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims(harness, "t")
    plan = planned(holdwatch, "plan", "release", harness.url, "t")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{plan['phrase']}\n"))
    piped = holdwatch("execute", harness.url, plan["id"], "--reason", "r")
    assert (piped.code, f"--confirm '{plan['phrase']}' must be given" in piped.err) == (Exit.USAGE, True)
    at_a_terminal(monkeypatch, f"{plan['phrase']}\n")
    as_json = holdwatch("execute", harness.url, plan["id"], "--json")
    assert (as_json.code, as_json.out) == (Exit.USAGE, "")
    lacking = f"--reason WHY and --confirm '{plan['phrase']}' must be given: nobody can be asked"
    assert f"{lacking}, for --json never asks" in as_json.err


def test_at_a_terminal_the_plan_is_shown_and_the_phrase_is_typed(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims(harness, "t")
    plan = planned(holdwatch, "plan", "release", harness.url, "t")
    for typed in ("", "no\n", "\n"):
        at_a_terminal(monkeypatch, typed)
        left = holdwatch("execute", harness.url, plan["id"], "--reason", "r")
        assert (left.code, "nothing was changed" in left.err) == (Exit.REFUSED, True), typed
    at_a_terminal(monkeypatch, f"{plan['phrase']}\nINC-2\n")
    done = holdwatch("execute", harness.url, plan["id"])
    assert done.code == Exit.OK, done
    assert "Release claims" in done.err
    assert f"To go on type {plan['phrase']}: Reason: " in done.err
    assert done.lines[0].endswith("done: applied 1, skipped 0, failed 0 of 1")
    assert {row.reason for row in audited(harness, object_kind="plan", object_id=plan["id"])} == {"INC-2"}


def test_a_job_is_left_to_others_paused_resumed_run_and_cancelled(
    harness: Harness, holdwatch: Command
) -> None:
    claims(harness, "t", "u")
    plan = planned(holdwatch, "plan", "release", harness.url, "t")
    left = executed(holdwatch, harness.url, plan, "--no-run")
    job = left.document["job"]["id"]
    assert (left.code, left.document["job"]["state"]) == (Exit.OK, "ready")
    assert left.document["next_command"].startswith("holdwatch jobs run ")
    paused = holdwatch("jobs", "pause", harness.url, job, "--reason", "wait", "--json")
    assert (paused.code, paused.document["job"]["state"]) == (Exit.OK, "paused")
    assert paused.document["operation"] in paused.err
    assert paused.document["next_command"].startswith("holdwatch jobs resume ")
    assert holdwatch("jobs", "pause", harness.url, job, "--reason", "wait").code == Exit.REFUSED
    assert holdwatch("jobs", "run", harness.url, job).code == Exit.REFUSED
    assert holdwatch.json("jobs", "run", harness.url) == {"job": None, "next_command": None}
    assert holdwatch("jobs", "resume", harness.url, job, "--reason", "on").code == Exit.OK
    ran = holdwatch("jobs", "run", harness.url, "--reason", "INC-4", "--json")
    assert "INC-4" in {row.reason for row in audited(harness) if row.deed == "read-write window"}
    assert holdwatch("jobs", "run", harness.url, "--reason", " ").code == Exit.USAGE
    assert (ran.code, ran.document["job"]["id"], ran.document["job"]["state"]) == (Exit.OK, job, "done")
    other = executed(
        holdwatch, harness.url, planned(holdwatch, "plan", "release", harness.url, "u"), "--no-run"
    )
    ended = holdwatch("jobs", "cancel", harness.url, other.document["job"]["id"], "--reason", "no", "--json")
    assert (ended.code, ended.document["job"]["state"], ended.document["next_command"]) == (
        Exit.OK,
        "cancelled",
        None,
    )
    missing = holdwatch("jobs", "cancel", harness.url, "job_x", "--reason", "no")
    assert (missing.code, "job_x" in missing.err) == (Exit.REFUSED, True)
    assert [row["job_id"] for row in holdwatch.json("jobs", harness.url)["rows"]].count(job) == 1


def test_a_pass_asks_the_resolver_that_is_named(harness: Harness, holdwatch: Command) -> None:
    row = fenced(harness)
    asked = ("plan", "reconcile", harness.url, "--day", "--source", "resolver")
    plan = planned(holdwatch, *asked, "--resolver", "ours")
    here = executed(holdwatch, harness.url, plan, "--resolver", "day=tests.console.act_play:missing")
    assert (here.code, "jobs run" in here.err) == (Exit.REFUSED, True), here
    job = holdwatch.json("jobs", harness.url)["rows"][0]["job_id"]
    done = holdwatch(
        "jobs", "run", harness.url, job, "--resolver", "day=tests.console.act_play:consumed", "--json"
    )
    assert (done.code, done.document["job"]["applied"]) == (Exit.OK, 1), done
    told = holdwatch.json("reservation", harness.url, "day", "-", row)
    assert told["row"]["state"] == "settled"


def test_a_pass_that_asks_a_person_leaves_its_rows_and_says_so(harness: Harness, holdwatch: Command) -> None:
    row = fenced(harness)
    plan = planned(holdwatch, "plan", "reconcile", harness.url, "--day", "--source", "ask")
    said = holdwatch("execute", harness.url, plan["id"], "--reason", "r", "--confirm", plan["phrase"])
    assert said.code == Exit.REFUSED
    assert said.lines[1] == f"skipped  day:{row}: waits for a person's answer: resolve it"


def test_a_job_that_is_not_there_is_refused_and_not_said_to_go_on(
    harness: Harness, holdwatch: Command
) -> None:
    said = holdwatch("jobs", "run", harness.url, "job_none", "--reason", "r")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "there is no job 'job_none'" in said.err
    assert "goes on" not in said.err
    assert holdwatch.json("audit", harness.url)["rows"] == [], "nothing was begun for it"


def test_an_unknown_operation_has_no_outcome(harness: Harness, holdwatch: Command) -> None:
    said = holdwatch("outcome", harness.url, "op_x")
    assert (said.code, said.out, "no effect" in said.err) == (Exit.REFUSED, "", True)


def test_a_store_that_cannot_be_reached_is_exit_code_2(holdwatch: Command) -> None:
    url = "postgresql://nobody@127.0.0.1:1/none"
    assert holdwatch("plan", "delete", url, "a").code == Exit.STORE_FAILURE
    assert (
        holdwatch("execute", "/no/such.db", "p", "--reason", "r", "--confirm", "c").code == Exit.STORE_FAILURE
    )


def test_grants_are_printed_without_a_store(holdwatch: Command) -> None:
    worker = holdwatch("grants", "--role", "worker", "--to", "app")
    assert (worker.code, worker.err) == (Exit.OK, "")
    assert "GRANT USAGE ON SCHEMA public TO app;" in worker.lines
    mine = holdwatch(
        "grants", "--role", "ops_ro", "--to", "eyes", "--schema", "s", "--meter", "m1", "--meter", "m2",
        "--table", "spots",
    )  # fmt: skip
    for table in ("m1", "m2", "spots"):
        assert any(f"s.{table}" in line for line in mine.lines), table
    assert not any("INSERT" in line for line in mine.lines)
    assert holdwatch("grants", "--role", "king", "--to", "x").code == Exit.USAGE
    assert holdwatch("grants", "--role", "worker", "--to", "").code == Exit.USAGE


def test_a_role_with_too_few_rights_is_told_which(postgres_harness: Harness, holdwatch: Command) -> None:
    """Issue 6, "Roles": what is off is said before anything is tried."""
    from sqlalchemy import text
    from sqlalchemy.engine import make_url

    from engine.desk.grants import Role, grants

    name = f"half_{make_url(postgres_harness.url).database}"[:60]
    with postgres_harness.raw() as connection:
        connection.execute(text(f"CREATE ROLE {name} LOGIN"))
        for line in grants(Role.OPS_RW, name):
            if "agentos_spend" not in line:
                connection.execute(text(line))
        connection.execute(text(f"REVOKE DELETE ON event FROM {name}"))
    url = make_url(postgres_harness.url).set(username=name).render_as_string(hide_password=False)
    threads(postgres_harness, "t")
    said = holdwatch("plan", "delete", url, "t")
    assert (said.code, "this role may not delete" in said.err, "grants --role" in said.err) == (
        Exit.REFUSED,
        True,
        True,
    ), said


def test_the_window_of_a_script_is_told_from_open_to_end(harness: Harness, holdwatch: Command) -> None:
    claims(harness, "t")
    holdwatch("plan", "release", harness.url, "t", "--reason", "INC-7")
    rows = audited(harness)
    assert [(row.deed, row.phase, row.route, row.reason) for row in rows] == [
        ("read-write window", "intent", "script", "INC-7"),
        ("read-write window", "result", "script", "INC-7"),
    ]
    command = json.loads(json.dumps(rows[0].body))["command"]
    assert command.startswith("holdwatch plan release ")
    with real(harness) as store:
        assert claim(store, "free").token


def test_progress_is_one_line_on_a_terminal_and_plain_lines_elsewhere(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims(harness, *(f"t{number}" for number in range(12)))
    monkeypatch.setattr("console.act.carrying.LOOK_SECONDS", 0.05)
    monkeypatch.setattr("console.act.carrying.LINE_SECONDS", 0.05)
    plain = planned(holdwatch, "plan", "release", harness.url, *(f"t{number}" for number in range(6)))
    said = executed(holdwatch, harness.url, plain, "--rate", "20")
    assert said.code == Exit.OK
    lines = [line for line in said.err.splitlines() if "/6 " in line]
    assert lines, said.err
    assert all(line.startswith("holdwatch: ") and "skipped 0, failed 0" in line for line in lines)
    assert "\r" not in said.err
    again = planned(holdwatch, "plan", "release", harness.url, *(f"t{number}" for number in range(6, 12)))
    monkeypatch.setattr("console.act.carrying.on_terminal", lambda: True)
    drawn = executed(holdwatch, harness.url, again, "--rate", "20")
    assert drawn.err.count("\r") > 2
    assert drawn.err.endswith("\r"), "the line is wiped before anything else is said"
