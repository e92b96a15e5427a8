"""Who imports whom, and what an import costs (design rule 1 and the measured start times)."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest
from importlinter.api import read_configuration

from tests.check import LAYERS
from tests.tidy.rules import imports
from tests.tidy.sources import ROOT, sources

if TYPE_CHECKING:
    from tests.tidy.sources import Source

DOORS: Final = ("console.gateway", "console.demo", "console.shots")
"""The modules of the console that may import the engine, the last two for stores of their own (ruling 61)."""
HEAVY: Final = ("alembic", "psycopg", "sqlalchemy", "sqlite3", "textual")
SECONDS: Final = 60.0

LOADED = "import sys\n{code}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
HELP = """
import contextlib, io
sys.argv = ["holdwatch", "--help"]
from console.__main__ import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
"""


def test_the_contracts_of_pyproject_are_kept() -> None:
    assert len(read_configuration()["contracts_options"]) >= 4
    # In a process of its own: the linter configures logging, and would silence the loggers of other tests.
    done = subprocess.run(
        [sys.executable, "-c", LAYERS], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout


def test_only_the_gateway_imports_the_engine() -> None:
    found = {source.module for source in sources("console") if _reaches(source, "engine")}
    assert {module for module in found if not module.startswith(DOORS)} == set()
    assert any(module.startswith("console.gateway") for module in found)


def test_the_engine_imports_no_console() -> None:
    assert [source.path for source in sources("engine") if _reaches(source, "console")] == []


def _reaches(source: Source, package: str) -> bool:
    return any(name.partition(".")[0] == package for name, _ in imports(source))


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import engine", HEAVY),
        ("import engine.errors, engine.clock, engine.paging", HEAVY),
        ("import engine.checkpoints", ("alembic", "psycopg", "textual")),
        (HELP, ("aiohttp", "alembic", "psycopg", "sqlalchemy", "textual", "textual_serve")),
        ("import console.app, console.gateway", ("alembic", "psycopg", "sqlalchemy")),
    ],
    ids=["engine", "engine's base", "engine.checkpoints", "holdwatch --help", "the first frame"],
)
def test_an_import_loads_no_more_than_it_needs(code: str, unwanted: tuple[str, ...]) -> None:
    assert set(unwanted) & _loaded(code) == set()


def test_what_is_loaded_is_seen() -> None:
    assert {"sqlalchemy", "sqlite3"} <= _loaded("import engine\nengine.open_store('memory:').close()")


def _loaded(code: str) -> set[str]:
    """The packages in memory after the code has run in an interpreter of its own."""
    command = [sys.executable, "-c", LOADED.format(code=code)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())
