"""What nobody should type: a word of refusal and its exit code, never a traceback, and nothing written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.cli import Exit
from tests.console.act_play import audited
from tests.support.commands import Command

if TYPE_CHECKING:
    from tests.support.harness import Harness

E = "--evidence"
GIVEN = ("--reason", "r", "--confirm", "RELEASE 0.300000")
GOOD = "kind=invoice,ref=1,observed=now,shows=spent"
USAGE = (
    ("plan",),
    ("plan", "explode", "S"),
    ("plan", "delete", "S"),
    ("plan", "delete", "S", "a", "--filter", "status:idle"),
    ("plan", "delete", "S", "--filter", "status:nowhere"),
    ("plan", "delete", "S", "--filter", "state:tombstone"),
    ("plan", "release", "S", "--filter", "by:holder"),
    ("plan", "delete", "S", "a", "--approve-above-usd", "-1"),
    ("plan", "delete", "S", "a", "--approve-above-usd", "1e3"),
    ("plan", "delete", "S", "a", "--approve-above-rows", "-1"),
    ("plan", "delete", "S", "a", "--approve-above-units", "many"),
    ("plan", "reconcile", "S"),
    ("plan", "reconcile", "S", "--source", "default"),
    ("plan", "reconcile", "S", "--source", "me", "--day"),
    ("plan", "reconcile", "S", "--source", "ask", "--day", "day:1"),
    ("plan", "reconcile", "S", "--source", "ask", "day"),
    ("plan", "reconcile", "S", "--source", "ask", "meter:x"),
    ("plan", "reconcile", "S", "--source", "ask", "--day", "--after-lease", "eat"),
    ("plan", "reconcile", "S", "--source", "default", "--meters"),
    ("plan", "sweep", "S"),
    ("plan", "sweep", "S", "outbox"),
    ("plan", "sweep", "S", "--max-age", "forever"),
    ("plan", "sweep", "S", "--max-checkpoints", "0"),
    ("plan", "sweep", "S", "--max-events", "99999999999999999999999"),
    ("plan", "sweep", "S", "--max-age", "30d", "--meter", "m"),
    ("plan", "sweep", "S", "--meters-before", "yesterday"),
    ("plan", "sweep", "S", "--meters-before", "2026-13-01"),
    ("plan", "sweep", "S", "--meters-before", "999999d"),
    ("plan", "show", "S"),
    ("plan", "approve", "S", "p"),
    ("plan", "cancel", "S", "p", "--reason", "..."),
    ("plans", "S", "--limit", "0"),
    ("execute", "S"),
    ("execute", "S", "p", *GIVEN, "--rate", "-1"),
    ("execute", "S", "p", *GIVEN, "--rate", "fast"),
    ("execute", "S", "p", *GIVEN, "--resolver", "day"),
    ("execute", "S", "p", *GIVEN, "--resolver", "week=a:b"),
    ("jobs", "run"),
    ("jobs", "run", "S", "j", "--resolver", "meter:=a:b"),
    ("jobs", "pause", "S", "j"),
    ("jobs", "cancel", "S", "j", "--reason", " "),
    ("resolve", "S", "day", "-", "x", *GIVEN, E, GOOD),
    ("resolve", "S", "day", "-", "x", "--released", "--consumed", *GIVEN, E, GOOD),
    ("resolve", "S", "day", "-", "x", "--released", "--amount", "1", *GIVEN, E, GOOD),
    ("resolve", "S", "day", "-", "x", "--released", *GIVEN),
    ("resolve", "S", "day", "-", "x", "--released", "--note", "n", *GIVEN, E, GOOD),
    ("resolve", "S", "week", "-", "x", "--released", *GIVEN, E, GOOD),
    ("resolve", "S", "day", "source", "x", "--released", *GIVEN, E, GOOD),
    ("resolve", "S", "tentative", "t", "x", "--released", *GIVEN, E, GOOD),
    ("outcome", "S"),
    ("grants", "--to", "x"),
)
REFUSED = (
    ("plan", "delete", "S", "x" * 600),
    ("plan", "delete", "S", "a\0b"),
    ("plan", "show", "S", "none"),
    ("plan", "show", "S", "none", "--items", "--after", "rubbish"),
    ("plans", "S", "--after", "rubbish"),
    ("plan", "cancel", "S", "none", "--reason", "r"),
    ("plan", "cancel", "S", "none", "--reason", "r" * 3_000),
    ("plan", "approve", "S", "none", "--reason", "r"),
    ("plan", "reconcile", "S", "--source", "ask", "--meter", "bad prefix"),
    ("plan", "sweep", "S", "--lapsed", "no such table"),
    ("execute", "S", "none", *GIVEN),
    ("execute", "S", "p", "--reason", "r"),
    ("execute", "S", "p", "--confirm", "X"),
    ("resolve", "S", "day", "-", "x", "--released", E, GOOD),
    ("jobs", "run", "S", "none"),
    ("jobs", "run", "S", "x" * 600),
    ("jobs", "resume", "S", "none", "--reason", "r"),
    ("resolve", "S", "day", "-", "none", "--released", *GIVEN, E, GOOD),
    ("resolve", "S", "meter", "no_meter", "none", "--released", *GIVEN, E, GOOD),
    ("outcome", "S", "none"),
    ("outcome", "S", "x" * 600),
)
BAD_EVIDENCE = (
    "",
    "nonsense",
    "kind=invoice",
    "kind=rumour,ref=1,observed=now,shows=spent",
    "kind=invoice,ref=,observed=now,shows=spent",
    "kind=invoice,ref=1,observed=some day,shows=spent",
    "kind=invoice,ref=1,observed=9999999999d ago,shows=spent",
    "kind=invoice,ref=1,observed=now,shows=maybe",
    "kind=invoice,kind=invoice,ref=1,observed=now,shows=spent",
    "kind=invoice,ref=1,observed=now,shows=spent,covers=never",
    "kind=invoice,ref=1,observed=now,shows=spent,file=/no/such/file",
    "kind=invoice,ref=1,observed=now,shows=spent,file=/",
)


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def with_store(words: tuple[str, ...], url: str) -> tuple[str, ...]:
    """The words on this store."""
    return tuple(url if word == "S" else word for word in words)


def test_usage_is_refused_before_anything_is_asked_or_written(
    harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDWATCH_STORE", raising=False)
    for words in USAGE:
        said = holdwatch(*with_store(words, harness.url))
        assert (said.code, said.out) == (Exit.USAGE, ""), (words, said)
        assert said.err.startswith(("holdwatch: ", "Usage: ")), (words, said)
        assert "Traceback" not in said.err
    assert audited(harness) == []


def test_what_the_store_refuses_is_exit_code_1(harness: Harness, holdwatch: Command) -> None:
    for words in REFUSED:
        said = holdwatch(*with_store(words, harness.url))
        assert said.code == Exit.REFUSED, (words, said)
        assert said.err.strip(), words
        assert "Traceback" not in said.err
    assert {row.deed for row in audited(harness)} <= {
        "read-write window",
        "cancel plan",
        "approve",
        "resume",
        "delete",
    }


def test_F5_evidence_that_says_nothing_is_refused_with_the_reason(
    sqlite_harness: Harness, holdwatch: Command
) -> None:
    from tests.console.act_play import fenced

    row = fenced(sqlite_harness)
    for text in BAD_EVIDENCE:
        said = holdwatch("resolve", sqlite_harness.url, "day", "-", row, "--released", *GIVEN, E, text)
        assert said.code == Exit.USAGE, (text, said)
        assert "--evidence" in said.err, text
    many = [word for _ in range(21) for word in (E, GOOD.replace("=spent", "=not spent"))]
    over = holdwatch("resolve", sqlite_harness.url, "day", "-", row, "--released", *GIVEN, *many)
    assert (over.code, "at most 20" in over.err) == (Exit.REFUSED, True)
