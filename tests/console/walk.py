"""A walk over every screen that there is, by keys, on one console over made-up rows."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from console.acting.plans import PlanState
from console.config.file import parsed
from console.contexts import Contexts
from console.registry import registry_of
from console.screens.confirm import ConfirmScreen
from console.screens.page import Page
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing, audit_row, job_row, plan_view
from tests.console.hand import Hand
from tests.console.resolve_play import day_row, resolvable
from tests.console.test_acting_window import PERSON, Time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from textual.screen import Screen

COMMANDS: Final = f"""
[commands.restart]
key = "X"
scope = "everywhere"
capability = "write"
argv = ["{sys.executable}", "-c", "raise SystemExit('ran')"]
"""
GROUPS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "figures": {"overview": ("0",), "queue": ("8",), "budgets": ("9",)},
    "threads": {"threads": ("1",), "thread": ("1", "enter")},
    "plans": {"preview": ("1", "D"), "plan": ("6", "tab", "enter"), "unknown": ("u",)},
    "claims": {"claims": ("2",), "events": ("5",), "fences": ("4",)},
    "money": {"reservations": ("3",), "reservation": ("3", "enter"), "resolve": ("3", "enter", "e")},
    "jobs": {"jobs": ("6",), "job": ("6", "enter"), "audit": ("7",), "entry": ("7", "enter")},
}
"""Screens that can be walked over one after the other."""
SCREENS: Final = {name: keys for group in GROUPS.values() for name, keys in group.items()}
"""Keys from the first screen to each kind that there is."""
KINDS: Final = {"preview": "PlanScreen"}
"""What is of another class than its name says."""
FURTHER: Final = frozenset(
    {"enter", "D", "e", "u", "x", "S", "R", "B", "H", "F", "O", "q", "X", "s", "semicolon"}
)
"""Keys that put a screen or a dialog in front."""
STEPS_BACK: Final = 6
READY: Final = 1
"""Of the made-up jobs the one that waits for a runner: it is under the cursor."""


class Walk(Hand):
    """Over the screens of one console that may change things."""

    first = ""
    """The key of the list that all began with."""

    async def go(self, keys: Iterable[str]) -> None:
        """Press keys, and wait for what each of them opens."""
        for key in keys:
            before = self.app.screen
            await self.press(key)
            if key in FURTHER:
                await self.come_to(lambda before=before: self.app.screen is not before)  # type: ignore[misc]

    async def to(self, name: str) -> Page:
        """A screen, once it has what it shows."""
        await self.back_to(self.app.screen_stack[0])
        self.first = SCREENS[name][0]
        await self.go(SCREENS[name])
        page = self.app.screen
        assert isinstance(page, Page)
        assert type(page).__name__ == KINDS.get(name, f"{name.capitalize()}Screen")
        await self.come_to(lambda: page.freshness.since is not None)
        return page

    async def back_to(self, page: Screen[Any]) -> None:
        """Esc, until the screen stands in front again; what was typed over it is given up.

        A click may lead to another list, beside the first one: its key leads back.
        """
        for _ in range(STEPS_BACK):
            if self.app.screen is page:
                return
            aside = self.app.screen_stack == [self.app.screen]
            await self.press(self.first if aside else "escape")
            if isinstance(self.app.screen, ConfirmScreen):
                await self.press("y")
        assert self.app.screen is page


def play(scene: Callable[[Walk], Awaitable[None]], *, reason: str = "") -> FakeActing:
    """A scene on such a console; what went through the door of changes. With a reason they are on."""
    intent = audit_row(9, actor=PERSON.name)
    gateway = FakeGateway(entries=[*(audit_row(seq) for seq in range(1, 9)), intent])
    acting, time = FakeActing(), Time()
    gateway.to_resolve = resolvable(day_row(gateway))
    waiting = plan_view(id="pln_0", state=PlanState.AWAITING, actor="jo@laptop")
    gateway.job_rows = [job_row(READY), *(job_row(n) for n in range(6) if n != READY)]
    gateway.plan_rows = [waiting, plan_view(id="pln_1")]
    app, config = make_app(gateway), parsed(COMMANDS.encode(), Path("config.toml"))
    app.session.acting, app.session.person = acting, PERSON
    app.session.registry, app.session.contexts = registry_of(config), Contexts(config)
    app.session.monotonic = app.session.window.monotonic = time

    async def run() -> None:
        async with app.run_test(size=(80, 24)):
            walk = Walk(app, time)
            await walk.come_to(lambda: app.session.identity is not None)
            if reason:
                app.session.window.open(reason)
            await scene(walk)
            await walk.at_rest()
            assert app.session.writable or not reason
            assert reason or not app.session.writable

    asyncio.run(run())
    return acting
