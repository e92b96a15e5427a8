"""The operator's program hears of the changes of scripts as it does of the console's (console.md 3.4, row 103)."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from console.cli import Exit
from tests.console.act_play import claims, executed, fenced, planned
from tests.support.commands import Command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.harness import Harness

KEEP = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read() + chr(10))"
EVIDENCE = "kind=invoice,ref=1,observed=now,shows=not spent"


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def configured(folder: Path, program: str) -> str:
    """A configuration with this program, and nothing else."""
    file = folder / "config.toml"
    file.write_text(f"[hooks]\nafter_change = '''{program}'''\n")
    return str(file)


def test_report_103_a_script_tells_the_program_of_each_change_with_its_audit_record(
    harness: Harness, holdwatch: Command, tmp_path: Path
) -> None:
    kept = tmp_path / "records"
    config = ("--config", configured(tmp_path, f'{sys.executable} -S -c "{KEEP}" {kept}'))
    row = fenced(harness)
    claims(harness, "thr-9")
    made = holdwatch(
        "resolve", harness.url, "day", "-", row, "--released", "--evidence", EVIDENCE, "--reason", "INC-1",
        "--confirm", "RELEASE 0.300000", "--json", *config,
    )  # fmt: skip
    assert (made.code, "after_change" in made.err) == (Exit.OK, False), made
    plan = planned(holdwatch, "plan", "release", harness.url, "thr-9", *config)
    assert executed(holdwatch, harness.url, plan, *config).code == Exit.OK
    told: list[dict[str, Any]] = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [each["what"] for each in told] == ["resolve", "release"]  # a plan that is stored changes nothing
    for each in told:
        assert [entry["phase"] for entry in each["entries"]] == ["intent", "result"]
        assert {entry["route"] for entry in each["entries"]} == {"script"}
        assert {entry["operation"] for entry in each["entries"]} == {each["operation"]}
    assert told[0]["operation"] == made.document["operation"]
    assert told[0]["entries"][1]["body"]["status"] == "resolved"


def test_report_103_a_program_that_fails_is_told_and_changes_nothing_of_what_the_command_comes_to(
    harness: Harness, holdwatch: Command, tmp_path: Path
) -> None:
    config = configured(tmp_path, "sh -c 'echo no such channel; exit 3'")
    made = holdwatch(
        "resolve", harness.url, "day", "-", fenced(harness), "--defer-until", "1h", "--note", "wait",
        "--confirm", "DEFER", "--config", config,
    )  # fmt: skip
    assert (made.code, made.lines[0]) == (Exit.OK, "deferred")
    assert "after_change sh: exit code 3: no such channel" in made.err
