"""`python -m console.shots` draws every picture in `screenshots/`, byte for byte the same each time.

The store is real: a few agents of the demo work on it under a clock that stands where it is put.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from contextlib import chdir
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from console.demo.agents import Fleet
from console.demo.run import LEASE, Run
from console.demo.stage import ending
from engine import open_store
from engine.clock import ManualClock
from engine.errors import StaleClaim

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from textual.pilot import Pilot

    from console.demo.stage import Subject

FOLDER: Final = Path(__file__).resolve().parent.parent / "screenshots"
NOW: Final = datetime(2026, 5, 4, 14, 3, 22, tzinfo=UTC)
STORE: Final = "sqlite:///agents.db"
SEED: Final = 7
THREADS: Final = 40
WIDE: Final = (120, 40)
SMALL: Final = (80, 24)
SHOTS: Final[dict[str, tuple[tuple[int, int], Sequence[str]]]] = {
    "threads": (WIDE, ("j", "j")),
    "threads-80x24": (SMALL, ("j", "j")),
    "claim": (WIDE, (*"jjjjjjjjjjj", "enter")),
    "checkpoints": (WIDE, ("j", "j", "enter", "tab")),
    "events": (WIDE, ("5",)),
    "events-80x24": (SMALL, ("5",)),
    "help": (WIDE, ("question_mark",)),
}
_FONTS: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_ASKS: Final = 200
"""Looks at the console until it has settled, a hundredth of a second apart."""


def main(folder: Path = FOLDER) -> None:
    """Draw every picture into the folder."""
    os.environ.pop("NO_COLOR", None)
    folder.mkdir(exist_ok=True)
    clock = ManualClock(NOW - timedelta(hours=2))
    with tempfile.TemporaryDirectory() as place, chdir(place):
        _play(clock)
        for name, (size, keys) in SHOTS.items():
            (folder / f"{name}.svg").write_text(asyncio.run(_draw(clock, size, keys)))


def _play(clock: ManualClock) -> None:
    """Two hours of work, and the last minutes as an operator would find them."""
    with open_store(STORE, clock=clock) as store:
        fleet = Fleet(store, threads=THREADS, seed=SEED)
        dice = fleet.dice("shots")
        for subject in fleet.subjects[10:]:
            clock.advance(timedelta(seconds=dice.randint(20, 400)))
            _work(fleet, clock, subject, f"worker-{dice.randint(1, 9):02}", dice, steps=dice.randint(1, 5))
        stuck, lost, *busy = fleet.subjects[:10]
        clock.advance(NOW - timedelta(minutes=4) - clock.now())
        _abandon(fleet, clock, stuck, "worker-17", dice)
        clock.advance(timedelta(seconds=50))
        late = _abandon(fleet, clock, lost, "worker-03", dice)
        clock.advance(NOW - timedelta(seconds=70) - clock.now())
        _abandon(fleet, clock, lost, "worker-08", dice)
        _refused(late)
        clock.advance(NOW - timedelta(seconds=7) - clock.now())
        for number, subject in enumerate(busy):
            _abandon(fleet, clock, subject, f"worker-{number + 4:02}", dice)
        clock.advance(NOW - clock.now())


def _work(
    fleet: Fleet, clock: ManualClock, subject: Subject, run_id: str, dice: random.Random, *, steps: int
) -> None:
    claim = fleet.claim(subject, f"{run_id}/{dice.randint(1, 99)}")
    assert claim is not None
    run = Run(fleet.store, subject, claim, dice)
    run.begin()
    for _ in range(steps):
        clock.advance(timedelta(milliseconds=dice.randint(80, 900)))
        run.step()
    if dice.random() < 0.9:
        run.end(ending(dice))
    fleet.checkpoints.release(subject.thread_id, claim.token)


def _abandon(fleet: Fleet, clock: ManualClock, subject: Subject, run_id: str, dice: random.Random) -> Run:
    """A run that is still under way, or died so: nobody gave its claim back."""
    claim = fleet.claim(subject, f"{run_id}/{dice.randint(1, 99)}")
    assert claim is not None
    run = Run(fleet.store, subject, claim, dice)
    run.begin()
    for _ in range(dice.randint(1, 4)):
        clock.advance(timedelta(milliseconds=dice.randint(40, 240)))
        run.step()
    fleet.checkpoints.renew(subject.thread_id, claim.token, LEASE)
    return run


def _refused(late: Run) -> None:
    try:
        late.step()
    except StaleClaim:
        return  # the very thing to be shown: the fence held
    raise AssertionError("the late writer was let through")


async def _draw(clock: ManualClock, size: tuple[int, int], keys: Sequence[str]) -> str:
    from console.app import HoldwatchApp
    from console.calls import Calls
    from console.gateway import EngineGateway
    from console.session import Session

    app = HoldwatchApp(Session(EngineGateway(STORE, clock), Calls(), lambda: 0.0))
    async with app.run_test(size=size) as pilot:
        await _settled(pilot, app.session.calls)
        for key in keys:
            await pilot.press(key)
            await _settled(pilot, app.session.calls)
        return _FONTS.sub("", app.export_screenshot(simplify=True))


async def _settled(pilot: Pilot[None], calls: object) -> None:
    quiet = 0
    for _ in range(_ASKS):
        await pilot.pause(0.01)
        quiet = 0 if getattr(calls, "running", 0) else quiet + 1
        if quiet == 5:
            return


if __name__ == "__main__":
    main()
