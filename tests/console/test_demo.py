"""The demo's fleet ends with its console, however that ends (ruling 61)."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.background import until

if TYPE_CHECKING:
    from pathlib import Path

STARTS_AND_WAITS = """
import time
from console.demo import fleet
with fleet(None, threads=3, seed=1) as url:
    print(url, flush=True)
    time.sleep(600)
"""


def test_a_killed_demo_leaves_neither_fleet_nor_folder(tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_WAITS],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    )
    assert program.stdout is not None
    assert "demo.db" in program.stdout.readline()
    assert len(list(tmp_path.iterdir())) == 1

    program.kill()
    program.wait(10)
    program.stdout.close()

    until(lambda: not list(tmp_path.iterdir()), "the fleet has ended and taken its folder with it")
