"""The command line: which store a word means, exit codes, and what is imported for it (ruling 62)."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from console import cli, stores

if TYPE_CHECKING:
    from pathlib import Path


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
