"""What somebody who sees the console for the first time stumbles over: ways back, menus, what a verb is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting.loose import ended
from console.acting.plans import ReconcileWish
from console.present import several
from console.screens.confirm import ConfirmScreen
from console.screens.menu import MenuScreen
from console.screens.resolve import ResolveScreen
from console.screens.threads import ThreadsScreen
from console.widgets.pane import Pane
from console.widgets.prompt import Purpose
from tests.console.fake_acting import FakeActing, audit_row
from tests.console.plan_play import by_hand, planned, store_of
from tests.console.resolve_play import day_row, resolvable
from tests.console.test_acting_window import Time, play
from tests.console.test_pilot import said
from tests.console.waiting import asks, ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.app import HoldwatchApp


def typed(app: HoldwatchApp, line: str) -> None:
    """A command line, as if it had been given."""
    app.screen.take(Purpose.COMMAND, line)  # type: ignore[attr-defined]


async def menu(pilot: Pilot[None], app: HoldwatchApp) -> MenuScreen:
    """The menu in front."""
    await until(pilot, lambda: isinstance(app.screen, MenuScreen))
    assert isinstance(app.screen, MenuScreen)
    return app.screen


def test_the_digit_of_the_mode_in_front_goes_back_to_its_list() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await by_hand(pilot, time, "enter")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        deeper = app.screen
        await by_hand(pilot, time, "2")
        await by_hand(pilot, time, "1")
        assert app.screen is deeper  # from another mode it stands as it was left
        await by_hand(pilot, time, "1")
        await until(pilot, lambda: isinstance(app.screen, ThreadsScreen))

    play(FakeActing(), scene)


def test_the_digit_asks_before_it_drops_a_decision_that_is_half_typed() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        gateway = store_of(app)
        gateway.to_resolve = resolvable(day_row(gateway))
        await by_hand(pilot, time, "3")
        await ready(pilot)
        await by_hand(pilot, time, "e")
        await until(pilot, lambda: isinstance(app.screen, ResolveScreen))
        await ready(pilot)
        app.do_reservations()
        await until(pilot, lambda: len(app.screen_stack) == 1)  # nothing was typed into it
        await by_hand(pilot, time, "e")
        await until(pilot, lambda: isinstance(app.screen, ResolveScreen))
        form = app.screen
        assert isinstance(form, ResolveScreen)
        await until(pilot, lambda: form.deciding.shown is not None)
        form.made, form.sending = None, True
        app.do_reservations()
        await pilot.pause()
        assert isinstance(app.screen, ResolveScreen)
        assert "being written" in said(pilot)
        form.sending = False
        form.form.outcomes.focus()
        await by_hand(pilot, time, "down", "space")
        await until(pilot, lambda: form.form.touched)
        app.do_reservations()
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))

    play(FakeActing(), scene)


def test_the_menu_of_who_decides_shows_all_its_entries_at_80x24_and_says_how_many_rows_it_means() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.resize_terminal(80, 24)
        await by_hand(pilot, time, "4")
        await ready(pilot)
        await by_hand(pilot, time, "R")
        sheet = (await menu(pilot, app)).query_one(Pane)
        assert sheet.border_title == "reconcile all that is due: who decides"
        await until(pilot, lambda: sheet.size.height >= len(sheet.text.splitlines()) > 4)
        assert "count as spent" in " ".join(sheet.text.split())

    play(FakeActing(), scene)


def test_a_menu_that_is_higher_than_the_screen_is_scrolled() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.resize_terminal(80, 24)
        await by_hand(pilot, time, "4")
        await ready(pilot)
        await by_hand(pilot, time, "R")
        sheet = (await menu(pilot, app)).query_one(Pane)
        await pilot.resize_terminal(40, 8)
        await until(pilot, lambda: sheet.size.height < len(sheet.text.splitlines()))
        await by_hand(pilot, time, "j", "down")
        assert sheet.scroll_offset.y == 2
        await by_hand(pilot, time, "k")
        assert sheet.scroll_offset.y == 1

    play(FakeActing(), scene)


def test_what_x_offers_is_about_the_row_and_its_filter_entry_about_all_of_the_filter() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await by_hand(pilot, time, "4")
        await ready(pilot)
        await by_hand(pilot, time, "x")
        assert {each.key: bool(each.why_not) for each in (await menu(pilot, app)).entries}["r"]
        await by_hand(pilot, time, "R")
        await until(pilot, lambda: "reconcile 1 row:" in str(app.screen.query(Pane).first().border_title))
        await by_hand(pilot, time, "a")
        await planned(pilot, app)
        wish = store_of(app).wishes[-1]
        assert isinstance(wish, ReconcileWish)
        assert len(wish.addresses) == 1

    play(FakeActing(), scene)


def test_a_thread_that_never_was_is_not_told_as_one_that_went() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        typed(app, "thr:nosuch")
        await until(pilot, lambda: "holds nothing of this thread" in said(pilot))
        assert "any more" not in said(pilot)

    play(FakeActing(), scene)


def test_the_window_that_is_open_and_jobs_that_run_are_no_unknown_outcomes() -> None:
    intents = tuple(audit_row(seq) for seq in (2, 4, 6))
    assert ended(intents, intents[0].operation, {intents[2].operation}) == (intents[1],)
    assert ended(intents, "", ()) == intents


def test_one_is_said_in_the_singular() -> None:
    assert (several(1, "row"), several(0, "row"), several(1_200, "item")) == (
        "1 row",
        "0 rows",
        "1,200 items",
    )
