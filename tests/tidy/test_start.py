"""What the console has loaded when its first frame is drawn: every module more is paid for at each start (F6)."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from console import cli, command_names, plain

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SECONDS: Final = 60.0
FIRST_FRAME: Final = """
import sys
from console import __main__, plain
assert plain.is_plain(["x.db"])
from console.starting import opener_of
from console.targets import Target
from console.app import HoldwatchApp
from textual._compositor import LayoutUpdate

display = HoldwatchApp._display

def watched(app, screen, renderable):
    display(app, screen, renderable)
    if isinstance(renderable, LayoutUpdate) and not loaded:
        loaded.update(sys.modules)
        app.call_after_refresh(app.exit)

loaded = {}
HoldwatchApp._display = watched
HoldwatchApp(opener_of().session(Target("sqlite:////no/such/folder/x.db"))).run(headless=True)
print(*loaded)
"""
HEAVY: Final = {"alembic", "engine", "psycopg", "pydantic", "sqlalchemy", "typer", "wcwidth"}
LATER: Final = {
    "console.acting.confirmation",
    "console.acting.equivalent",
    "console.acting.jobs",
    "console.acting.offers",
    "console.acting.outside",
    "console.acting.planning",
    "console.acting.plans",
    "console.acting.records",
    "console.acting.resolving",
    "console.cli",
    "console.gateway.money_rows",
    "console.gateway.overview_rows",
    "console.job_filters",
    "console.linear",
    "console.money_filters",
    "console.money_model",
    "console.overview_model",
    "console.palette",
    "console.programs",
    "console.reading",
    "console.screens.confirm",
    "console.screens.menu",
    "console.screens.output",
    "console.screens.sort",
    "console.vocabularies",
}
"""Modules that wait for the key, the word or the row that needs them."""
LISTS: Final = {"arrangement", "catalogue", "fields", "questions", "sorting", "threads", "view"}
MOST: Final = 155
"""Modules of the console's own; 148 when this was written."""


def loaded_at_the_first_frame(folder: Path) -> set[str]:
    """All modules that are there by then, in a process of its own."""
    places = {"XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FRAME],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
        env=os.environ | places,
    )
    return set(done.stdout.split("\n")[-2].split())


def test_the_first_frame_is_drawn_without_what_comes_later(tmp_path: Path) -> None:
    loaded = loaded_at_the_first_frame(tmp_path)
    assert "console.screens.threads" in loaded
    assert loaded & (HEAVY | LATER) == set()
    lists = {name.removeprefix("console.lists.") for name in loaded if name.startswith("console.lists.")}
    assert lists <= LISTS
    assert sum(name.partition(".")[0] == "console" for name in loaded) <= MOST


def test_the_names_of_commands_are_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == cli.Exit.OK
    listed = capsys.readouterr().out.partition("Commands:")[2]
    assert {line.split()[0] for line in listed.splitlines() if line[:3].strip()} == command_names.names()


def test_only_a_store_alone_is_read_without_typer() -> None:
    for words in ([], ["fleet.db"], ["postgresql://h/d"], ["thraeds"]):
        assert plain.is_plain(words)
    for words in (["demo"], ["threads"], ["jobs"], ["plan"], ["--help"], ["x.db", "--ascii"], ["a\udcff.db"]):
        assert not plain.is_plain(words)


def test_a_store_alone_is_told_of_as_with_typer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(cli.STORE_VARIABLE, raising=False)
    there = tmp_path / "there.db"
    there.touch()
    for words in ([], ["thraeds"], ["mysql://h/d"], [str(there)], [str(tmp_path)]):
        code, said = plain.run(words), capsys.readouterr().err
        assert code != cli.Exit.OK
        assert (cli.run(words), capsys.readouterr().err) == (code, said)
