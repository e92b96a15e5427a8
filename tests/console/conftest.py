"""No test reads or writes what the person who runs it has configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.config.settings import READ_ONLY_VARIABLE, REFRESH_VARIABLE, TENANT_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configuration and memory in a folder of the test's own."""
    home: Path = tmp_path_factory.mktemp("home")
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.setenv(variable, str(home))
    for variable in ("HOLDWATCH_CONFIG", REFRESH_VARIABLE, TENANT_VARIABLE, READ_ONLY_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
