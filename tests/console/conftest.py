"""No test reads or writes what the person who runs it has configured, nor leaves a console's manner behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console import alphabet, times
from console.config.settings import READ_ONLY_VARIABLE, REFRESH_VARIABLE, TENANT_VARIABLE
from tests.console import idle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configuration and memory in a folder of the test's own."""
    home: Path = tmp_path_factory.mktemp("home")
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.setenv(variable, str(home))
    for variable in ("HOLDWATCH_CONFIG", REFRESH_VARIABLE, TENANT_VARIABLE, READ_ONLY_VARIABLE):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(autouse=True)
def _idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pilots wait until the console is calm."""
    idle.install(monkeypatch)


@pytest.fixture(autouse=True)
def _usual_manner() -> Iterator[None]:
    """Times in UTC and any alphabet, whatever the test before has chosen."""
    yield
    times.TOLD.telling, times.TOLD.now = times.Telling.UTC, None
    alphabet.DRAWN.ascii_only = False
