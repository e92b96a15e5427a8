"""What is wrong before a store is opened is said alike by console and commands; names and keys are told whole."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from console import cli, diagnostics
from console.actions import ACTIONS, Place
from console.config.file import default_path
from console.identity import Identity, Trust, standing_of
from console.present import own, width
from console.registry import Registry
from console.screens.help import sheet_lines
from tests.console.fake import make_app
from tests.console.pictures import lines_of
from tests.console.test_config_layers import config_of
from tests.console.test_contexts import seen
from tests.console.waiting import ready

if TYPE_CHECKING:
    from pathlib import Path

READING = (["threads"], ["claims"], ["events"], ["queue"], ["overview"], ["doctor"], ["reservations"])


@pytest.mark.parametrize("command", READING, ids=lambda words: words[0])
def test_a_broken_configuration_is_said_by_every_reading_command(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.db"
    assert cli.run(["migrate", str(path)]) == cli.Exit.OK
    default_path().parent.mkdir(parents=True)
    default_path().write_text("refresh = fast\n")
    said_by: set[str] = set()
    for arguments in ([*command, str(path)], [str(path)]):
        assert cli.run(arguments) == cli.Exit.USAGE
        said_by.add(capsys.readouterr().err)
    assert len(said_by) == 1
    assert "config.toml" in said_by.pop()


@pytest.mark.parametrize("command", READING, ids=lambda words: words[0])
def test_a_file_that_is_no_database_is_said_by_every_reading_command(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("buy milk")
    for arguments in ([*command, str(path)], [str(path)]):
        assert cli.run(arguments) == cli.Exit.STORE_FAILURE
        told = capsys.readouterr()  # the doctor's findings are its output
        assert "notes.txt' is no SQLite database" in told.out + told.err


def test_two_contexts_on_one_file_are_both_what_they_say(tmp_path: Path) -> None:
    config = config_of(
        f'[contexts.stage]\nurl = "sqlite:///{tmp_path}/a.db"\nenvironment = "STAGE"\n'
        f'[contexts.stage2]\nurl = "sqlite:///{tmp_path}/a.db"\nenvironment = "STAGE2"\n'
        f'[contexts.other]\nurl = "sqlite:///{tmp_path}/b.db"\nenvironment = "OTHER"\n'
    )
    here = Identity("file-1", "a.db", "", "", "SQLite")
    known = {"stage": seen(here)}
    found = standing_of(here, config.contexts["stage2"], config.contexts, known)
    assert (found.trust, found.context) == (Trust.CONFIRMED, config.contexts["stage2"])
    # Another file that turns out to be the same store is still a stranger's name.
    assert standing_of(here, config.contexts["other"], config.contexts, known).trust is Trust.OTHER


def test_the_help_tells_every_key_whole() -> None:
    every = tuple(place for place in Place)
    for room in (74, 100):
        lines = ["".join(cell.text for cell in line) for line in sheet_lines(every, Registry(), "", room)]
        assert all(width(own(line)) <= room for line in lines)
        assert not [line for line in lines if ".." in line.split("  ")[0]]
    for action in ACTIONS:
        shown = sheet_lines((action.place,), Registry(), "", 74)
        told = "\n".join("".join(cell.text for cell in line) for line in shown)
        assert (action.all_keys or f":{action.name}") in told


def test_f12_the_diagnostics_break_no_word_at_80x24() -> None:
    app = make_app()

    async def play() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            await pilot.press("f12")
            await pilot.pause(0.05)
            screen = app.screen
            words = {
                word
                for section in screen.sections()  # type: ignore[attr-defined]
                for fact in section.facts
                for word in f"{fact.name} {fact.value}".split()
                if len(word) < 40
            }
            told = diagnostics.lines(screen.sections(), 74)  # type: ignore[attr-defined]
            shown = {word for line in told for cell in line for word in cell.text.split()}
            assert words <= shown
            assert all(sum(width(cell.text) for cell in line) <= 74 for line in told if len(line) < 3)
            assert max(len(line) for line in lines_of(app)) <= 80

    asyncio.run(play())
