"""Fixtures of the whole suite: a harness for each storage (checkpoints.md 4), and how the tools are set.

The engine is imported by the fixtures that need it, so that tests of other things start without it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.check import is_long

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.harness import Harness
    from tests.support.storages import PostgresDatabases, SqliteFiles, Storage

BOTH = ("sqlite", "postgresql")
SERVER_CLOCK = "postgresql-server-clock"
KINDS = {"harness": BOTH, "harness_any_clock": (*BOTH, SERVER_CLOCK)}
"""The parametrised harnesses: the storages each of them stands for."""
METERED = "-metered"
"""How the name of a storage ends whose threads are reached through the metered wrapper."""
NOT_ABOUT_THREADS = (
    "test_aio",
    "test_audit",
    "test_desk_",
    "test_executors",
    "test_grants",
    "test_harness",
    "test_jobs",
    "test_maintenance",
    "test_reserved",
    "test_resolve",
    "test_schema",
    "test_spend_",
    "test_sqlite",
)
"""Contract files in which wrapping the checkpointer changes nothing."""

# Read at textual's first import, so that engine tests need not import it; a plugin may have done so already.
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ.pop("NO_COLOR", None)
if "textual.constants" in sys.modules:
    sys.modules["textual.constants"].TEXTUAL_ANIMATIONS = "none"  # type: ignore[attr-defined]

_BOUNDED = settings(
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# The same examples each time: a check of an unchanged tree must not come out otherwise. New ones are for `long`.
settings.register_profile("check", _BOUNDED, max_examples=12, stateful_step_count=30, derandomize=True)
settings.register_profile("long", _BOUNDED, max_examples=500, stateful_step_count=60)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "check"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test on each storage; the contract of threads also over the metered wrapper (case 134, ruling 60)."""
    for fixture, kinds in KINDS.items():
        if fixture in metafunc.fixturenames:
            wrapped = _metered(metafunc.definition.path)
            metafunc.parametrize(fixture, [*kinds, *(kind + METERED for kind in wrapped)], indirect=True)


def _metered(file: Path) -> tuple[str, ...]:
    """The storages that a file's tests run on once more, wrapped."""
    if file.parent.name != "contract" or file.name.startswith(NOT_ABOUT_THREADS) or "plans" in file.stem:
        return ()
    return BOTH if is_long() else ("postgresql",)


@pytest.fixture(scope="session")
def sqlite_storage(tmp_path_factory: pytest.TempPathFactory) -> SqliteFiles:
    """SQLite files, each a copy of one that was migrated once."""
    from tests.support.storages import SqliteFiles

    return SqliteFiles(tmp_path_factory.mktemp("sqlite-template"))


@pytest.fixture(scope="session")
def postgres_storage() -> Iterator[PostgresDatabases]:
    """Databases on this process's own server, each a clone of one that was migrated once."""
    from engine import localpg
    from tests.support.storages import PostgresDatabases

    server = localpg.start()
    try:
        yield PostgresDatabases(server)
    finally:
        server.stop()


def _storage(request: pytest.FixtureRequest, kind: str) -> Storage:
    name = "sqlite_storage" if kind.startswith("sqlite") else "postgres_storage"
    storage: Storage = request.getfixturevalue(name)
    return storage


def _harness(request: pytest.FixtureRequest, home: Path, kind: str) -> Iterator[Harness]:
    from tests.support.harness import Harness, MeteredHarness, ServerClockHarness

    make = Harness
    if kind == SERVER_CLOCK:
        make = ServerClockHarness
    elif kind.endswith(METERED):
        make = MeteredHarness
    harness = make(_storage(request, kind), home)
    try:
        yield harness
    finally:
        harness.close()


@pytest.fixture
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    """A store of the test's own, on each storage, with an injected clock at T0 (see `KINDS`)."""
    yield from _harness(request, tmp_path, request.param)


@pytest.fixture
def harness_any_clock(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    """The same, and once more on PostgreSQL's own clock (ruling 5)."""
    yield from _harness(request, tmp_path, request.param)


@pytest.fixture
def sqlite_harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    """For cases about SQLite alone."""
    yield from _harness(request, tmp_path, "sqlite")


@pytest.fixture
def postgres_harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    """For cases about PostgreSQL alone."""
    yield from _harness(request, tmp_path, "postgresql")
