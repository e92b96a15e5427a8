"""A real process that carries a job out, and ctrl-C: the item is finished, the job handed over, and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from console.acting.jobs import ItemOutcome
from tests.console.act_play import claims, looking, planned
from tests.support.commands import Command

if TYPE_CHECKING:
    import pytest

    from tests.support.harness import Harness

ROOT = Path(__file__).parents[2]
ITEMS = 60
PATIENCE_SECONDS = 30.0


def test_F10_ctrl_c_finishes_the_item_hands_the_job_over_and_says_how_to_go_on(
    harness: Harness, capsys: pytest.CaptureFixture[str]
) -> None:
    holdwatch = Command(capsys)
    claims(harness, *(f"t{number:03}" for number in range(ITEMS)))
    plan = planned(holdwatch, "plan", "release", harness.url, "--filter", "state:live")
    words = ["execute", harness.url, plan["id"], "--reason", "r", "--confirm", plan["phrase"], "--rate", "40"]
    process = subprocess.Popen(
        [sys.executable, "-m", "console", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with looking(harness) as gateway:
        until = time.monotonic() + PATIENCE_SECONDS
        while not released(gateway) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 130, (out, err)
        first, last = out.splitlines()[0], out.splitlines()[-1]
        assert " ready: applied " in first
        assert last.startswith("next: holdwatch jobs run ")
        job = last.split()[-1]
        view = gateway.job(job)
        assert view is not None
        assert 0 < view.row.applied < ITEMS
        assert (view.row.owner, view.row.done) == (None, view.row.applied)
    went_on = holdwatch("jobs", "run", harness.url, job, "--json")
    assert went_on.code == 0, went_on
    assert went_on.document["job"]["applied"] == ITEMS


def released(gateway: object) -> bool:
    """Whether any item has been applied."""
    from console.acting.jobs import JobQuery
    from console.gateway import EngineGateway

    assert isinstance(gateway, EngineGateway)
    rows = gateway.jobs(JobQuery(), None, 1).rows
    return bool(rows) and bool(gateway.job_items(rows[0].id, ItemOutcome.APPLIED, None, 1).rows)
