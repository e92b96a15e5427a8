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

from console.demo import DAILY_CAP
from console.demo.play import Play
from console.widgets.fetched import STILL_SECONDS
from engine import open_store
from engine.clock import ManualClock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.pilot import Pilot

    from console.app import HoldwatchApp
    from console.session import Session

FOLDER: Final = Path(__file__).resolve().parent.parent / "screenshots"
NOW: Final = datetime(2026, 5, 4, 14, 3, 22, tzinfo=UTC)
STORE: Final = "sqlite:///agents.db"
WIDE: Final = (120, 40)
SMALL: Final = (80, 24)
SHOTS: Final[dict[str, tuple[tuple[int, int], Sequence[str]]]] = {
    "threads": (WIDE, ("j", "j")),
    "threads-80x24": (SMALL, ("j", "j")),
    "claim": (WIDE, (*"j" * 15, "enter")),
    "checkpoints": (WIDE, ("j", "j", "enter", "tab")),
    "claims": (WIDE, ("2", "j")),
    "claims-80x24": (SMALL, ("2", "j")),
    "children": (WIDE, ("slash", *"dataset-labels-16fd4f", "enter", "enter", *["tab"] * 5, "j", "j")),
    "queue": (WIDE, ("8", "j")),
    "overview": (WIDE, ("0",)),
    "overview-80x24": (SMALL, ("0",)),
    "reservations": (WIDE, ("3", "j")),
    "reservations-80x24": (SMALL, ("3", "j")),
    "reservation": (WIDE, ("4", "enter")),
    "fences": (WIDE, ("4", "j")),
    "budgets": (WIDE, ("9", "j")),
    "days": (WIDE, ("9", "tab")),
    "events": (WIDE, ("5",)),
    "events-80x24": (SMALL, ("5",)),
    "help": (WIDE, ("question_mark",)),
    "plan": (WIDE, ("slash", *"dataset-labels-16fd4f", "enter", "D")),
    "plan-80x24": (SMALL, ("slash", *"dataset-labels-16fd4f", "enter", "D")),
    "resolve": (WIDE, ("4", "j", "e")),
    "resolve-80x24": (SMALL, ("4", "j", "e")),
    "changes": (WIDE, ("j", "j", "x")),
    "jobs": (WIDE, ("6",)),
    "job": (WIDE, ("6", "j", "j", "enter")),
    "audit": (WIDE, ("7",)),
    "entry": (WIDE, ("7", "enter")),
}
_FONTS: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_ASKS: Final = 200
"""Looks at the console until it has settled, a hundredth of a second apart."""
_STILL: Final = 5
"""Pictures that must be alike in a row, a tenth of a second apart."""


def main(folder: Path = FOLDER) -> None:
    """Draw every picture into the folder."""
    os.environ.pop("NO_COLOR", None)
    folder.mkdir(exist_ok=True)
    clock = ManualClock(NOW - timedelta(hours=2))
    with tempfile.TemporaryDirectory() as place, chdir(place):
        with open_store(STORE, clock=clock) as store:
            Play(store, clock, NOW).run()
        for name, (size, keys) in SHOTS.items():
            (folder / f"{name}.svg").write_text(asyncio.run(_draw(clock, size, keys)))


async def _draw(clock: ManualClock, size: tuple[int, int], keys: Sequence[str]) -> str:
    from console.acting.model import Person
    from console.calls import Calls
    from console.gateway import EngineGateway
    from console.session import Session

    person = Person("mk", "bastion-2")
    gateway = EngineGateway(STORE, clock)
    app = _app_of(Session(gateway, Calls(), lambda: 0.0, cap=DAILY_CAP, person=person))
    async with app.run_test(size=size) as pilot:
        await _settled(pilot, app.session.calls)
        for key in keys:
            await pilot.press(key)
            await _settled(pilot, app.session.calls)
        await pilot.pause(STILL_SECONDS * 2)  # what is fetched once the cursor lies still
        await _settled(pilot, app.session.calls)
        return _FONTS.sub("", await _still(pilot))


def _app_of(session: Session) -> HoldwatchApp:
    """The console without scrollbars: where a thumb rests depends on the machine's speed."""
    from console.app import HoldwatchApp

    class Still(HoldwatchApp):
        CSS = "Listing { scrollbar-size-vertical: 0 !important; }"

    return Still(session)


async def _still(pilot: Pilot[None]) -> str:
    """The picture once nothing on it moves any more."""
    last, same = "", 0
    for _ in range(_ASKS):
        drawn = pilot.app.export_screenshot(simplify=True)
        same = same + 1 if drawn == last else 0
        if same == _STILL:
            return drawn
        last = drawn
        await pilot.pause(0.1)
    raise AssertionError("the console does not come to rest")


async def _settled(pilot: Pilot[None], calls: object) -> None:
    quiet = 0
    for _ in range(_ASKS):
        await pilot.pause(0.01)
        quiet = 0 if getattr(calls, "running", 0) else quiet + 1
        if quiet == 5:
            return


if __name__ == "__main__":
    main()
