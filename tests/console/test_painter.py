"""What is drawn again when a line changes: no more than its changed cells (ruling 59)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.widgets.painter import difference

BOLD = Style(bold=True)
pieces = st.lists(st.tuples(st.text("ab漢", max_size=4), st.sampled_from([None, BOLD])), max_size=5)


def strip(*parts: tuple[str, Style | None]) -> Strip:
    """A line of pieces."""
    return Strip([Segment(text, style) for text, style in parts])


def test_only_what_changed_is_named() -> None:
    old, new = strip(("thr_1  o RUNNING  +19s", None)), strip(("thr_1  o RUNNING  +18s", None))
    assert difference(old, new) == (20, 21)
    assert difference(old, old) is None
    assert difference(None, new) == (0, 22)
    assert difference(strip(("ab", None)), strip(("a", None), ("b", BOLD))) == (1, 2)


@given(pieces, pieces)
def test_outside_the_difference_both_lines_look_alike(
    one: list[tuple[str, Style | None]], other: list[tuple[str, Style | None]]
) -> None:
    width = 24
    old, new = strip(*one).adjust_cell_length(width), strip(*other).adjust_cell_length(width)
    span = difference(old, new)
    start, end = span if span is not None else (width, width)
    assert looks(old.crop(0, start)) == looks(new.crop(0, start))
    assert looks(old.crop(end, width)) == looks(new.crop(end, width))


def looks(line: Strip) -> list[tuple[str, Style | None]]:
    """A line, character by character."""
    return [(character, segment.style) for segment in line for character in segment.text]
