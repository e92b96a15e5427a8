"""Whatever keys and answers fall together in the whole console, an action gets what was drawn (console.md F2)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from console.app import HoldwatchApp
from console.screens.listed import ListedPage
from console.widgets.aim import Chosen
from console.widgets.columns import Scene
from tests.console.fake import FakeGateway, make_app, renamed
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.model import ThreadRow
    from console.session import Session
    from console.widgets.listing import Listing

STEPS = 300
"""As many random steps as go through the whole console (ruling 60)."""
SIZE = (150, 24)
"""Wide enough for whole ids."""
KEYS = ("j", "j", "k", "g", "space", "space", "v", "m", "M", "pagedown")


@dataclass(frozen=True)
class Lines:
    """What the list has put on the screen: the ids in their lines, the one under the cursor, those with a star."""

    ids: tuple[str, ...]
    under: str | None
    starred: frozenset[str]


class Drive:
    """Random steps; `acted` counts those that an action was given ids for."""

    def __init__(self, pilot: Pilot[None], gateway: FakeGateway, chance: Random) -> None:
        self.pilot = pilot
        self.gateway = gateway
        self.chance = chance
        self.acted = 0
        self.made = 0

    @property
    def listing(self) -> Listing[ThreadRow]:
        """The threads' list."""
        screen = self.pilot.app.screen
        assert isinstance(screen, ListedPage)
        return screen.main_widget()

    @property
    def session(self) -> Session:
        """The console's session."""
        app = self.pilot.app
        assert isinstance(app, HoldwatchApp)
        return app.session

    def drawn(self) -> Lines:
        """The lines of the last frame, read from what was rendered."""
        strips = sorted(self.listing._drawn.items())
        rows = [strip.text for y, strip in strips if y > 0 and strip.text[2:].strip()]
        signs = [(text[0], text[1], text[2:].split()[0]) for text in rows]
        place = self.listing.window.cursor - self.listing.scroll_offset.y
        under = signs[place][2] if 0 <= place < len(signs) and signs[place][0] in ">~?" else None
        starred = frozenset(row for _, pick, row in signs if pick == "*")
        return Lines(tuple(row for _, _, row in signs), under, starred)

    def change(self) -> None:
        """A row comes, goes, or moves to the top."""
        rows = self.gateway.rows
        self.made += 1
        match self.chance.choice(["insert", "delete", "update"]):
            case "insert":
                rows.insert(self.chance.randrange(3), renamed(rows[0], f"new-{self.made}"))
            case "delete":
                del rows[self.chance.randrange(10)]
            case _:
                rows.insert(0, rows.pop(self.chance.randrange(10)))

    async def key(self) -> None:
        """A key, and the frame that follows it."""
        await self.pilot.press(self.chance.choice(KEYS))

    async def refresh(self) -> None:
        """The next answer of the store."""
        self.change()
        asked = len(self.gateway.asked)
        await self.pilot.press("r")
        await until(self.pilot, lambda: len(self.gateway.asked) > asked and not self.session.calls.running)

    async def late(self) -> None:
        """An answer that is not on the screen yet when the action asks."""
        frame = self.drawn()
        self.change()
        self.listing.show(self.gateway.rows[:100], Scene(self.gateway.as_of))
        assert self.drawn().ids == frame.ids
        self.act(frame)
        await self.pilot.pause()

    def act(self, frame: Lines) -> None:
        """An action asks for its ids."""
        window, targets = self.listing.window, self.listing.targets()
        if not isinstance(targets, Chosen):
            assert window.marks.anchor is not None or targets.hidden
            assert not set(targets.hidden) & frame.starred
            return
        self.acted += 1
        if not window.marks:
            assert targets.ids == (frame.under,)
            return
        assert set(targets.ids) == set(window.marks)
        if set(targets.ids) <= set(frame.ids):  # none is scrolled out of view
            assert set(targets.ids) == frame.starred


def test_report_04_through_the_console() -> None:
    async def play() -> Drive:
        gateway, chance = FakeGateway(), Random(4)
        async with make_app(gateway).run_test(size=SIZE) as pilot:
            await pilot.press("1")
            await ready(pilot)
            drive = Drive(pilot, gateway, chance)
            for _ in range(STEPS):
                await getattr(drive, chance.choice(["key", "key", "refresh", "late"]))()
                drive.act(drive.drawn())
        return drive

    assert asyncio.run(play()).acted > STEPS / 2
