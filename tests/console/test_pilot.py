"""The console driven by keys: what the operator presses, and what it does and does not do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from textual.events import Key

from console.model import GatewayError, ThreadState
from console.pager import WINDOW
from console.present import Tone
from console.screens.events import EventsScreen
from console.screens.help import HelpScreen
from console.screens.thread import ThreadScreen
from console.screens.threads import ThreadsScreen
from console.widgets.band import Band
from console.widgets.columns import Scene
from console.widgets.pane import Pane
from console.widgets.prompt import Prompt
from tests.console.fake import FakeGateway, event_row, make_app, renamed, thread_row
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.screens.page import Page

DOWN = GatewayError("connection refused; start the server", code="store_failure", retryable=True)
SIZE = (80, 24)


def drive(
    scene: Callable[[Pilot[None], FakeGateway], Awaitable[None]], gateway: FakeGateway | None = None
) -> None:
    """Run a scene on a console that has its first rows."""
    source = gateway or FakeGateway()

    async def play() -> None:
        async with make_app(source).run_test(size=SIZE) as pilot:
            await ready(pilot)
            await scene(pilot, source)

    asyncio.run(play())


def threads(pilot: Pilot[None]) -> ThreadsScreen:
    """The threads screen in front."""
    screen = pilot.app.screen
    assert isinstance(screen, ThreadsScreen)
    return screen


def current(pilot: Pilot[None]) -> str | None:
    """The id under the cursor of the threads screen."""
    return threads(pilot).main_widget().window.current_id


def banner(pilot: Pilot[None]) -> str:
    """What stands over the data."""
    pane = pilot.app.screen.query_one("#banner", Pane)
    return pane.text if pane.display else ""


def in_text(screen: Page) -> bool:
    """Whether the focus is in a row's text."""
    return isinstance(screen.focused, Pane)


def said(pilot: Pilot[None]) -> str:
    """What the console last said, wherever it fitted."""
    screen = pilot.app.screen
    return screen.query_one("#screens", Band).text + screen.query_one("#notice", Pane).text


def test_the_cursor_stays_with_its_id_when_rows_come_and_go() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j", "j", "j")
        chosen = current(pilot)
        line = threads(pilot).main_widget().window.cursor - threads(pilot).main_widget().scroll_offset.y
        gateway.rows[:0] = [renamed(thread_row(0), f"new-{n}") for n in range(30)]
        await refreshed(pilot)
        listing = threads(pilot).main_widget()
        assert current(pilot) == listing.target == chosen
        assert listing.window.cursor - listing.scroll_offset.y == line
        del gateway.rows[:31]
        await refreshed(pilot)
        assert current(pilot) == chosen

    drive(scene)


def test_a_vanished_row_is_a_ghost_until_the_operator_moves() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j")
        chosen = current(pilot)
        del gateway.rows[1]
        await refreshed(pilot)
        listing = threads(pilot).main_widget()
        assert current(pilot) == chosen
        assert listing.window.is_ghost(1)
        await pilot.press("j")
        assert current(pilot) == gateway.rows[1].id
        assert chosen not in [row.id for row in listing.window.rows]

    drive(scene)


def test_an_untouched_list_stays_at_the_newest() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        gateway.rows.insert(0, renamed(thread_row(0), "newest"))
        await refreshed(pilot)
        assert current(pilot) == threads(pilot).main_widget().target == "newest"

    drive(scene)


def test_paging_walks_the_whole_store_and_back() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        for _ in range(24):
            await pilot.press("pagedown")
            await ready(pilot)
        assert current(pilot) == gateway.rows[-1].id
        assert len(threads(pilot).main_widget().window) <= WINDOW
        for _ in range(24):
            await pilot.press("pageup")
            await ready(pilot)
        assert current(pilot) == gateway.rows[0].id
        await pilot.press("pagedown", "g")
        await ready(pilot)
        assert not threads(pilot).main_widget().window.pinned

    drive(scene)


def test_typed_filter_keys_never_reach_the_list() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("slash", *"jjqp15?y:D", "backspace", "backspace")
        screen, prompt = threads(pilot), threads(pilot).query_one(Prompt)
        assert prompt.has_class("-open")
        assert not screen.main_widget().window.pinned
        assert screen.filter == ""
        await pilot.press("escape")
        assert not prompt.has_class("-open")
        assert screen.focused is screen.main_widget()

    drive(scene)


def test_a_filter_is_answered_by_the_store_and_cleared_by_escape() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j", "slash", *"status:failed", "enter")
        await until(pilot, lambda: len(threads(pilot).main_widget().window) > 0)
        assert {row.state for row in threads(pilot).main_widget().window.rows} == {ThreadState.FAILED}
        assert "status:failed" in threads(pilot).query_one("#crumbs", Band).text
        await pilot.press("escape")
        await until(pilot, lambda: len(threads(pilot).main_widget().window) == 100)
        assert threads(pilot).filter == ""

    drive(scene)


def test_a_filter_that_means_nothing_keeps_the_prompt_and_the_list() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("slash", *"stat:failed", "enter")
        assert threads(pilot).query_one(Prompt).is_open
        assert "status:" in said(pilot)
        assert len(threads(pilot).main_widget().window) == 100

    drive(scene)


def test_paused_nothing_is_asked() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("p")
        await ready(pilot)
        gateway.asked.clear()
        await pilot.pause(2.5)
        assert gateway.asked == []
        assert "PAUSED" in pilot.app.screen.query_one("#status", Band).text
        await pilot.press("p")
        await until(pilot, lambda: "threads" in gateway.asked)

    drive(scene)


def test_nothing_is_asked_by_a_screen_that_is_not_in_front() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("5")
        await ready(pilot)
        gateway.asked.clear()
        await pilot.pause(2.5)
        assert set(gateway.asked) == {"events"}

    drive(scene)


def test_a_lost_store_is_said_and_its_return_keeps_the_cursor() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j", "j")
        chosen = current(pilot)
        gateway.down = DOWN
        await refreshed(pilot)
        assert "connection refused" in banner(pilot)
        assert "STALE" in pilot.app.screen.query_one("#status", Band).text
        assert len(threads(pilot).main_widget().window) == 100
        gateway.down = None
        await refreshed(pilot)
        assert banner(pilot) == ""
        assert "LIVE" in pilot.app.screen.query_one("#status", Band).text
        assert current(pilot) == chosen

    drive(scene)


def test_a_store_that_never_answered_says_so() -> None:
    async def play() -> None:
        async with make_app(FakeGateway(down=DOWN)).run_test(size=SIZE) as pilot:
            await until(pilot, lambda: "nothing has been read yet" in banner(pilot))

    asyncio.run(play())


@pytest.mark.parametrize("keys", [("q",), ("ctrl+q",), ("colon", "q", "enter"), ("colon", *"quit", "enter")])
def test_ways_to_quit(keys: tuple[str, ...]) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press(*keys)
        await until(pilot, lambda: not pilot.app.is_running)

    source = FakeGateway()
    drive(scene, source)
    assert source.closed


def test_copying_says_what_was_sent() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j", "y")
        assert pilot.app.clipboard == gateway.rows[1].id
        assert f"sent to terminal (OSC 52): {gateway.rows[1].id}" in said(pilot)
        await pilot.press("Y")
        assert pilot.app.clipboard == "threads sort:store"

    drive(scene)


def test_copying_never_sends_control_characters() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("y")
        assert pilot.app.clipboard == "a<U+000A>rm -rf /"
        assert "escaped" in said(pilot)

    drive(scene, FakeGateway(rows=[renamed(thread_row(0), "a\nrm -rf /")]))


def test_opening_a_thread_and_coming_back() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j", "enter")
        screen = await ready(pilot)
        assert isinstance(screen, ThreadScreen)
        assert screen.thread == gateway.rows[1].id
        for tab in ("checkpoints", "writes", "effects", "events"):
            await pilot.press("tab")
            assert screen.tab == tab
        await pilot.press("shift+tab", "enter")
        assert in_text(screen)
        await pilot.press("escape")
        assert not in_text(screen)
        await pilot.press("escape")
        assert current(pilot) == gateway.rows[1].id

    drive(scene)


def test_a_snapshot_is_fetched_once_and_shown_as_json() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("enter", "tab")
        await ready(pilot)
        await until(pilot, lambda: '"messages"' in pilot.app.screen.query_one("#checkpoints Pane", Pane).text)
        await pilot.press("j")
        await until(pilot, lambda: "ckp_0016" in pilot.app.screen.query_one("#checkpoints Pane", Pane).text)
        await pilot.press("k")
        await pilot.pause(0.3)
        assert gateway.asked.count("snapshot") == 2

    drive(scene)


def test_a_thread_that_is_gone_says_so() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("colon", *"thr:nobody", "enter")
        await until(pilot, lambda: "holds nothing of this thread" in said(pilot))

    drive(scene)


def test_a_tail_follows_until_the_operator_moves() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("5")
        screen = await ready(pilot)
        assert isinstance(screen, EventsScreen)
        listing = screen.main_widget()
        gateway.tail += [event_row(position) for position in range(620, 630)]
        await refreshed(pilot)
        assert listing.window.current_id == "p00000629"
        await pilot.press("k")
        gateway.tail += [event_row(position) for position in range(630, 640)]
        await refreshed(pilot)
        assert listing.window.current_id == listing.target == "p00000628"
        assert "anchored" in screen.query_one("#crumbs", Band).text
        await pilot.press("f")
        assert listing.window.current_id == "p00000639"
        assert "received 520  shown 520  dropped 0" in screen.query_one("#crumbs", Band).text

    drive(scene)


def test_events_that_came_too_fast_are_counted_as_dropped() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("5")
        await ready(pilot)
        gateway.tail += [event_row(position) for position in range(620, 1_820)]
        await refreshed(pilot)
        assert "received 1,700  shown 1,000  dropped 700" in pilot.app.screen.query_one("#crumbs", Band).text

    drive(scene)


def test_going_back_in_a_tail_loads_what_came_before() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("5")
        await ready(pilot)
        await pilot.press("home")
        await until(pilot, lambda: len(pilot.app.screen.query_one("#list").window) == 620)  # type: ignore[attr-defined]
        await pilot.press("g", *"14:00", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, EventsScreen)
        row = screen.main_widget().window.current
        assert row is not None
        assert f"{row.at:%H:%M}" == "14:00"
        await pilot.press("g", *"#3", "enter")
        row = screen.main_widget().window.current
        assert row is not None
        assert row.seq == 3

    drive(scene)


def test_help_comes_from_the_registry_and_closes() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        assert "Filter the list" in pilot.app.screen.query_one(Pane).text
        await pilot.press("j", "escape")
        assert isinstance(pilot.app.screen, ThreadsScreen)

    drive(scene)


def test_the_palette_runs_a_verb_like_its_key() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("semicolon")
        await pilot.pause(0.1)
        await pilot.press(*"Events")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, EventsScreen))

    drive(scene)


def test_a_burst_of_every_key_changes_nothing_and_breaks_nothing() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        keys = [chr(code) for code in range(33, 127) if chr(code) != "q"]
        for key in (*keys, "enter", "escape", "tab", "space", "f1", "f12"):
            await pilot.press(key)
        await pilot.press("escape", "escape", "escape")
        assert pilot.app.is_running

    drive(scene)


def test_a_terminal_that_grows_and_shrinks_keeps_cursor_and_rows() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press(*"jjjjjjjjjjjj")
        chosen = current(pilot)
        for size in ((120, 40), (200, 60), (60, 20), (80, 24)):
            await pilot.resize_terminal(*size)
            await refreshed(pilot)
            assert current(pilot) == chosen
            small = pilot.app.screen.query_one("#too-small", Band)
            assert small.display == (size == (60, 20))
        assert threads(pilot).main_widget().target == chosen

    drive(scene)


def test_what_is_typed_before_the_prompt_opens_goes_into_it() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        for key, character in (("colon", ":"), *((letter, letter) for letter in "events"), ("enter", "\r")):
            pilot.app.post_message(Key(key, character))
        await until(pilot, lambda: isinstance(pilot.app.screen, EventsScreen))

    drive(scene)


def test_keys_in_a_burst_act_on_the_row_they_moved_to() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        for key, character in (("j", "j"), ("j", "j"), ("enter", "\r")):
            pilot.app.post_message(Key(key, character))
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadScreen))
        screen = pilot.app.screen
        assert isinstance(screen, ThreadScreen)
        assert screen.thread == gateway.rows[2].id

    drive(scene)


def test_a_row_that_was_never_drawn_is_never_acted_on() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        listing = threads(pilot).main_widget()
        drawn = listing.target
        swapped = [renamed(row, f"other-{row.id}") for row in gateway.rows[:100]]
        listing.show(swapped, Scene(gateway.as_of))
        assert listing.target == drawn
        listing.do_down()
        assert listing.target is None
        await pilot.pause()
        assert listing.target == swapped[1].id

    drive(scene)


def test_what_comes_while_the_console_is_leaving_finds_no_screen_and_says_nothing() -> None:
    app = make_app()

    async def play() -> None:
        async with app.run_test() as pilot:
            await ready(pilot)

    asyncio.run(play())
    assert app.screen_stack == []
    app._look_at_window()
    app._tell("too late", Tone.WARN)
    app._job_changed()
