"""What a package exports is what its documentation says, whichever of its modules were loaded before."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Final

import pytest

from tests.tidy.sources import ROOT

PACKAGES: Final = (
    "engine.checkpoints",
    "engine.desk",
    "engine.desk.plans",
    "engine.desk.jobs",
    "engine.reserved",
    "engine.spend",
    "engine.spend.day",
    "engine.spend.meter",
)
SECONDS: Final = 60.0
KINDS: Final = """
import importlib, json, pkgutil, sys, types
package = importlib.import_module(sys.argv[1])
if sys.argv[2] == "modules first":
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
found = {name: isinstance(getattr(package, name), types.ModuleType) for name in package.__all__}
print(json.dumps(found))
"""


@pytest.mark.parametrize("order", ["package first", "modules first"])
@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_stands_in_the_place_of_what_is_exported(package: str, order: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KINDS, package, order],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found
    assert [name for name, is_module in found.items() if is_module] == []
