"""Every screen in the four sizes of console.md F12, in colour and under NO_COLOR, as text with its styles.

One console for each way of colouring goes through all of them and is resized on each, so that a hundred and more
pictures cost a few seconds. `python -m tests.console.test_every_screen` writes them anew, to be looked at as a diff.
"""

from __future__ import annotations

import asyncio
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from console.refresh import Poll
from tests.console.fake import make_app
from tests.console.pictures import picture_of
from tests.console.test_screens import settled, typed
from tests.console.waiting import ready

if TYPE_CHECKING:
    from textual.pilot import Pilot

FOLDER: Final = Path(__file__).parent / "__snapshots__" / "test_every_screen"
SIZES: Final = ((80, 24), (100, 30), (120, 40), (200, 60))
MOST_LINES: Final = 40
WAYS: Final = ("colour", "no-color")
SCREENS: Final[dict[str, list[str]]] = {
    "0-overview": ["0"],
    "1-threads": ["1", "j", "j"],
    "1-thread": ["1", "enter"],
    "1-tombstones": [*typed(":tombstones"), "enter"],
    "2-claims": ["2", "j"],
    "2-holders": [*typed(":holders"), "enter"],
    "3-reservations": ["3", "j"],
    "3-reservation": ["3", "enter"],
    "4-fences": ["4", "j"],
    "5-events": ["5"],
    "6-jobs": ["6", "j"],
    "6-plans": ["6", "tab"],
    "6-job": ["6", "enter"],
    "6-report": ["6", "j", "j", "j", "enter"],
    "7-audit": ["7", "j"],
    "7-entry": ["7", "enter"],
    "7-unknown": ["u"],
    "8-queue": ["8", "j"],
    "9-budgets": ["9", "j"],
    "9-days": ["9", "tab"],
    "help": ["1", "question_mark"],
    "sort": ["1", "s"],
    "columns": ["1", "c"],
    "plan": ["1", "D"],
    "plan-items": ["1", "D", "v"],
    "changes": ["1", "x"],
    "sweep": ["1", "S"],
    "window": ["W"],
    "contexts": [*typed(":contexts"), "enter"],
}
"""Keys from the threads to the screen."""


async def drawn(pilot: Pilot[None], name: str) -> str:
    """A screen in all sizes, one below the other."""
    for key in SCREENS[name]:
        await pilot.press(key)
        await settled(pilot)
    parts: list[str] = []
    for columns, rows in SIZES:
        await pilot.resize_terminal(columns, rows)
        await settled(pilot)
        await pilot.pause()
        parts.append(f"== {name} {columns}x{rows}\n{picture_of(pilot.app)}")
    await pilot.resize_terminal(*SIZES[0])
    return "\n".join(parts) + "\n"


async def all_drawn() -> dict[str, str]:
    """Every screen by name, each as if the console had just been opened on it."""
    found: dict[str, str] = {}
    for name in SCREENS:
        async with make_app().run_test(size=SIZES[0]) as pilot:
            await ready(pilot)
            found[name] = await drawn(pilot, name)
    return found


def file_of(way: str, name: str) -> Path:
    """Where a screen's pictures lie."""
    return FOLDER / f"{name}-{way}.txt"


@pytest.mark.parametrize("way", WAYS)
def test_f12_every_screen_in_every_size(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Poll, "_interval", lambda _poll: None)
    if way == "no-color":
        monkeypatch.setenv("NO_COLOR", "1")
    pictures = asyncio.run(all_drawn())
    others = [line for name, picture in pictures.items() for line in difference(file_of(way, name), picture)]
    assert not others, "run this module if that is what is wanted:\n" + "\n".join(others[:MOST_LINES])


def difference(file: Path, picture: str) -> list[str]:
    """The lines that are drawn otherwise."""
    return list(unified_diff(file.read_text().splitlines(), picture.splitlines(), file.name, "drawn", n=0))


def test_f12_the_pictures_are_those_of_the_screens_that_there_are() -> None:
    wanted = {file_of(way, name) for way in WAYS for name in SCREENS}
    assert {path for path in FOLDER.iterdir() if path.suffix == ".txt"} == wanted


def test_f12_without_styles_colour_and_no_color_say_the_same() -> None:
    for name in SCREENS:
        colour, grey = (file_of(way, name).read_text().splitlines() for way in WAYS)
        assert [line for line in colour if line.startswith(("|", "=="))] == [
            line for line in grey if line.startswith(("|", "=="))
        ]


def main() -> None:
    """Draw all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Poll, "_interval", lambda _poll: None)
        patch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
        for way in WAYS:
            patch.delenv("NO_COLOR", raising=False)
            if way == "no-color":
                patch.setenv("NO_COLOR", "1")
            for name, picture in asyncio.run(all_drawn()).items():
                file_of(way, name).write_text(picture)


if __name__ == "__main__":
    main()
