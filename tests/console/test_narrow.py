"""A narrowed update leaves the same picture as Textual's own, with fewer bytes (ruling 59)."""

from __future__ import annotations

import io

import pyte
import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate
from textual.strip import Strip

from console.narrow import NarrowUpdate

WIDTH = 30
GREEN = Style(color="#83c795", bgcolor="#10151b")
OLD = "thr_1  o RUNNING   +19s    11s"
NEW = "thr_1  o RUNNING   +18s    12s"


def update(*spans: tuple[int, int, int]) -> ChopsUpdate:
    """The new lines in two chops each, of which these spans are to be written."""
    strip = Strip([Segment(NEW[:7], GREEN), Segment(NEW[7:])])
    left, right = strip.crop(0, 10), strip.crop(10, WIDTH)
    return ChopsUpdate([{0: left, 10: right}] * 2, list(spans), [[10, WIDTH]] * 2)


def picture(written: str) -> list[str]:
    """What a terminal that showed the old lines shows then."""
    screen = pyte.Screen(WIDTH, 2)
    stream = pyte.Stream(screen)
    stream.feed(f"{OLD}\x1b[2;1H{OLD}{written}")
    return list(screen.display)


@pytest.mark.parametrize(
    "spans",
    [[(0, 0, WIDTH)], [(0, 21, 23)], [(0, 5, 22), (1, 28, 29)], [(1, 9, 11)], [(0, 21, 29), (1, 0, 5)]],
)
def test_the_picture_is_the_same(spans: list[tuple[int, int, int]]) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=WIDTH)
    whole = update(*spans)
    narrow = NarrowUpdate.of(whole).render_segments(console)
    expected = [
        "".join(
            NEW[x] if any(y == row and first <= x < last for row, first, last in spans) else OLD[x]
            for x in range(WIDTH)
        )
        for y in range(2)
    ]
    assert picture(narrow) == expected
    assert len(narrow) <= len(whole.render_segments(console))


def test_a_few_cells_cost_a_few_bytes() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=WIDTH)
    assert len(NarrowUpdate.of(update((0, 22, 23))).render_segments(console)) < 20
