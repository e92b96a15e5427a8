"""The form of a resolution as it is drawn: whole at 120x40, its three steps at 80x24 (console.md 5.3 and 5.4).

`python -m tests.console.test_resolving_pictures` writes the pictures anew, to be looked at as a diff.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.console.pictures import lines_of
from tests.console.resolve_play import NARROW, WIDE, Play, play

FOLDER: Final = Path(__file__).parent / "__snapshots__" / "test_resolving"
SIZES: Final = (WIDE, NARROW)


def drawn(size: tuple[int, int]) -> str:
    """The form empty, and filled; every step of it where it has steps."""
    parts: list[str] = []

    async def scene(here: Play) -> None:
        def keep(what: str) -> None:
            here.form.update_lines()  # by the clock as it is now, not as it was at the last tick
            text = "\n".join(line.rstrip() for line in lines_of(here.app))
            parts.append(f"== {what} {size[0]}x{size[1]}\n{text}")

        keep("opened")
        await here.outcome("p", "0.12")
        await here.evidence(observed="2026-05-04T13:58:22Z")
        await here.weighed()
        keep("filled")
        await here.at_the_end()
        here.form.form.closing.tell()
        await here.pilot.pause()
        keep("to be confirmed")

    play(scene, size=size)
    return "\n".join(parts) + "\n"


def file_of(size: tuple[int, int]) -> Path:
    """Where the pictures of a size lie."""
    return FOLDER / f"form-{size[0]}x{size[1]}.txt"


@pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
def test_the_form_is_drawn_as_it_was(size: tuple[int, int]) -> None:
    assert drawn(size) == file_of(size).read_text(encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in SIZES:
        file_of(each).write_text(drawn(each), encoding="utf-8")
