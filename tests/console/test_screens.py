"""Every screen as a picture, at the two sizes that operators have (console.md F12)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from console.model import GatewayError
from console.refresh import Poll
from console.screens.listed import ListedPage
from tests.console.fake import FakeGateway, make_app, renamed, thread_row
from tests.console.test_present import HOSTILE
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.pilot import Pilot

    from console.money_model import ReservationRow

SIZES = [(80, 24), (120, 40)]
DOWN = GatewayError(
    "connection to server at 10.0.3.7, port 5432 failed: Connection refused; "
    "check that the server runs and that this host may reach it",
    code="store_failure",
    retryable=True,
)


def typed(text: str) -> list[str]:
    """The keys of a text."""
    names = {"/": "slash", ":": "colon", "?": "question_mark", " ": "space"}
    return [names.get(character, character) for character in text]


@pytest.fixture(autouse=True)
def _no_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view asks when told to and at no other time: the number of answers must not depend on the machine."""
    monkeypatch.setattr(Poll, "_interval", lambda _poll: None)


class Hostile(FakeGateway):
    """Money whose every text is somebody else's."""

    def holds(self) -> Sequence[ReservationRow]:
        """A row for each hostile text."""
        rows = super().holds()
        return [
            replace(row, address=replace(row.address, id=text), owner=text, thread=text, operation=text)
            for row, text in zip(rows, HOSTILE, strict=False)
        ]


SCENES: dict[str, list[str]] = {
    "threads": ["j", "j", "j"],
    "threads-page-two": ["pagedown", "pagedown"],
    "threads-no-pane": ["i"],
    "threads-paused": ["p"],
    "threads-copied": ["y"],
    "filter": typed("/status:running"),
    "filter-refused": [*typed("/stat:x"), "enter"],
    "filter-nothing": [*typed("/zzz"), "enter"],
    "command": typed(":qu"),
    "command-refused": [*typed(":frob"), "enter"],
    "help-threads": ["question_mark"],
    "help-events": ["5", "question_mark"],
    "events": ["5"],
    "events-anchored": ["5", "k", "k"],
    "events-filtered": ["5", *typed("/kind:tool.result"), "enter"],
    "thread-claim": ["enter"],
    "thread-claim-expired": ["j", "j", "enter"],
    "thread-checkpoints": ["enter", "tab"],
    "thread-writes": ["enter", "tab", "tab"],
    "thread-effects": ["enter", "tab", "tab", "tab"],
    "thread-events": ["enter", *["tab"] * 4],
    "thread-reading": ["enter", "tab", "enter", "j", "j"],
    "thread-children": ["enter", *["tab"] * 5, "j"],
    "thread-child": ["enter", *["tab"] * 5, "j", "enter"],
    "thread-queue": ["enter", *["tab"] * 6],
    "thread-metadata": ["enter", "shift+tab", "j"],
    "incomplete": [*typed(":incomplete"), "enter", "j"],
    "tombstones": [*typed(":tombstones"), "enter", "j"],
    "claim-only": [*typed("/state:claim-only"), "enter"],
    "claims": ["2", "j"],
    "claims-live": ["2", *typed("/state:live"), "enter", "j"],
    "claims-of-holder": ["2", "j", "j", "o"],
    "holders": [*typed(":holders"), "enter", "j"],
    "help-claims": ["2", "question_mark"],
    "queue": ["8", "j"],
    "queue-dead": ["8", *typed("/state:dead"), "enter"],
    "reservations": ["3", "j", "j", "j"],
    "reservations-due": ["3", *typed("/state:due"), "enter"],
    "reservations-settled": ["3", *typed("/state:settled"), "enter"],
    "reservation-day": ["3", *typed("/kind:day"), "enter", "enter"],
    "reservation-operation": ["3", *typed("/leased"), "enter", "enter"],
    "reservation-meter": ["3", *typed("/kind:meter"), "enter", "j", "enter"],
    "reservation-tentative": ["3", *typed("/kind:tentative"), "enter", "enter"],
    "reservation-capped": [*typed(":cap 60"), "enter", "3", "enter"],
    "reservation-settled": ["3", *typed("/state:settled"), "enter", "enter"],
    "fences": ["4", "j", "j"],
    "fences-filter": ["4", "slash"],
    "budgets": ["9", "j"],
    "budgets-window": ["9", "G"],
    "budgets-days": ["9", "tab"],
    "budgets-capped": ["9", "tab", *typed(":cap 60"), "enter", "j"],
    "thread-holds": ["enter", *["tab"] * 7, "j"],
    "help-reservations": ["3", "question_mark"],
    "threads-day": [*typed(":theme day"), "enter"],
}


async def play(pilot: Pilot[None], keys: list[str]) -> None:
    """Press keys, giving the store time to answer after each."""
    await ready(pilot)
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def settled(pilot: Pilot[None]) -> None:
    """Wait until nothing is asked and every text in view is there."""
    from console.app import HoldwatchApp
    from console.screens.page import Page
    from console.screens.thread import ThreadScreen
    from console.widgets.pane import Pane

    app = pilot.app
    assert isinstance(app, HoldwatchApp)
    if isinstance(app.screen, Page):
        await ready(pilot)
    if isinstance(app.screen, ThreadScreen) and app.screen.tab == "checkpoints":
        await until(pilot, lambda: "{" in app.screen.query_one("#checkpoints Pane", Pane).text)
    if isinstance(app.screen, ListedPage):
        await until(pilot, lambda: extra_is_here(app.screen))
    await until(pilot, lambda: app.session.calls.running == 0)


def extra_is_here(screen: object) -> bool:
    """Whether the pane below a list knows what it asks for apart."""
    assert isinstance(screen, ListedPage)
    row_id = screen.main_widget().window.current_id
    return screen._question.view.extra is None or row_id is None or screen._extras.of(row_id) is not None


def scene(keys: list[str]) -> Callable[[Pilot[None]], Awaitable[None]]:
    """What `snap_compare` runs before it looks."""

    async def before(pilot: Pilot[None]) -> None:
        await play(pilot, keys)

    return before


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", SCENES)
def test_screen(name: str, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=scene(SCENES[name]))


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
def test_stale(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway()

    async def before(pilot: Pilot[None]) -> None:
        await play(pilot, ["j", "j"])
        gateway.down = DOWN
        await refreshed(pilot)

    assert snap_compare(make_app(gateway), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
def test_claims_gone_stale(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway()

    async def before(pilot: Pilot[None]) -> None:
        await play(pilot, ["2", "j"])
        gateway.down = DOWN
        await refreshed(pilot)

    assert snap_compare(make_app(gateway), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("keys", [["3", "j"], ["4"], ["3", "enter"]], ids=["list", "fences", "one"])
def test_money_gone_stale(keys: list[str], size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway()

    async def before(pilot: Pilot[None]) -> None:
        await play(pilot, keys)
        gateway.down = DOWN
        await refreshed(pilot)

    assert snap_compare(make_app(gateway), terminal_size=size, run_before=before)


def test_hostile_money(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(
        make_app(Hostile()), terminal_size=(80, 24), run_before=scene(["3", "j", "enter", "pagedown"])
    )


def test_a_filter_that_the_store_refuses(snap_compare: Callable[..., bool]) -> None:
    message = "metadata: 3 of the newest 10000 threads match; name a tenant, or add a status"
    gateway = FakeGateway()

    async def before(pilot: Pilot[None]) -> None:
        await play(pilot, [])
        gateway.down = GatewayError(message, code="validation", retryable=False)
        await pilot.press(*typed("/meta.a:b"), "enter")
        await ready_or_refused(pilot)

    assert snap_compare(make_app(gateway), terminal_size=(80, 24), run_before=before)


async def ready_or_refused(pilot: Pilot[None]) -> None:
    """Wait until the screen has said what is wrong."""
    from console.screens.page import Page

    screen = pilot.app.screen
    assert isinstance(screen, Page)
    await until(pilot, lambda: screen.freshness.cause is not None)


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
def test_ghost(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway()

    async def before(pilot: Pilot[None]) -> None:
        await play(pilot, ["j", "j"])
        del gateway.rows[2]
        await refreshed(pilot)

    assert snap_compare(make_app(gateway), terminal_size=size, run_before=before)


def test_hostile_ids(snap_compare: Callable[..., bool]) -> None:
    rows = [renamed(thread_row(number), text) for number, text in enumerate(HOSTILE)]
    assert snap_compare(make_app(FakeGateway(rows=rows)), terminal_size=(80, 24), run_before=scene(["j"]))


def test_an_empty_store(snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway(rows=[], tail=[])
    assert snap_compare(make_app(gateway), terminal_size=(80, 24), run_before=scene([]))


def test_no_color(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(make_app(), terminal_size=(80, 24), run_before=scene(["j", "j", "j"]))
