"""console.md 3.1, row 16: every equivalent command carries its whole target, and does in an empty environment what the
console was about to do.
"""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from console import cli
from console.acting import equivalent
from console.acting.equivalent import Aim
from console.acting.plans import DeleteWish, ReconcileWish, ReleaseWish, Source, SweepPart, SweepWish
from console.acting.resolving import Consumed, Deferred, Evidence, EvidenceKind, Released, Shows
from console.config import load
from console.gateway import plans as gateway_plans
from console.model import ThreadQuery
from console.money_words import Address, Kind
from tests.console.act_play import claims, fenced, looking, threads

if TYPE_CHECKING:
    from console.acting.plans import Wish
    from tests.support.harness import Harness

ROOT = Path(__file__).parents[2]
AT = datetime(2026, 5, 4, 14, 8, 10, tzinfo=UTC)
DAY = Address(Kind.DAY, "", "res 1")
METER = Address(Kind.METER, "agentos_spend", "op:1")
WISHES = (
    DeleteWish(("a", "it's", "-b", "$(x)"), alone=True),
    DeleteWish(("-", "a")),
    DeleteWish(tuple(f"thread {number}" for number in range(150))),
    DeleteWish(("esc\x1b[7m", "rtl\u202e", "100%", "back\\slash\x07")),
    ReleaseWish(("t",)),
    ReconcileWish(Source.DEFAULT, frozenset({Kind.DAY, Kind.METER}), ("m1", "m2"), consume=True),
    ReconcileWish(Source.RESOLVER, frozenset({Kind.METER}), resolver="provider api"),
    ReconcileWish(Source.ASK, addresses=(DAY, METER)),
    SweepWish(
        frozenset(SweepPart),
        timedelta(days=30),
        2,
        100,
        timedelta(hours=36),
        "thr ",
        ("outbox",),
        ("m1",),
        AT,
        "m:f",
    ),
    SweepWish(frozenset({SweepPart.LAPSED})),
)


TOLD = """
import json, sys
print(json.dumps([sys.argv[1:], sys.stdin.read() if "-" in sys.argv else ""]))
"""
"""Stands in the place of the command and tells what it was given."""


def in_an_empty_environment(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell line somewhere else, with nothing but a path to the command and a home where nothing lies."""
    command = folder / "holdwatch"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m console "$@"\n')
    command.chmod(0o755)
    return subprocess.run(
        ["/bin/sh", "-c", line],
        env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def wished(monkeypatch: pytest.MonkeyPatch) -> list[Wish]:
    """Every wish that reaches the gateway, in place of a plan."""
    found: list[Wish] = []

    def kept(_self: object, wish: Wish, _environment: str) -> Any:
        found.append(wish)
        raise KeyboardInterrupt

    monkeypatch.setattr(gateway_plans.PlansReading, "preview", kept)
    return found


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: type(wish).__name__)
def test_report_16_a_planning_line_means_the_very_same_wish(
    sqlite_harness: Harness,
    wish: Wish,
    wished: list[Wish],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A shell takes the line apart; what is left of it is what the console has planned."""
    line = equivalent.planning(Aim(sqlite_harness.url), wish)
    assert line.isprintable()
    script = tmp_path / "holdwatch"
    script.write_text(f"#!{sys.executable}\n{TOLD}")
    script.chmod(0o755)
    told = subprocess.run(
        ["/bin/sh", "-c", line],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    words, piped = json.loads(told.stdout)
    monkeypatch.setattr("sys.stdin", io.StringIO(piped))
    assert cli.run([*words[:2], "--dry-run", *words[2:]]) == cli.Exit.INTERRUPTED
    assert wished == [wish]


def test_report_16_the_lines_of_one_change_run_in_an_empty_environment(
    harness: Harness, tmp_path: Path
) -> None:
    """Planned, executed, and asked for, by nothing but what stands on the lines."""
    threads(harness, "a'b", "c")
    target = equivalent.aim(None, harness.url, None)
    planned = in_an_empty_environment(
        equivalent.planning(target, DeleteWish(("a'b", "c"))) + " --json", tmp_path
    )
    assert (planned.returncode, planned.stderr) == (0, "")
    plan = json.loads(planned.stdout)
    line = equivalent.executing(target, plan["id"], plan["phrase"], "INC-1: it's gone\n$HOME", 500)
    done = in_an_empty_environment(line, tmp_path)
    assert done.returncode == 0, done
    operation = done.stderr.splitlines()[0].rpartition(" ")[2]
    asked = in_an_empty_environment(equivalent.asking(target, operation), tmp_path)
    assert (asked.returncode, plan["id"] in asked.stdout) == (0, True)
    with looking(harness) as gateway:
        intent, result = gateway.audit_of(operation)
        assert (intent.reason, result.body["command"]) == ("INC-1: it's gone\n$HOME", line)
        assert gateway.count_threads(ThreadQuery()).count == 0


def test_report_16_a_context_is_named_with_the_configuration_that_has_it(
    sqlite_harness: Harness, tmp_path: Path
) -> None:
    claims(sqlite_harness, "t")
    file = tmp_path / "other.toml"
    file.write_text(f'[contexts.prod]\nurl = "{sqlite_harness.url}"\nenvironment = "PROD"\n')
    config = load(file)
    target = equivalent.aim(config.contexts["prod"], "", config.file)
    planned = in_an_empty_environment(
        equivalent.planning(target, ReleaseWish(("t", "u"))) + " --json", tmp_path
    )
    plan = json.loads(planned.stdout)
    assert plan["environment"] == "PROD"
    assert plan["next_command"].startswith("holdwatch execute prod pln_")
    assert plan["next_command"].endswith(f"--config {file}")


def test_report_16_a_password_is_in_no_line() -> None:
    from console import stores

    shown = stores.label_of("postgresql://mk:s3cret@db/agents?sslmode=require&password=s3cret").address
    target = equivalent.aim(None, shown, None)
    assert target.store == "postgresql://mk@db/agents?sslmode=require"


def test_report_16_a_file_is_named_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert equivalent.aim(None, "sqlite:///fleet.db", None).store == f"sqlite:///{tmp_path}/fleet.db"


SEEN = (
    Evidence(EvidenceKind.PROVIDER_LOG, "req_1, kind of", AT, Shows.ABSENT, AT - timedelta(days=1)),
    Evidence(EvidenceKind.PERSON, "mk", AT, Shows.UNCLEAR),
)


@pytest.mark.parametrize(
    ("answer", "phrase"),
    [
        (Released(), "RELEASE 0.300000"),
        (Consumed(), "CONSUME 0.300000"),
        (Consumed(120_000), "CONSUME 0.120000"),
        (Deferred(datetime(2100, 1, 1, tzinfo=UTC), "it's Monday"), "DEFER"),
    ],
)
def test_report_16_a_resolution_s_line_decides_the_same(
    sqlite_harness: Harness, answer: Released | Consumed | Deferred, phrase: str
) -> None:
    row = fenced(sqlite_harness)
    line = equivalent.resolving(
        equivalent.aim(None, sqlite_harness.url, None),
        Address(Kind.DAY, "", row),
        answer,
        SEEN,
        phrase,
        "INC-1",
    )
    assert cli.run(shlex.split(line)[1:]) == 0
    with looking(sqlite_harness) as gateway:
        result = next(row for row in gateway.audit(_of(row), None, 10).rows if row.phase == "result")
        told: Any = result.body
    assert told["command"] == line
    assert [item["reference"] for item in told["evidence"]] == [item.reference for item in SEEN]
    assert told["evidence"][0]["covers_from"] == (AT - timedelta(days=1)).isoformat()
    assert told["answer"]["answer"] == type(answer).__name__.lower()


def _of(row: str) -> Any:
    from console.acting.records import AuditQuery

    return AuditQuery(object_kind="reservation", object_id=f"day:{row}")


def test_report_16_the_other_lines_name_their_target_first() -> None:
    target = Aim("prod", Path("/etc/h.toml"))
    assert [
        equivalent.approving(target, "p", "ok"),
        equivalent.giving_up(target, "p"),
        equivalent.running(target, "j"),
        equivalent.pausing(target, "j", "a b"),
        equivalent.resuming(target, "j", "x"),
        equivalent.ending(target, "j", "x"),
    ] == [
        "holdwatch plan approve prod p --reason ok --config /etc/h.toml",
        "holdwatch plan cancel prod p --reason ... --config /etc/h.toml",
        "holdwatch jobs run prod j --config /etc/h.toml",
        "holdwatch jobs pause prod j --reason 'a b' --config /etc/h.toml",
        "holdwatch jobs resume prod j --reason x --config /etc/h.toml",
        "holdwatch jobs cancel prod j --reason x --config /etc/h.toml",
    ]


def test_a_line_that_is_too_long_to_keep_says_so() -> None:
    kept = equivalent.kept("x" * 5_000)
    assert len(kept) == equivalent.MOST_KEPT
    assert kept.endswith(" # cut: 5000 characters")
    assert equivalent.kept("short") == "short"
