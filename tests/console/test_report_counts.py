"""Counts that stop at their cap and say so; children read when they are looked at; no slip from a view key to a change
(console.md 3.1 and 3.2, rows 2, 51 and 56).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from console import actions
from console.actions import ACTIONS, Action, Capability, Place
from console.model import Counted
from console.screens.tabs import TABS
from console.screens.thread import ThreadScreen
from console.widgets.self_reading import SelfReading
from tests.console.test_pilot import drive
from tests.console.test_pilot_lists import crumbs, ids
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    import pytest
    from textual.pilot import Pilot

    from tests.console.fake import FakeGateway

WITHOUT = "shift+", "ctrl+", "alt+"


def slips(known: tuple[Action, ...]) -> list[str]:
    """The verbs that change the store, or begin to, and are one modifier away from another one's key, or not on a
    capital.
    """
    change = {
        key: action.name
        for action in known
        if action.capability is not Capability.READ
        for key in action.keys
    }
    odd = [name for key, name in change.items() if len(key) != 1 or not key.isupper()]
    return odd + [
        name for key, name in change.items() for each in WITHOUT if f"{each}{key.lower()}" in change
    ]


def test_report_02_no_modifier_added_or_taken_away_turns_a_view_key_into_a_change() -> None:
    assert slips(ACTIONS) == []
    wrong = (
        Action("drop", ("x",), "drop", "Drop", Place.THREADS, Capability.WRITE),
        Action("purge", ("D", "ctrl+d"), "purge", "Purge", Place.THREADS, Capability.WRITE),
    )
    assert slips((*ACTIONS, *wrong)) == ["drop", "purge", "purge"], "this is what would be found"
    for action in ACTIONS:
        if action.capability is Capability.WRITE:
            assert actions.refusal(action, writable=False) is not None, action.name


def test_report_51_a_count_that_stopped_is_never_told_as_a_total(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        monkeypatch.setattr(gateway, "count_threads", lambda _query: Counted(10_000, more=True))
        await ready(pilot)
        await pilot.press("slash", *"status:completed,running", "enter")
        await until(pilot, lambda: "of 10,000+" in crumbs(pilot))

        assert len(ids(pilot)) <= 500

    drive(scene)


def test_report_56_children_are_read_when_their_tab_is_opened() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadScreen))
        screen = await ready(pilot)
        children = screen.query_one("#children", SelfReading)
        assert "children" not in gateway.asked
        assert children.empty == "reading ...", "what is not read yet says so"
        assert len(children.window) == 0
        await pilot.press(*["tab"] * TABS.index("children"))
        await until(pilot, lambda: len(children.window) > 0)
        assert 0 < gateway.asked.count("children") <= 2
        assert len(children.window) < gateway.offspring, "a page of them, not all"

    drive(scene)
