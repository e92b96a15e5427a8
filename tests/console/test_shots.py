"""The pictures in `screenshots/` are what the console looks like today, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console import shots

if TYPE_CHECKING:
    from pathlib import Path


def test_the_pictures_are_those_of_this_console(tmp_path: Path) -> None:
    shots.main(tmp_path)

    drawn = {picture.name: picture.read_text() for picture in tmp_path.iterdir()}
    kept = {picture.name: picture.read_text() for picture in shots.FOLDER.iterdir()}
    assert sorted(drawn) == sorted(kept), "run python -m console.shots"
    stale = [name for name in drawn if drawn[name] != kept[name]]
    assert not stale, f"run python -m console.shots: {stale}"
