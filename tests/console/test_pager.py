"""Keyset windows: every query is one cursor and one limit, and the way back is the way there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.pager import PAGE, WINDOW, Pager

TOTAL = 1_234


def land(pager: Pager) -> None:
    """Answer as a store of TOTAL rows would, with row numbers as cursors."""
    end = int(pager.after or 0) + pager.limit
    pager.landed(str(end) if end < TOTAL else None)


def test_it_grows_to_the_window_and_then_moves() -> None:
    pager = Pager()
    land(pager)
    for limit in range(2 * PAGE, WINDOW + 1, PAGE):
        assert pager.down()
        assert (pager.after, pager.limit) == (None, limit)
        assert not pager.down(), "one question at a time"
        land(pager)
    assert pager.down()
    assert (pager.after, pager.limit, pager.offset) == (str(PAGE), WINDOW, PAGE)


def test_the_end_is_the_end() -> None:
    pager = Pager()
    land(pager)
    turns = 0
    while pager.down():
        land(pager)
        turns += 1
        assert turns < 50
    assert not pager.more
    assert int(pager.after or 0) + pager.limit >= TOTAL


@given(st.lists(st.sampled_from(["down", "up", "land", "home"]), max_size=60))
def test_the_cursor_is_always_the_border_of_its_offset(script: list[str]) -> None:
    pager = Pager()
    land(pager)
    for verb in script:
        if verb == "land":
            land(pager)
        else:
            getattr(pager, verb)()
        assert int(pager.after or 0) == pager.offset
        assert PAGE <= pager.limit <= WINDOW
    pager.home()
    assert pager.after is None
