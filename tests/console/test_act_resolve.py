"""`holdwatch resolve` on real stores: with evidence, once, and the second is told who was first (console.md F5)."""

from __future__ import annotations

import hashlib
import io
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from console.cli import Exit
from tests.console.act_play import audited, fenced
from tests.support.commands import Command, Said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.harness import Harness

SEEN = "kind=provider console,ref=req_9, page 2,observed=now,shows=not spent"


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def released(holdwatch: Command, harness: Harness, row: str, *more: str) -> Said:
    """Release a day reservation, with evidence and reason."""
    return holdwatch(
        "resolve", harness.url, "day", "-", row, "--released", "--evidence", SEEN, "--reason", "INC-2", *more
    )


def test_F5_a_release_needs_its_phrase_and_is_written_with_its_evidence(
    harness: Harness, holdwatch: Command, tmp_path: Path
) -> None:
    row, file = fenced(harness), tmp_path / "search.json"
    file.write_bytes(b"{}")
    evidence = f"{SEEN},covers=2d ago,file={file}"
    said = holdwatch(
        "resolve", harness.url, "day", "-", row, "--released", "--evidence", evidence, "--evidence", SEEN,
        "--reason", "INC-2", "--confirm", "RELEASE 0.300000", "--json",
    )  # fmt: skip
    assert said.code == Exit.OK, said
    made = said.document
    assert set(made) == {"object", "came", "operation", "before", "after", "now", "first", "checks"}
    assert (made["object"], made["came"], made["operation"] in said.err) == (f"day:{row}", "resolved", True)
    assert made["after"]["day"]["reserved_micro"] == 0
    result = audited(harness, object_kind="reservation", object_id=f"day:{row}")[-1]
    assert (result.route, result.reason, result.actor) == ("script", "INC-2", result.actor)
    items = result.body["evidence"]
    assert isinstance(items, list)
    assert items[0]["reference"] == "req_9, page 2"
    assert items[0]["file"] == {"name": "search.json", "sha256": hashlib.sha256(b"{}").hexdigest(), "size": 2}
    assert holdwatch("outcome", harness.url, made["operation"]).code == Exit.OK


def test_F5_c_the_second_is_told_by_whom_and_with_what(harness: Harness, holdwatch: Command) -> None:
    row = fenced(harness)
    assert released(holdwatch, harness, row, "--confirm", "RELEASE 0.300000").lines[0] == "resolved"
    again = released(holdwatch, harness, row, "--confirm", "RELEASE 0.300000")
    assert again.code == Exit.REFUSED
    assert again.lines[0].startswith("overtaken: already settled")
    assert again.lines[1].startswith("by ")
    assert again.lines[1].endswith(": released; reason: INC-2")
    assert again.lines[2].startswith("evidence: provider console req_9, page 2, observed ")
    as_json = released(holdwatch, harness, row, "--confirm", "RELEASE 0.300000", "--json")
    assert (as_json.code, as_json.document["came"]) == (Exit.REFUSED, "overtaken")
    assert as_json.document["first"]["body"]["evidence"][0]["kind"] == "provider console"


def test_F5_a_part_is_consumed_exactly_and_the_rest_freed(harness: Harness, holdwatch: Command) -> None:
    row = fenced(harness)
    given = ("resolve", harness.url, "day", "-", row, "--consumed", "--evidence", SEEN, "--reason", "r")
    for amount in ("0.300001", "-1", "0.1234567", "NaN", "1e3", "０.1", "0", ""):
        said = holdwatch(*given, "--amount", amount, "--confirm", "CONSUME 0.120000")
        assert (said.code, "--amount" in said.err) == (Exit.USAGE, True), amount
    wrong = holdwatch(*given, "--amount", "0.12", "--confirm", "CONSUME 0.300000")
    assert (wrong.code, "that is not CONSUME 0.120000" in wrong.err) == (Exit.REFUSED, True)
    done = holdwatch(*given, "--amount", "0.12", "--confirm", "CONSUME 0.120000", "--json")
    assert done.code == Exit.OK, done
    assert done.document["after"]["settled_micro"] == 120_000


def test_a_deferral_needs_a_note_and_no_evidence(harness: Harness, holdwatch: Command) -> None:
    row = fenced(harness)
    given = ("resolve", harness.url, "day", "-", row, "--defer-until", "2h")
    assert holdwatch(*given, "--confirm", "DEFER").code == Exit.USAGE
    assert holdwatch(*given, "--note", " ", "--confirm", "DEFER").code == Exit.USAGE
    said = holdwatch(*given, "--note", "the provider answers on Monday", "--confirm", "DEFER", "--json")
    assert (said.code, said.document["came"]) == (Exit.OK, "deferred"), said
    found = holdwatch.json("reservation", harness.url, "day", "-", row)
    next_check = datetime.fromisoformat(found["row"]["next_check_at"])
    assert abs(next_check - datetime.now(UTC) - timedelta(hours=2)) < timedelta(minutes=1)


def test_above_the_configured_amount_a_plan_waits_for_another(
    harness: Harness, holdwatch: Command, tmp_path: Path
) -> None:
    row, file = fenced(harness), tmp_path / "config.toml"
    file.write_text("[approval]\nusd = 0.25\n")
    said = released(holdwatch, harness, row, "--confirm", "RELEASE 0.300000", "--config", str(file), "--json")
    assert (said.code, said.document["state"], "another" in said.err) == (
        Exit.REFUSED,
        "awaiting approval",
        True,
    ), said
    assert holdwatch.json("reservation", harness.url, "day", "-", row)["row"]["state"] != "settled"


def test_at_a_terminal_the_checks_are_shown_before_the_phrase(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = fenced(harness)
    monkeypatch.setattr("console.act.asking.interactive", lambda *, as_json: not as_json)
    monkeypatch.setattr("sys.stdin", io.StringIO("RELEASE 0.300000\nINC-3\n"))
    absent = SEEN.replace("not spent", "no record")
    said = holdwatch("resolve", harness.url, "day", "-", row, "--released", "--evidence", absent)
    assert said.code == Exit.OK, said
    assert (
        "[warn] evidence 1 says there is no record, from a source not known to reach back so far: weak"
        in said.err
    )
    assert "To go on type RELEASE 0.300000: Reason: " in said.err


def test_what_is_no_reservation_is_refused(harness: Harness, holdwatch: Command) -> None:
    said = released(holdwatch, harness, "none", "--confirm", "RELEASE 0.300000")
    assert (said.code, "there is no reservation day - none" in said.err) == (Exit.REFUSED, True)


def test_what_speaks_against_the_evidence_is_told_before_the_deed(
    harness: Harness, holdwatch: Command
) -> None:
    row = fenced(harness)
    doubted = SEEN.replace("not spent", "no record")
    given = ("resolve", harness.url, "day", "-", row, "--released", "--evidence", doubted, "--reason", "r")
    said = holdwatch(*given, "--confirm", "RELEASE 0.300000", "--json")
    assert said.code == Exit.OK, said
    told = said.err.splitlines()
    assert told[0].startswith("holdwatch: [warn] evidence 1 says there is no record")
    assert told[1].startswith("holdwatch: operation ")
    (check,) = said.document["checks"]
    assert (check["weight"], check["text"] in told[0]) == ("warn", True)


def test_evidence_that_cannot_have_been_seen_is_refused_before_anybody_is_asked(
    harness: Harness, holdwatch: Command
) -> None:
    row = fenced(harness)
    ahead = SEEN.replace("observed=now", f"observed={(datetime.now(UTC) + timedelta(hours=2)).isoformat()}")
    for evidence, told in ((ahead, "observed in the future"), (f"{SEEN},covers=", "covers from later")):
        late = evidence + (datetime.now(UTC) + timedelta(hours=1)).isoformat() if "covers" in evidence else ""
        said = holdwatch(
            "resolve", harness.url, "day", "-", row, "--released", "--evidence", late or evidence
        )
        assert (said.code, told in said.err) == (Exit.REFUSED, True), said
    assert audited(harness) == []


def test_where_nobody_can_be_asked_the_very_phrase_is_named(harness: Harness, holdwatch: Command) -> None:
    row = fenced(harness)
    given = ("resolve", harness.url, "day", "-", row, "--released", "--evidence", SEEN)
    said = holdwatch(*given, "--reason", "r")
    assert (said.code, "--confirm 'RELEASE 0.300000' must be given" in said.err) == (Exit.USAGE, True), said
    both = holdwatch(*given)
    assert "--reason WHY and --confirm 'RELEASE 0.300000' must be given" in both.err
    assert audited(harness) == []


def test_a_kind_that_is_none_is_told_the_two(harness: Harness, holdwatch: Command) -> None:
    said = holdwatch("resolve", harness.url, "week", "-", "x", "--released", "--evidence", SEEN)
    assert (said.code, "KIND: no 'week'; there are day, meter" in said.err) == (Exit.USAGE, True)
    assert "tentative" not in said.err


def test_F5_f_a_correction_names_the_decision_that_it_puts_right(
    harness: Harness, holdwatch: Command
) -> None:
    row = fenced(harness)
    wait = ("--defer-until", "1h", "--note", "wait", "--confirm", "DEFER", "--json")
    first = holdwatch("resolve", harness.url, "day", "-", row, *wait).document["operation"]
    confirmed = ("--confirm", "RELEASE 0.300000")
    wrong = released(holdwatch, harness, row, "--corrects", "op_nowhere", *confirmed)
    assert (wrong.code, "corrects: the store knows no operation 'op_nowhere'" in wrong.err) == (
        Exit.REFUSED,
        True,
    )
    made = released(holdwatch, harness, row, "--corrects", first, *confirmed)
    assert (made.code, made.lines[0]) == (Exit.OK, "resolved")
    result = audited(harness, object_kind="reservation", object_id=f"day:{row}")[-1]
    assert (result.body["corrects"], f"--corrects {first} " in str(result.body["command"])) == (first, True)
    assert released(holdwatch, harness, row, "--corrects", " ", *confirmed).code == Exit.USAGE
