"""Plans that would change nothing, passes over all that is due, and what has to be named for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.cli import Exit
from tests.console.act_play import audited, fenced, planned
from tests.support.commands import Command
from tests.support.meters import metering

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.harness import Harness


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def unit(harness: Harness) -> None:
    """A unit of a meter that is due."""
    metering(harness, a=90, table_prefix="acme").reserve("a", "one", units=3, require_fence=True)


def test_what_would_change_nothing_is_told_with_its_reasons_and_not_stored(
    harness: Harness, holdwatch: Command
) -> None:
    said = holdwatch("plan", "delete", harness.url, "nosuch")
    assert (said.code, "no plan was stored" in said.err) == (Exit.REFUSED, True)
    assert "left out  nosuch: already gone" in said.out
    assert ("phrase" in said.out, "holdwatch execute" in said.out) == (False, False)
    row = fenced(harness)
    default = holdwatch("plan", "reconcile", harness.url, "--day", "--source", "default", "--json")
    made = default.document
    assert (default.code, made["id"], made["items"], made["phrase"], made["next_command"]) == (
        Exit.REFUSED,
        None,
        0,
        None,
        None,
    )
    assert (made["apart"][0]["id"], "fenced" in made["apart"][0]["reason"]) == (f"day:{row}", True)
    dry = holdwatch("plan", "delete", harness.url, "nosuch", "--dry-run")
    assert (dry.code, dry.err, "phrase" in dry.out) == (Exit.OK, "", False)
    assert holdwatch.json("plans", harness.url)["rows"] == []
    assert audited(harness) == []


def test_a_pass_takes_all_that_is_due_of_days_and_every_meter(
    harness: Harness, holdwatch: Command, tmp_path: Path
) -> None:
    row = fenced(harness)
    unit(harness)
    asked = planned(holdwatch, "plan", "reconcile", harness.url, "--source", "ask")
    assert (asked["items"], asked["params"]["kinds"], asked["params"]["meters"]) == (2, ["day", "meter"], [])
    unsaid = holdwatch("plan", "reconcile", harness.url, "--source", "default")
    assert unsaid.code == Exit.USAGE
    assert "--after-lease release|consume must be given" in unsaid.err
    assert "[reconcile]" in unsaid.err
    file = tmp_path / "config.toml"
    file.write_text('[reconcile]\nafter_lease = "release"\n')
    for more in (("--after-lease", "consume"), ("--config", str(file))):
        said = holdwatch("plan", "reconcile", harness.url, "--source", "default", *more, "--json")
        assert said.code == Exit.REFUSED, "both rows are fenced"
        assert {each["id"] for each in said.document["apart"]} == {f"day:{row}", "meter:acme:one"}
    both = holdwatch("plan", "reconcile", harness.url, "--source", "ask", "--day", f"day:{row}")
    assert (both.code, "give only one of" in both.err) == (Exit.USAGE, True)


def test_rows_that_a_resolver_would_answer_need_one_that_is_configured(
    harness: Harness, holdwatch: Command, tmp_path: Path
) -> None:
    fenced(harness)
    unit(harness)
    asked = ("plan", "reconcile", harness.url, "--source", "resolver")
    said = holdwatch(*asked)
    assert (said.code, "configured for day, meter:acme: write [resolvers] day = " in said.err) == (
        Exit.REFUSED,
        True,
    ), said
    file = tmp_path / "config.toml"
    file.write_text('[resolvers]\nday = "tests.console.act_play:consumed"\n')
    half = holdwatch(*asked, "--config", str(file))
    assert (half.code, 'configured for meter:acme: write [resolvers] "meter:acme" = ' in half.err) == (
        Exit.REFUSED,
        True,
    ), half
    assert holdwatch.json("plans", harness.url)["rows"] == []
    assert planned(holdwatch, *asked, "--day", "--config", str(file))["items"] == 1
    assert planned(holdwatch, *asked, "--resolver", "ours")["items"] == 2


def test_each_limit_of_a_sweep_is_told_as_what_it_removes(holdwatch: Command) -> None:
    for command in (("plan", "sweep"), ("maintain",)):
        told = " ".join(holdwatch(*command, "--help").out.replace("│", " ").split())
        assert "Each limit removes by itself" in told, told
        assert "Remove a thread's events beyond its newest N." in told
        assert "Keep each thread's newest" not in told
