"""The tail on the screen: how it is woken, reads on, pauses, travels, and that it drops nothing in silence."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest
from textual.events import AppBlur, AppFocus

from console.present import stamp
from console.refresh import Poll
from console.screens import tailing
from console.screens.thread import ThreadScreen
from console.tail import FRAME, RING
from console.widgets.band import Band
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway, event_row, make_app
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.model import EventBatch, EventQuery
    from console.screens.events import EventsScreen

    Scene = Callable[[Pilot[None], FakeGateway], Awaitable[None]]

WIDE, SMALL = (120, 40), (80, 24)


def drive(scene: Scene, gateway: FakeGateway | None = None, size: tuple[int, int] = WIDE) -> None:
    """Run a scene on a console that shows the events."""
    source = gateway or FakeGateway()

    async def play() -> None:
        async with make_app(source).run_test(size=size) as pilot:
            await ready(pilot)
            await pilot.press("5")
            await ready(pilot)
            await scene(pilot, source)

    asyncio.run(play())


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view asks when it is woken or told to, and at no other time."""
    monkeypatch.setattr(Poll, "_interval", lambda _poll: None)


def events(pilot: Pilot[None]) -> EventsScreen:
    """The screen in front."""
    return cast("EventsScreen", pilot.app.screen)


def crumbs(pilot: Pilot[None]) -> str:
    """The line with the counters."""
    return events(pilot).query_one("#crumbs", Band).text


def said(pilot: Pilot[None]) -> str:
    """What the console has said."""
    screen = events(pilot)
    return screen.query_one("#notice", Pane).text + screen.query_one("#screens", Band).text


def detail(pilot: Pilot[None]) -> str:
    """The pane's text."""
    return events(pilot).query_one("#detail", Pane).text


def here(pilot: Pilot[None]) -> str | None:
    """The position under the cursor."""
    return events(pilot).main_widget().window.current_id


def add(gateway: FakeGateway, count: int) -> None:
    """So many events more."""
    have = len(gateway.tail)
    gateway.tail += [event_row(position) for position in range(have, have + count)]


# Woken by hints


@pytest.mark.usefixtures("still")
def test_ruling_58_a_hint_brings_the_next_frame() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await until(pilot, lambda: len(gateway.hearers) == 1)
        add(gateway, 3)
        gateway.hint()
        await until(pilot, lambda: here(pilot) == "p00000622")

    drive(scene)


@pytest.mark.usefixtures("still")
def test_ruling_58_hints_come_to_ten_frames_a_second_at_most() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await until(pilot, lambda: len(gateway.hearers) == 1)
        gateway.asked.clear()
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() - began < 0.6:
            gateway.hint()
            await asyncio.sleep(0.002)
        spent = loop.time() - began
        assert 2 <= gateway.asked.count("events") <= spent / tailing.FRAME_SECONDS + 1

    drive(scene)


@pytest.mark.usefixtures("still")
def test_ruling_57_nobody_listens_for_a_screen_that_is_not_looked_at() -> None:
    """In front and with the terminal's focus, else not; and not while paused."""

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        steps = (("1", "5"), ("p", "p"))
        for away, back in steps:
            await until(pilot, lambda: len(gateway.hearers) == 1)
            await pilot.press(away)
            await until(pilot, lambda: not gateway.hearers)
            await pilot.press(back)
        await until(pilot, lambda: len(gateway.hearers) == 1)
        pilot.app.post_message(AppBlur())
        await until(pilot, lambda: not gateway.hearers)
        pilot.app.post_message(AppFocus())
        await until(pilot, lambda: len(gateway.hearers) == 1)

    gateway = FakeGateway()
    drive(scene, gateway)
    assert gateway.asked.count("newest") == 1


@pytest.mark.usefixtures("still")
def test_a_slower_pace_of_the_operators_is_not_overtaken_by_hints() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("plus", "plus")
        await ready(pilot)
        gateway.asked.clear()
        gateway.hint()
        await pilot.pause(0.15)
        assert gateway.asked == []

    drive(scene)


# Paused


@pytest.mark.usefixtures("still")
def test_ruling_58_paused_the_position_is_kept_and_resuming_skips_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tailing, "HEARTBEAT_SECONDS", 0.05)

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("p")
        add(gateway, 1_204)
        await until(pilot, lambda: "+1,204 waiting" in crumbs(pilot))
        assert "paused at #620 (p resumes)" in crumbs(pilot)
        assert here(pilot) == "p00000619"
        gateway.asked.clear()
        await pilot.press("p")
        await until(pilot, lambda: here(pilot) == "p00001823")
        held = [row.position for row in events(pilot).main_widget().window.rows]
        assert held == [f"p{n:08d}" for n in range(120, 1_824)]
        assert gateway.asked.count("forward") >= 3
        assert "received 1,704  shown 1,704  dropped 0" in crumbs(pilot)
        await until(pilot, lambda: "following" in crumbs(pilot))

    drive(scene)


@pytest.mark.usefixtures("still")
def test_while_it_catches_up_f_skips_to_the_newest_and_counts() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("p")
        add(gateway, 40_000)
        await pilot.press("p")
        await until(pilot, lambda: "catching up, +" in crumbs(pilot))
        await pilot.press("f")
        await until(pilot, lambda: here(pilot) == "p00040619")
        tail = events(pilot)._tail
        assert tail.received == 40_500
        assert tail.dropped == 40_500 - len(tail.rows) > 30_000
        row = next(row for row in tail.rows if row.skipped)
        assert row.skipped == tail.dropped
        assert "following" in crumbs(pilot)

    drive(scene)


# Anchored


@pytest.mark.usefixtures("still")
def test_an_anchored_tail_reads_forward_only_as_far_as_needed() -> None:
    """What waits further on is counted; the row under the cursor never falls off the ring."""

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("k")
        add(gateway, 20_000)
        gateway.hint()
        await until(pilot, lambda: "forward" in gateway.asked)
        await pilot.press("r")
        await until(pilot, lambda: "ahead" in gateway.asked)
        await ready(pilot)
        assert here(pilot) == "p00000618"
        assert FRAME <= len(events(pilot)._tail.rows) - 500 <= 2 * FRAME
        assert "waiting" in crumbs(pilot)
        assert events(pilot)._tail.dropped == 0
        await pilot.press("f")
        await until(pilot, lambda: here(pilot) == "p00020619")
        assert events(pilot)._tail.dropped > 0

    drive(scene)


# Elsewhere in the log


def long_log() -> FakeGateway:
    """Events of more than six hours, two seconds apart, the newest now."""
    count, as_of = 12_000, FakeGateway().as_of
    tail = [replace(event_row(n), at=as_of - timedelta(seconds=2 * (count - n))) for n in range(count)]
    return FakeGateway(tail=tail)


@pytest.mark.usefixtures("still")
def test_ruling_58_a_time_is_gone_to_wherever_it_is() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("g", *"09:00:01", "enter")
        await until(pilot, lambda: here(pilot) == "p00002900")
        row = events(pilot).main_widget().window.current
        assert row is not None
        assert f"{row.at:%H:%M:%S}" == "09:00:02"
        assert len(events(pilot)._tail.rows) == 600
        await until(pilot, lambda: "anchored" in crumbs(pilot))
        await pilot.press("}")
        await until(pilot, lambda: here(pilot) == "p00004700")
        await pilot.press("[")
        await until(pilot, lambda: here(pilot) == "p00004670")
        await pilot.press("f")
        await until(pilot, lambda: here(pilot) == "p00011999")
        assert "dropped 0" in crumbs(pilot)
        assert "following" in crumbs(pilot)

    drive(scene, long_log())


@pytest.mark.usefixtures("still")
def test_a_number_of_the_thread_under_the_cursor_is_gone_to() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        thread = events(pilot).main_widget().window.current
        assert thread is not None
        await pilot.press("g", *"#7", "enter")
        await until(pilot, lambda: here(pilot) != "p00011999")
        row = events(pilot).main_widget().window.current
        assert row is not None
        assert (row.thread, row.seq) == (thread.thread, 7)
        await pilot.press("g", *"#99999", "enter")
        await until(pilot, lambda: "the store holds no such event" in said(pilot))

    drive(scene, long_log())


@pytest.mark.usefixtures("still")
def test_a_place_that_means_nothing_is_refused() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("g", *"noon", "enter")
        await until(pilot, lambda: "is neither a time" in said(pilot))
        await pilot.press("escape", "g", *"#0", "enter")
        await until(pilot, lambda: "numbered from 1" in said(pilot))
        assert here(pilot) == "p00000619"

    drive(scene)


# Matches, one event, its two times


@pytest.mark.usefixtures("still")
def test_n_goes_through_the_events_that_have_a_text() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("home", "colon", *"find", "space", *"TOOL.result", "enter")
        kinds = []
        for key in ("n", "n", "N"):
            row = events(pilot).main_widget().window.current
            assert row is not None
            kinds.append((row.kind, row.position))
            await pilot.press(key)
        assert {kind for kind, _ in kinds} == {"tool.result"}
        assert [position for _, position in kinds] == sorted({position for _, position in kinds})
        assert here(pilot) == kinds[1][1]
        await pilot.press("end", "n")
        await until(pilot, lambda: "none after this event" in said(pilot))

    drive(scene)


@pytest.mark.usefixtures("still")
def test_enter_opens_the_event_and_reads_all_of_it() -> None:
    long = replace(event_row(0), payload='{"z": 1, "whole": "' + "x" * 16_000, size=20_023)

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("enter")
        await until(pilot, lambda: '"whole"' in detail(pilot) and '"seq"' in detail(pilot))
        text = detail(pilot)
        assert text.index('"seq"') < text.index('"whole"')
        assert events(pilot).has_class("-reading")
        await pilot.press("escape")
        assert not events(pilot).has_class("-reading")
        await pilot.press("o")
        assert isinstance(pilot.app.screen, ThreadScreen)

    drive(scene, FakeGateway(tail=[long]))


@pytest.mark.usefixtures("still")
def test_numbers_are_exact_keys_sorted_and_lines_folded_or_not() -> None:
    payload = '{"b": 9007199254740993, "a": 0.10, "c": "' + "y" * 300 + '"}'
    row = replace(event_row(0), payload=payload, size=len(payload))

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        text = detail(pilot)
        assert text.index('"a": 0.10') < text.index('"b": 9007199254740993') < text.index('"c"')
        folded = text.count("\n")
        await pilot.press("z")
        assert detail(pilot).count("\n") < folded
        await pilot.press("z")
        assert detail(pilot).count("\n") == folded

    drive(scene, FakeGateway(tail=[row]))


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
@pytest.mark.usefixtures("still")
def test_report_72_an_event_has_its_own_time_and_apart_from_that_its_arrival(size: tuple[int, int]) -> None:
    given, none = replace(event_row(1)), replace(event_row(2), own=None)
    assert given.own is not None
    late = replace(given, own=given.at - timedelta(hours=3))

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        listing = events(pilot).main_widget()
        lines = ["".join(segment.text for segment in listing.render_line(y)) for y in (1, 2)]
        assert late.own is not None
        assert stamp(late.own) in lines[0]
        assert f"~{stamp(none.at)}" in lines[1]
        assert "none given by its producer" in detail(pilot)
        await pilot.press("k")
        assert "own time" in detail(pilot)
        assert stamp(late.own) in detail(pilot)
        assert stamp(late.at) in detail(pilot)
        if size == WIDE:
            assert stamp(late.at) in lines[0]

    drive(scene, FakeGateway(tail=[late, none]), size)


# Counters


@pytest.mark.usefixtures("still")
def test_the_counters_are_honest_and_the_ring_is_bounded() -> None:
    class Gapped(FakeGateway):
        def events(self, query: EventQuery, position: str, limit: int) -> EventBatch:
            found = super().events(query, position, limit)
            return replace(found, gaps=2, as_of=found.as_of + timedelta(seconds=len(self.tail) / 500))

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        for _ in range(12):
            add(gateway, 500)
            await refreshed(pilot)
        text = crumbs(pilot)
        assert "received 6,500  shown 5,000  dropped 0" in text
        assert "gaps 24" in text
        assert f"ring {RING:,}" in text
        assert "500/s" in text

    drive(scene, Gapped())


@pytest.mark.usefixtures("still")
def test_ruling_58_a_filter_says_how_far_it_searched() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        assert "searched" not in crumbs(pilot)
        await pilot.press("slash", *"kind:tool.result", "enter")
        await ready(pilot)
        await until(pilot, lambda: "searched to #620" in crumbs(pilot))

    drive(scene)


@pytest.mark.usefixtures("still")
def test_what_newer_events_wait_for_is_said() -> None:
    class Held(FakeGateway):
        def events(self, query: EventQuery, position: str, limit: int) -> EventBatch:
            words = "events from #7 on wait for server process 4242"
            return replace(super().events(query, position, limit), held=words)

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await refreshed(pilot)
        assert "wait for server process 4242" in crumbs(pilot)

    drive(scene, Held(), (160, 40))
