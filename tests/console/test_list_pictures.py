"""Marks, ghosts, a range, a sorted window and chosen columns as pictures, at the two sizes that operators have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.refresh import Poll
from tests.console.fake import FakeGateway, make_app, renamed, thread_row
from tests.console.test_screens import SIZES, play, typed
from tests.console.waiting import refreshed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

SCENES: dict[str, list[str]] = {
    "marks": ["j", "space", "space", "j", "space"],
    "marks-hidden": ["space", "space", "j", "space", *typed("/tenant:acme"), "enter"],
    "marks-only": ["space", "space", "j", "space", *typed("/tenant:acme"), "enter", "m", "j"],
    "range": ["j", "v", "j", "j", "j"],
    "sorted": [*typed(":sort lease"), "enter", "j", "j"],
    "sort-letters": ["s"],
    "columns": ["c", "j", "j", "space", "less_than_sign"],
    "columns-chosen": ["c", "j", "j", "space", "less_than_sign", "enter"],
    "columns-scrolled": ["greater_than_sign", "greater_than_sign"],
    "export": ["E"],
    "last-loaded": ["2", "G"],
}


@pytest.fixture(autouse=True)
def _no_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view asks when told to and at no other time: the number of answers must not depend on the machine."""
    monkeypatch.setattr(Poll, "_interval", lambda _poll: None)


def scene(keys: list[str]) -> Callable[[Pilot[None]], Awaitable[None]]:
    """What `snap_compare` runs before it looks."""

    async def before(pilot: Pilot[None]) -> None:
        await play(pilot, ["1", *keys])

    return before


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", SCENES)
def test_list(name: str, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=scene(SCENES[name]))


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
def test_list_ghosts_while_held(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway()

    async def before(pilot: Pilot[None]) -> None:
        await play(pilot, ["1", "j", "space", "space"])
        del gateway.rows[1], gateway.rows[4]
        gateway.rows[:0] = [renamed(thread_row(0), f"new-{number}") for number in range(3)]
        await refreshed(pilot)

    assert snap_compare(make_app(gateway), terminal_size=size, run_before=before)


def test_list_marks_without_colour(
    snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(make_app(), terminal_size=(80, 24), run_before=scene(SCENES["marks"]))
