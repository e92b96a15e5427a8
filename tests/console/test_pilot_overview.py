"""The overview driven by keys: cards, what they lead to, their own errors, and when nothing is asked."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import AppBlur, AppFocus

from console.held_model import Failed
from console.model import GatewayError
from console.refresh import COST_SHARE, SLOWEST_SECONDS, Poll
from console.screens.claims import ClaimsScreen
from console.screens.events import EventsScreen
from console.screens.fences import FencesScreen
from console.screens.listed import ListedPage
from console.screens.overview import CHANGES_SECONDS, OVERVIEW_SECONDS, OverviewScreen
from console.screens.queue import QueueScreen
from console.screens.reservations import ReservationsScreen
from console.screens.thread import ThreadScreen
from console.screens.threads import ThreadsScreen
from console.widgets.pane import Pane
from tests.console import test_contexts
from tests.console.fake import FakeGateway, make_app
from tests.console.test_pilot import drive, said
from tests.console.test_pilot_lists import command, crumbs, ids, listed
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.model import ThreadQuery
    from console.screens.page import Page

REFRESHES = 4
DOWN = GatewayError(
    "the server closed the connection; it is asked again", code="store_failure", retryable=True
)


@pytest.fixture(autouse=True)
def _no_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view asks when told to and at no other time."""
    monkeypatch.setattr(Poll, "_interval", lambda _poll: None)


def board(pilot: Pilot[None]) -> OverviewScreen:
    """The screen in front."""
    screen = pilot.app.screen
    assert isinstance(screen, OverviewScreen)
    return screen


def shown(pilot: Pilot[None]) -> str:
    """All that the board says."""
    return board(pilot).main_widget().text


async def open_board(pilot: Pilot[None]) -> None:
    """Go there and wait for all parts, what changed among them."""
    await pilot.press("0")
    await ready(pilot)
    await until(pilot, lambda: "reading" not in shown(pilot))


async def onto(pilot: Pilot[None], card: str, key: str) -> None:
    """Put the cursor on an item by keys alone."""
    widget = board(pilot).main_widget()
    if widget._cursor is not None and widget._cursor[0] == card:
        await pilot.press("tab")
    for _ in range(20):
        if widget._cursor is not None and widget._cursor[0] == card:
            break
        await pilot.press("tab")
    for _ in range(20):
        if widget._cursor == (card, key):
            return
        await pilot.press("j")
    raise AssertionError((card, key, widget._cursor))


LEADS: list[tuple[str, str, type[Page], str]] = [
    ("claims", "expired", ClaimsScreen, "state:expired"),
    ("claims", "live", ClaimsScreen, "state:live"),
    ("incomplete", "stuck", ThreadsScreen, "stuck"),
    ("fences", "due", FencesScreen, "state:due"),
    ("fences", "waiting", FencesScreen, "state:fenced"),
    ("cascades", "begun", ThreadsScreen, "status:deleted"),
    ("money", "expired", ReservationsScreen, "state:expired"),
    ("queue", "due", QueueScreen, "state:queued"),
    ("queue", "dead", QueueScreen, "state:dead"),
    ("threads", "FAILED", ThreadsScreen, "status:failed"),
    ("events", "newest", EventsScreen, ""),
    ("changed", "threads", ThreadsScreen, "since:5m"),
    ("changed", "expired", ClaimsScreen, "since:5m"),
    ("changed", "deleted", ThreadsScreen, "state:tombstone since:5m"),
    ("tombstones", "count", ThreadsScreen, "state:tombstone"),
    ("sweep", "lease", ReservationsScreen, "state:expired"),
]


def test_enter_opens_the_list_behind_a_figure() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        for card, key, screen, text in LEADS:
            await onto(pilot, card, key)
            await pilot.press("enter")
            await until(pilot, lambda screen=screen: isinstance(pilot.app.screen, screen))  # type: ignore[misc]
            await until(pilot, lambda text=text: getattr(pilot.app.screen, "filter", "") == text)  # type: ignore[misc]
            await pilot.press("0")
            assert board(pilot).main_widget()._cursor == (card, key)

    drive(scene)


def test_a_figure_and_its_list_agree() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        assert "39 claims expired" in shown(pilot)
        await onto(pilot, "claims", "expired")
        await pilot.press("enter")
        await until(pilot, lambda: "of 39" in crumbs(pilot))
        await open_board(pilot)
        await onto(pilot, "claims", "oldest")
        await pilot.press("y")
        assert "new-thr_01J8QZ0002K7R9" in said(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadScreen))

    drive(scene)


def test_arrows_and_letters_move_alike_and_stop_at_the_ends() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        widget = board(pilot).main_widget()
        await pilot.press("G")
        last = widget._cursor
        await pilot.press("j", "pagedown")
        assert widget._cursor == last
        await pilot.press("home", "k")
        assert widget._cursor == ("claims", "expired")
        await pilot.press("right", "left", "l", "h", "tab", "shift+tab", "down", "up")
        assert widget._cursor == ("claims", "expired")
        await pilot.click("#board", offset=(20, 2))
        assert widget._cursor == ("claims", "live")
        await pilot.click("#board", offset=(20, 2), times=2)
        await until(pilot, lambda: isinstance(pilot.app.screen, ClaimsScreen))

    drive(scene)


def test_enter_does_what_was_drawn_and_not_what_has_come_since() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        await onto(pilot, "claims", "oldest")
        seen = board(pilot).copyable()
        widget = board(pilot).main_widget()
        widget.refresh = lambda *_regions, **_options: widget  # type: ignore[method-assign]
        gateway.rows = gateway.rows[5:]
        await refreshed(pilot)
        assert board(pilot).copyable() == seen

    drive(scene)


def test_report_49_one_card_fails_and_the_others_live() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        gateway.broken = frozenset({"claims", "changed"})
        gateway.rows = gateway.rows[:100]
        await refreshed(pilot)
        await until(pilot, lambda: shown(pilot).count("NOT READ") == 2)
        assert "39 claims expired" in shown(pilot)
        assert "OLD" in shown(pilot)
        assert "11 threads stuck" in shown(pilot)
        assert "X 4 bad" in crumbs(pilot)
        assert board(pilot).freshness.cause is None
        gateway.broken = frozenset()
        await onto(pilot, "claims", "failed")
        await pilot.press("enter")
        await until(pilot, lambda: "NOT READ" not in shown(pilot))

    drive(scene)


def test_report_49_a_store_that_is_lost_leaves_what_was_read_and_says_old() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        gateway.down = DOWN
        await pilot.press("r")
        await until(pilot, lambda: board(pilot).freshness.cause is not None)
        assert "NO ANSWER FROM THE STORE" in board(pilot).query_one("#banner", Pane).text
        assert "39 claims expired" in shown(pilot)
        assert shown(pilot).count("OLD") >= 11
        gateway.down = None
        await refreshed(pilot)
        await until(pilot, lambda: "OLD" not in shown(pilot))

    drive(scene)


def test_report_49_a_failed_count_of_what_changed_holds_nothing_else_up() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        gateway.broken = frozenset({"changed", "threads"})
        await open_board(pilot)
        await until(pilot, lambda: shown(pilot).count("NOT READ") == 2)
        assert "4 fences due" in shown(pilot)

    drive(scene)


def test_report_50_the_interval_grows_with_what_an_overview_costs() -> None:
    app = make_app()
    screen = OverviewScreen(app.session)
    parts, changes = screen.polls()
    for poll, least in ((parts, OVERVIEW_SECONDS), (changes, CHANGES_SECONDS)):
        poll.keep_to(0.5)
        assert poll.pace.interval == least >= 10.0
        seen = []
        for _ in range(4):
            poll.pace.took(2 * COST_SHARE * poll.pace.interval)
            seen.append(poll.pace.interval)
        assert seen == sorted(seen)
        assert seen[-1] == SLOWEST_SECONDS
        for _ in range(4):
            poll.pace.took(0.001)
        assert poll.pace.interval == least


def test_nothing_is_asked_while_paused_or_out_of_focus_or_out_of_sight() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        pilot.app.post_message(AppBlur())
        await until(pilot, lambda: "no focus" in crumbs(pilot))
        gateway.asked.clear()
        for poll in board(pilot).polls():
            assert not poll._may_ask()
            poll._wake.set()
        await pilot.pause(0.05)
        assert gateway.asked == []
        pilot.app.post_message(AppFocus())
        await until(pilot, lambda: {"overview", "changes"} <= set(gateway.asked))
        assert "no focus" not in crumbs(pilot)
        await ready(pilot)
        await pilot.press("p")
        assert not any(poll._may_ask() for poll in board(pilot).polls())
        await pilot.press("p")
        await ready(pilot)
        overview = board(pilot)
        await pilot.press("1")
        await ready(pilot)
        assert not any(poll._may_ask() for poll in overview.polls())

    drive(scene)


def test_one_query_at_a_time() -> None:
    running, most, guard = 0, 0, threading.Lock()

    class Counting(FakeGateway):
        def _asked(self, what: str) -> None:
            nonlocal running, most
            if what not in {"overview", "changes"}:
                return
            with guard:
                running += 1
                most = max(most, running)
            threading.Event().wait(0.02)
            with guard:
                running -= 1

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        for _ in range(3):
            await refreshed(pilot)
        assert most == 1

    drive(scene, Counting())


def test_one_tenant_and_back() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await open_board(pilot)
        await pilot.press("slash", *"tenant:acme", "enter")
        await until(pilot, lambda: "not kept by tenant" in shown(pilot))
        await until(pilot, lambda: "reading" not in shown(pilot))
        assert "/tenant:acme" in crumbs(pilot)
        assert shown(pilot).count("not kept by tenant") == 8
        await onto(pilot, "threads", "RUNNING")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadsScreen))
        await until(pilot, lambda: getattr(pilot.app.screen, "filter", "") == "status:running tenant:acme")
        await pilot.press("0", "Y")
        assert "overview tenant:acme" in said(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "39 claims expired" in shown(pilot))

    drive(scene)


def test_changed_is_a_command_of_its_own() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "changed 1m")
        await until(pilot, lambda: "Changed 1m" in shown(pilot))
        await until(pilot, lambda: "8 threads committed" in shown(pilot))
        assert board(pilot).main_widget()._cursor == ("changed", "threads")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadsScreen) and len(ids(pilot)) == 8)
        assert listed(pilot).filter == "since:1m"
        await command(pilot, "changed 5y")
        assert "is no span of time" in said(pilot)

    drive(scene)


def test_the_contexts_card_opens_another_context() -> None:
    async def scene(pilot: Pilot[None], made: test_contexts.Stores) -> None:
        before = test_contexts.session_of(pilot)
        await open_board(pilot)
        assert "PROD  Ledger  open here" in shown(pilot)
        await onto(pilot, "contexts", "staging")
        await pilot.press("enter")
        await until(pilot, lambda: test_contexts.session_of(pilot) is not before)
        await ready(pilot)
        assert "ledger-staging" in test_contexts.session_of(pilot).gateway.label.address

    test_contexts.drive(scene)


def test_a_context_that_cannot_be_opened_is_told_and_nothing_else_happens() -> None:
    async def scene(pilot: Pilot[None], made: test_contexts.Stores) -> None:
        await open_board(pilot)
        test_contexts.session_of(pilot).contexts.opens = None
        await onto(pilot, "contexts", "staging")
        await pilot.press("enter")
        await until(pilot, lambda: "opened without a configuration" in said(pilot))

    test_contexts.drive(scene)


def test_report_52_the_first_screen_needs_no_count_and_no_overview() -> None:
    """Rows stand on the first screen although no count ever answers."""
    rows_are_here = threading.Event()

    class Endless(FakeGateway):
        def count_threads(self, query: ThreadQuery) -> object:  # type: ignore[override]
            rows_are_here.wait(5)
            raise GatewayError("statement timeout", code="store_failure", retryable=True)

    async def play() -> None:
        gateway = Endless()
        async with make_app(gateway).run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: isinstance(pilot.app.screen, ListedPage) and len(ids(pilot)) > 10)
            assert gateway.asked == ["threads"]
            rows_are_here.set()
            await refreshed(pilot)
            assert len(ids(pilot)) > 10
            assert listed(pilot).freshness.cause is None
            assert "overview" not in gateway.asked

    asyncio.run(play())


def test_held_money_stands_in_the_list_and_with_its_thread() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        assert "HELD USD" in [each.column.title for each in listed(pilot).main_widget()._fitted]
        await until(pilot, lambda: "0.300000 USD, 1 open" in pane_text(pilot, "#detail"))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadScreen))
        await until(pilot, lambda: "0.300000 USD, 1 open" in pane_text(pilot, "#head"))
        await pilot.press("escape")
        gateway.rows[0] = replace(gateway.rows[0], held=Failed("no such table: spend_reservation"))
        await refreshed(pilot)
        await until(pilot, lambda: "holds not read: no such table" in pane_text(pilot, "#detail"))

    drive(scene)


def pane_text(pilot: Pilot[None], selector: str) -> str:
    """What one of a screen's panes says."""
    return pilot.app.screen.query_one(selector, Pane).text


def test_an_idle_overview_costs_at_most_two_kilobytes_a_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "truecolor")
    written: list[int] = []
    monkeypatch.setattr(HeadlessDriver, "write", lambda _driver, data: written.append(len(data.encode())))
    monkeypatch.setattr(
        HeadlessDriver, "is_headless", property(lambda _driver: False)
    )  # or nothing is written
    clock = [1_000.0]

    async def play() -> None:
        gateway = FakeGateway()
        app = make_app(gateway)
        app.session.monotonic = lambda: clock[0]
        async with app.run_test(size=(120, 40)) as pilot:
            await ready(pilot)
            await open_board(pilot)
            await refreshed(pilot)
            await pilot.pause(0.3)
            written.clear()
            for _ in range(REFRESHES):
                for _ in range(int(OVERVIEW_SECONDS)):
                    clock[0] += 1.0
                    board(pilot).update_lines()
                    await pilot.pause()
                gateway.as_of += timedelta(seconds=OVERVIEW_SECONDS)
                await refreshed(pilot)

    asyncio.run(play())
    assert written
    assert sum(written) / REFRESHES <= 2_000, sum(written) / REFRESHES
