"""The command line: which store a word means, exit codes, and what is imported for it (ruling 62)."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from console import cli, stores


@pytest.mark.parametrize(
    ("arguments", "whole"),
    [
        ([], ["console"]),
        (["fleet.db"], ["console", "fleet.db"]),
        (["postgresql://h/d"], ["console", "postgresql://h/d"]),
        (["console", "fleet.db"], ["console", "fleet.db"]),
        (["demo", "--threads", "3"], ["demo", "--threads", "3"]),
        (["migrate", "sqlite:///x"], ["migrate", "sqlite:///x"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
    ],
)
def test_ruling_62_a_first_word_that_is_no_command_is_a_store(arguments: list[str], whole: list[str]) -> None:
    assert cli.with_command(arguments) == whole


def test_ruling_62_an_existing_path_is_sqlite_and_a_missing_one_is_never_made(tmp_path: Path) -> None:
    path = tmp_path / "odd ?#%name.db"
    with pytest.raises(stores.NoStoreError, match="migrate"):
        stores.url_of(str(path))
    assert not path.exists()
    path.touch()
    assert stores.url_of(str(path)) == stores.url_of(f"sqlite:///{path}") == f"sqlite:///{path}"


@pytest.mark.parametrize("word", ["memory:", "mysql://h/d", "no-such-file", "/"])
def test_what_is_no_store_is_a_store_failure(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([word]) == cli.Exit.STORE_FAILURE
    assert capsys.readouterr().err.startswith("holdwatch: ")


@pytest.mark.parametrize(
    "arguments", [[], ["migrate"], ["demo", "--threads", "none"], ["console", "a", "b"], ["--odd"]]
)
def test_usage_errors(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(cli.STORE_VARIABLE, raising=False)
    assert cli.run(arguments) == cli.Exit.USAGE
    assert capsys.readouterr().err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == cli.Exit.OK
    assert cli.run(["--help"]) == cli.Exit.OK
    assert "STORE" in capsys.readouterr().out


def test_migrate_makes_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["migrate", f"sqlite:///{tmp_path}/new.db"]) == cli.Exit.OK
    assert "is ready" in capsys.readouterr().out
    assert cli.run(["migrate", "sqlite:////no/such/folder/new.db"]) == cli.Exit.STORE_FAILURE


@pytest.mark.parametrize("arguments", [["migrate", "memory:"], ["demo", "--store", "memory:"]])
def test_a_store_that_nobody_else_could_see_is_refused(arguments: list[str]) -> None:
    assert cli.run(arguments) == cli.Exit.STORE_FAILURE


def test_a_name_that_is_too_long_is_no_store(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["x" * 5000]) == cli.Exit.STORE_FAILURE
    assert "too long" in capsys.readouterr().err


def _told(tmp_path: Path, *arguments: str, **options: Any) -> tuple[int, str]:
    """The exit code of a command in a process of its own, and what it said on standard error."""
    path = tmp_path / "agents.db"
    assert cli.run(["migrate", f"sqlite:///{path}"]) == cli.Exit.OK
    command = [sys.executable, "-m", "console", *arguments, str(path)]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    done = subprocess.run(command, **(streams | options), text=True, check=False, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", [[], ["demo", "--store"]])
def test_a_console_without_a_terminal_is_a_usage_error(tmp_path: Path, arguments: list[str]) -> None:
    code, said = _told(tmp_path, *arguments)
    assert (code, "terminal" in said) == (cli.Exit.USAGE, True)


def test_output_that_finds_no_room_is_told_in_a_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        code, said = _told(tmp_path, "threads", stdout=full)
    assert code == cli.Exit.REFUSED
    assert said == "holdwatch: No space left on device; see to that and try again\n"


def test_a_command_runs_with_its_streams_closed(tmp_path: Path) -> None:
    code, said = _told(tmp_path, "threads", stdout=None, preexec_fn=partial(os.closerange, 0, 2))
    assert (code, said) == (cli.Exit.OK, "")


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a program has loaded when it ends."""
    program = f"{code}\nimport sys\nprint(' '.join({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split("\n")[-2].split())


def test_help_loads_neither_textual_nor_sqlalchemy() -> None:
    loaded = loaded_by("from console.cli import run\nrun(['--help'])")
    assert not loaded & {"textual", "rich", "sqlalchemy", "psycopg", "alembic"}


def test_the_app_loads_no_sqlalchemy() -> None:
    loaded = loaded_by("import console.app, console.gateway\nconsole.gateway.EngineGateway('sqlite:///x')")
    assert not loaded & {"sqlalchemy", "psycopg", "alembic"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["thraeds", "agents.db"], "'thraeds' is no command either: did you mean threads?"),
        (["thraeds"], "'thraeds' is no command either: did you mean threads?"),
        (["xylophone", "agents.db"], "'xylophone' is no command either: holdwatch --help lists them"),
    ],
)
def test_a_mistyped_command_is_told_as_one(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) != cli.Exit.OK
    assert said in capsys.readouterr().err


def test_a_command_that_was_meant_is_not_called_mistyped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["threads", str(tmp_path)]) == cli.Exit.STORE_FAILURE
    said = capsys.readouterr().err
    assert "is a folder" in said
    assert "no command" not in said


def test_migrate_takes_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["migrate", "new.db"]) == cli.Exit.OK
    assert stores.url_of("new.db") == "sqlite:///new.db"


def test_a_store_without_tables_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    assert cli.run(["threads", str(empty)]) == cli.Exit.STORE_FAILURE
    assert "there are no tables of Holdwatch here yet; run `holdwatch migrate URL`" in capsys.readouterr().err
