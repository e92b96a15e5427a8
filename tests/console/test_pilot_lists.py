"""The operator's lists driven by keys: claims, holders, queue, incomplete, tombstones, children."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from console.model import ThreadState
from console.screens.claims import ClaimsScreen
from console.screens.listed import ListedPage
from console.screens.queue import QueueScreen
from console.screens.thread import DEEPEST, ThreadScreen
from console.screens.threads import ThreadsScreen
from console.widgets.band import Band
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway, event_row
from tests.console.test_pilot import drive, said
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.model import ThreadStory
    from console.screens.page import Page


def listed(pilot: Pilot[None]) -> ListedPage:
    """The screen in front, which has a list."""
    screen = pilot.app.screen
    assert isinstance(screen, ListedPage)
    return screen


def thread(pilot: Pilot[None]) -> ThreadScreen:
    """The screen in front, which is about one thread."""
    screen = pilot.app.screen
    assert isinstance(screen, ThreadScreen)
    return screen


def crumbs(pilot: Pilot[None]) -> str:
    """The line that says where we are."""
    return pilot.app.screen.query_one("#crumbs", Band).text


def pane(pilot: Pilot[None]) -> str:
    """What the pane below the list says."""
    return pilot.app.screen.query_one("#detail", Pane).text


def ids(pilot: Pilot[None]) -> list[str]:
    """The ids in the list."""
    window = listed(pilot).main_widget().window
    return [window.id_at(index) for index in range(len(window))]


def current(pilot: Pilot[None]) -> Any:
    """The row under the cursor."""
    row = listed(pilot).main_widget().window.current
    assert row is not None
    return row


async def command(pilot: Pilot[None], text: str) -> Page:
    """Type a command and wait for the screen that it leads to."""
    await pilot.press("colon", *("space" if letter == " " else letter for letter in text), "enter")
    await pilot.pause()
    return await ready(pilot)


def test_claims_say_how_many_live_and_what_may_be_released() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("2")
        assert isinstance(await ready(pilot), ClaimsScreen)
        await until(pilot, lambda: "live" in crumbs(pilot))
        assert "expired, not released" in crumbs(pilot)
        assert "rows 1-" in crumbs(pilot)
        await pilot.press("j", "j")
        await until(pilot, lambda: "next token" in pane(pilot) and "4,711 or higher" in pane(pilot))
        assert "SAFE TO RELEASE  no renewal for 6m24s; the lease ended" in pane(pilot)
        assert gateway.asked.count("claim") <= 2, "a row that is only passed is not asked about"
        await pilot.press("G")
        assert pane(pilot).startswith("HOLDER MAY BE ALIVE")

    drive(scene)


def test_a_claim_opens_its_thread_and_its_owner() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("2")
        await ready(pilot)
        await pilot.press("j")
        row = current(pilot)
        await pilot.press("enter")
        await ready(pilot)
        assert thread(pilot).thread == row.thread
        assert "SAFE TO RELEASE" in thread(pilot).query_one("#claim", Pane).text
        await pilot.press("escape", "o")
        await until(pilot, lambda: listed(pilot).filter == f"holder:{row.holder}")
        await until(pilot, lambda: len(ids(pilot)) > 0)
        held = {each.holder for each in listed(pilot).main_widget().window.rows}
        assert held == {row.holder}
        assert "of one holder, by thread" in crumbs(pilot)

    drive(scene)


def test_holders_lead_to_their_claims() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "holders")
        await until(pilot, lambda: "worker-00" in ids(pilot))
        await pilot.press("j", "enter")
        await until(pilot, lambda: listed(pilot).filter == "holder:worker-01")
        await pilot.press("escape")
        await until(pilot, lambda: listed(pilot).filter == "")

    drive(scene)


@pytest.mark.parametrize("line", ["incomplete", "thr /stuck", "threads state:stuck"])
def test_stuck_threads_come_longest_untouched_first(line: str) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, line)
        await until(pilot, lambda: "Incomplete" in crumbs(pilot) and len(ids(pilot)) > 0)
        idle = [row.id for row in gateway.rows if row.state is ThreadState.IDLE]
        assert ids(pilot) == idle[::-1]
        assert "longest untouched first" in crumbs(pilot)
        await until(pilot, lambda: f"of {len(idle)}" in crumbs(pilot))

    drive(scene)


def test_tombstones_say_where_numbering_continues() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "tombstones")
        await until(pilot, lambda: len(ids(pilot)) > 0)
        gone = [row for row in gateway.rows if row.state is ThreadState.DELETED]
        assert ids(pilot) == [row.id for row in gone]
        assert f"numbering continues at  {gone[0].events + 1:,}" in pane(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: len(ids(pilot)) == 100)
        assert "newest first" in crumbs(pilot)

    drive(scene)


def test_ids_with_a_claim_and_no_checkpoint_have_a_list() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("slash", *"state:claim-only", "enter")
        await until(pilot, lambda: len(ids(pilot)) == 3)
        assert all(each.startswith("new-") for each in ids(pilot))
        assert "Claim-only ids" in crumbs(pilot)
        assert "no checkpoint yet" in pane(pilot)

    drive(scene)


def test_the_queue_shows_open_entries_and_their_runs() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("8")
        assert isinstance(await ready(pilot), QueueScreen)
        assert {row.is_open for row in listed(pilot).main_widget().window.rows} == {True}
        await pilot.press("j")
        await until(
            pilot, lambda: "runs (kept as evidence)  worker-01/1, worker-02/2, worker-03/3" in pane(pilot)
        )
        row = current(pilot)
        await pilot.press("y")
        assert pilot.app.clipboard == row.entry
        await pilot.press("enter")
        await ready(pilot)
        assert thread(pilot).thread == row.thread
        await command(pilot, "queue state:dead")
        await until(pilot, lambda: "/state:dead" in crumbs(pilot) and len(ids(pilot)) > 0)
        assert "last error" in pane(pilot)
        assert "<U+001B>" in pane(pilot)

    drive(scene)


def test_children_are_read_when_looked_at_and_page_on() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("enter")
        await ready(pilot)
        assert "children" not in gateway.asked
        await pilot.press(*["tab"] * 5)
        assert thread(pilot).tab == "children"
        await until(pilot, lambda: "rows 1-" in crumbs(pilot))
        assert "of 100+" in crumbs(pilot)
        for _ in range(20):
            await pilot.press("pagedown")
            await ready(pilot)
        assert "of 230" in crumbs(pilot)
        assert thread(pilot).copyable() == f"{gateway.rows[0].id}.230"
        await pilot.press("tab")
        await ready(pilot)
        gateway.asked.clear()
        await refreshed(pilot)
        assert "children" not in gateway.asked

    drive(scene)


def test_drilling_down_and_coming_back_to_the_parent() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        parent = gateway.rows[0].id
        await pilot.press("enter", *["tab"] * 5)
        await until(pilot, lambda: "rows 1-" in crumbs(pilot))
        await pilot.press("j", "enter")
        await ready(pilot)
        assert (thread(pilot).thread, thread(pilot).trail) == (f"{parent}.2", (parent,))
        assert crumbs(pilot).startswith(f" Threads > {parent} > {parent}.2")
        await until(pilot, lambda: "child of (o)" in thread(pilot).query_one("#head", Pane).text)
        await pilot.press("o")
        await ready(pilot)
        assert thread(pilot).thread == parent
        await pilot.press("escape", "escape")
        assert thread(pilot).tab == "children"
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ThreadsScreen)

    drive(scene)


def test_drilling_ends_at_a_bound() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("enter")
        await ready(pilot)
        for _ in range(DEEPEST + 2):
            thread(pilot)._open(gateway.rows[0].id, ())
            await pilot.pause()
        assert len(pilot.app.screen_stack) == DEEPEST + 1
        assert "esc goes back" in said(pilot)
        await command(pilot, "claims state:live")
        await until(pilot, lambda: isinstance(pilot.app.screen, ClaimsScreen))
        await command(pilot, "threads status:failed")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadsScreen))
        assert len(pilot.app.screen_stack) == 1

    drive(scene)


def test_a_cut_payload_is_read_whole_on_enter() -> None:
    long = replace(event_row(0), payload='{"whole": "' + "x" * 16_000, size=20_026)

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("enter", *["tab"] * 4)
        shown = thread(pilot).query_one("#events Pane", Pane)
        await until(pilot, lambda: "shows the first 16 kB of 20 kB; enter reads the whole" in shown.text)
        await pilot.press("enter")
        await until(pilot, lambda: '"seq": 1' in shown.text)
        assert shown.text.count("x") == 20_000
        assert gateway.asked.count("payload") == 1

    drive(scene, FakeGateway(tail=[long]))


class Cut(FakeGateway):
    """A store that holds more checkpoints than it tells."""

    def story(self, thread: str) -> ThreadStory | None:
        """The story, cut."""
        whole = super().story(thread)
        return None if whole is None else replace(whole, more=frozenset({"checkpoints"}))


def test_a_tab_that_is_cut_says_so() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("enter", "tab")
        await until(pilot, lambda: "shows the newest 17; there are more" in crumbs(pilot))
        assert "[Checkpoints 17+]" in thread(pilot).query_one("#tabs", Band).text

    drive(scene, Cut())


def test_what_a_typed_list_cannot_mean_is_said() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "claims state:over")
        await until(pilot, lambda: "live, expired and claim-only" in said(pilot))
        assert isinstance(pilot.app.screen, ClaimsScreen)

    drive(scene)


def test_a_claim_is_asked_for_again_only_when_it_has_changed() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("2", "j")
        await until(pilot, lambda: "4,711 or higher" in pane(pilot))
        asked = gateway.asked.count("claim")
        await refreshed(pilot)
        await pilot.pause(0.4)
        assert gateway.asked.count("claim") == asked
        gateway.rows = [
            replace(row, token=row.token + 500)
            if row.token and row.lease_left == timedelta(seconds=-192)
            else row
            for row in gateway.rows
        ]
        await refreshed(pilot)
        await until(pilot, lambda: gateway.asked.count("claim") == asked + 1)

    drive(scene)
