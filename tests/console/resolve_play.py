"""The form of a resolution driven by keys: opened over a reservation, filled, confirmed by hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.widgets import Input

from console.acting.confirmation import QUIET_SECONDS
from console.acting.model import Person
from console.acting.resolving import Resolvable
from console.money_words import HoldState, Kind
from console.screens.resolve import ResolveScreen
from console.screens.resolving import above_detail
from console.widgets.band import Band
from console.widgets.choice import Choice
from console.widgets.evidence import EvidenceBox
from console.widgets.pane import Pane
from console.widgets.phrase import PhraseField
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing
from tests.console.fake_money import story_of
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.acting.door import Acting
    from console.app import HoldwatchApp
    from console.money_model import ReservationRow
    from console.money_words import Address

HELD = 300_000
BY_HAND = 0.12
PERSON = Person("mk", "bastion-2")
WIDE, NARROW = (120, 40), (80, 24)


class Time:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def day_row(gateway: FakeGateway) -> ReservationRow:
    """A fenced one of the day store that was deferred before, holding 0.30 dollars."""
    found = next(
        row
        for row in gateway.holds()
        if row.address.kind is Kind.DAY and row.fenced and row.deferrals and not row.is_operation
    )
    return replace(found, micro=HELD)


def resolvable(row: ReservationRow, **guard: object) -> Resolvable:
    """A row as the form is given it."""
    known: dict[str, object] = {"deferrals": row.deferrals, "expires_at": 1, "next_check_at": None}
    return Resolvable(story_of(row), known | guard, f"{row.address.kind}:{row.address.id}")


def settled(shown: Resolvable) -> Resolvable:
    """The same, settled meanwhile."""
    story = shown.story
    return replace(shown, story=replace(story, row=replace(story.row, state=HoldState.SETTLED)))


class Play:
    """One console with the form open, and the fakes behind it."""

    def __init__(self, pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        self.pilot, self.app, self.time = pilot, app, time

    @property
    def gateway(self) -> FakeGateway:
        """The fake behind it, where there is one."""
        assert isinstance(self.app.session.gateway, FakeGateway)
        return self.app.session.gateway

    @property
    def form(self) -> ResolveScreen:
        """The screen in front."""
        assert isinstance(self.app.screen, ResolveScreen)
        return self.app.screen

    async def open(self, address: Address) -> None:
        """Over the reservation's own screen."""
        page = await ready(self.pilot)
        above_detail(page, address)
        await until(self.pilot, lambda: isinstance(self.app.screen, ResolveScreen))
        await until(self.pilot, lambda: self.form.deciding.shown is not None)
        await self.pilot.pause()

    async def keys(self, *keys: str) -> None:
        """Each in its own time."""
        for key in keys:
            self.time.now += BY_HAND
            await self.pilot.press(key)

    async def text(self, text: str) -> None:
        """Type a text."""
        names = {" ": "space", ".": "full_stop", "-": "minus", "/": "slash", "_": "underscore", ":": "colon"}
        await self.keys(*(names.get(each, each) for each in text))

    async def outcome(self, letter: str, *fields: str) -> None:
        """Choose, and type into what is asked for then."""
        self.app.set_focus(self.form.form.outcomes)
        await self.keys(letter)
        for field in fields:
            await self.keys("tab")
            await self.text(field)

    async def evidence(self, reference: str = "req_9", observed: str = "5m ago", file: str = "") -> None:
        """Fill the last item by its lines, as a paste does: seen in the provider's log, not spent."""
        box = list(self.form.query(EvidenceBox))[-1]
        self.app.set_focus(box._kind)
        await self.keys("right", "tab", "right", "right", "tab")
        box._reference.line.value = reference
        box._observed.line.value = observed
        box._file.line.value = file
        await self.pilot.pause()

    async def typed_evidence(self, reference: str, observed: str) -> None:
        """The same, key by key."""
        box = list(self.form.query(EvidenceBox))[-1]
        self.app.set_focus(box._kind)
        await self.keys("right", "tab", "right", "right", "tab")
        await self.text(reference)
        await self.keys("tab")
        await self.text(observed)

    async def weighed(self) -> None:
        """Until the store was asked about all of it."""
        form = self.form
        await until(self.pilot, lambda: form._timer is None and self.app.session.calls.running == 0)
        await self.pilot.pause()

    async def confirm(self, phrase: str, reason: str = "INC-7") -> None:
        """Reason and phrase at once, then the deed by its key after a pause."""
        await self.at_the_end()
        closing = self.form.form.closing
        if closing.display:
            if reason:
                closing.query_one("#reason", Input).value = reason
            field = closing.query_one(PhraseField)
            field._typing.text = phrase
            field._changed()
            await self.pilot.pause()
            await self.keys("down", "enter")
        await self.pilot.pause()

    async def at_the_end(self) -> None:
        """Weighed, on Cancel, and the pause over."""
        await self.weighed()
        await self.keys("pagedown", "pagedown")
        self.time.now += 2 * QUIET_SECONDS

    async def typed_confirm(self, phrase: str, reason: str) -> None:
        """The same, key by key, as an operator does it who waits first."""
        await self.at_the_end()
        await self.keys("up", "up")
        await self.text(reason)
        await self.keys("down")
        await self.text(phrase)
        await self.keys("down", "down", "enter")
        await self.pilot.pause()

    @property
    def checks(self) -> str:
        """The checks of the form."""
        return self.form.query_one("#checks", Pane).text

    @property
    def told(self) -> str:
        """What the confirmation says is missing."""
        return self.form.form.closing.query_one("#told", Band).text.strip()

    @property
    def deed_is_on(self) -> bool:
        """Whether Enter on the deed would do it."""
        return self.form.form.closing.query_one("#deed", Choice).enabled

    def said(self) -> str:
        """What the screen in front last said."""
        screen = self.app.screen
        return screen.query_one("#screens", Band).text + screen.query_one("#notice", Pane).text


def play(
    scene: Callable[[Play], Awaitable[None]],
    *,
    acting: FakeActing | None = None,
    gateway: FakeGateway | None = None,
    writable: bool = True,
    size: tuple[int, int] = WIDE,
) -> FakeActing:
    """A scene with the form open over a day reservation; what went through the door of changes."""
    source, door = gateway or FakeGateway(), acting or FakeActing()
    source.to_resolve = source.to_resolve or resolvable(day_row(source))
    app = make_app(source)
    play_on(app, source.to_resolve.story.row.address, scene, acting=door, writable=writable, size=size)
    return door


def play_on(
    app: HoldwatchApp,
    address: Address,
    scene: Callable[[Play], Awaitable[None]],
    *,
    acting: Acting,
    writable: bool = True,
    size: tuple[int, int] = WIDE,
) -> None:
    """The same on any console."""
    time = Time()
    app.session.acting, app.session.person = acting, PERSON
    app.session.monotonic = app.session.window.monotonic = time

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await ready(pilot)
            if writable:
                app.session.window.open("INC-7")
            here = Play(pilot, app, time)
            await here.open(address)
            await scene(here)

    asyncio.run(run())
