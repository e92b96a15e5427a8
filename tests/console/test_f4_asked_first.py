"""Starting is never enough (ruling 52): each verb that is confirmed asks before anything goes through the door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console.actions import ACTIONS, Level
from console.screens.menu import MenuScreen
from console.screens.sweep import SweepScreen
from console.widgets.confirming import Confirming
from tests.console.walk import play

if TYPE_CHECKING:
    from console.screens.page import Page
    from tests.console.walk import Walk

ASKED: Final = {
    "claims": ("release",),
    "reservations": ("reconcile",),
    "threads": ("sweep", "delete", "restart"),
    "preview": ("execute",),
    "unknown": ("close_intent",),
    "jobs": ("begin_job", "halt_job"),
    "job": ("give_up",),
    "plan": ("give_up_plan", "approve"),
}
"""Screens on which they have something to be about; `restart` is an own command. The plans come behind the jobs: tab
leads from one to the other, and back.
"""
NAMES: Final = tuple(name for names in ASKED.values() for name in names)
ELSEWHERE: Final = frozenset({"window"})
"""What is asked before changes are on."""
ON_THE_PLAN: Final = frozenset({"execute"})
"""What the form under a plan confirms."""
BEFORE_A_PLAN: Final = (MenuScreen, SweepScreen)
"""Questions that come even before there is a plan to confirm."""


def asks_now(walk: Walk, page: Page, name: str) -> bool:
    """Whether a confirmation is in front that was not there before, or what leads to one."""
    screen = walk.app.screen
    if screen is page and name not in ON_THE_PLAN:
        return False
    return isinstance(screen, BEFORE_A_PLAN) or bool(screen.query(Confirming))


def test_every_verb_that_is_confirmed_is_looked_at_here() -> None:
    known = {each.name for each in ACTIONS if each.level >= Level.ASK}
    assert known == ({*NAMES} - {"restart"}) | ELSEWHERE


def test_report_22_every_verb_asks_before_it_changes_anything() -> None:
    seen: list[str] = []

    async def scene(walk: Walk) -> None:
        for where, names in ASKED.items():
            page = await walk.to(where)
            for name in names:
                page.perform(name)
                await walk.come_to(lambda: asks_now(walk, page, name))  # noqa: B023 - called at once
                await walk.at_rest()
                seen.append(name)
                await walk.back_to(page)

    assert {call[0] for call in play(scene, reason="INC").changes} <= {"make_plan"}
    assert seen == list(NAMES)
