"""Filters over a window, the served order turned round, addresses that read back, help that is searched, contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console import commands
from console.addresses import thread_address
from console.commands import OpenThread, ShowList
from console.contexts import Contexts
from console.screens import modes
from console.screens.contexts import ContextsScreen
from console.screens.filtered import FilteredPage
from console.screens.help import HelpScreen
from console.screens.listed import ListedPage
from console.screens.marking import MarkingPage
from console.screens.tabs import TABS
from console.screens.thread import ThreadScreen
from console.widgets.pane import Pane
from tests.console.test_contexts import AT_STAGING, CONFIG, PROD, seen
from tests.console.test_pilot import drive, said
from tests.console.test_pilot_lists import crumbs, ids, listed
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.app import HoldwatchApp
    from console.screens.page import Page
    from tests.console.fake import FakeGateway


def type_filter(text: str) -> list[str]:
    """The keys of a filter."""
    return ["slash", *text, "enter"]


# Of this window


def test_report_58_a_search_of_the_window_says_of_how_many_rows() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        whole = len(ids(pilot))
        await pilot.press(*type_filter("~000[12]"))
        await until(pilot, lambda: 0 < len(ids(pilot)) < whole)
        assert all("0001" in row or "0002" in row for row in ids(pilot))
        assert f"in this window of {whole:,}: ~000[12]" in crumbs(pilot)
        assert f"of {whole:,}" not in crumbs(pilot).replace(f"window of {whole:,}", "")
        await pilot.press("escape")
        await until(pilot, lambda: len(ids(pilot)) == whole)

    drive(scene)


def test_report_78_a_search_that_finds_nothing_says_where_it_looked_and_goes_on() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        await pilot.press(*type_filter("~no_such_thing"))
        await until(pilot, lambda: not ids(pilot))
        note = listed(pilot).main_widget().empty
        assert "rows of this window" in note
        assert "~no_such_thing (clear: esc)" in note
        before = len(gateway.asked)
        await pilot.press("pagedown")
        await until(pilot, lambda: len(gateway.asked) > before)

    drive(scene)


BAD = (
    ("~(", "is no pattern"),
    ("tenent:a", "did you mean tenant:"),
    ("!since:5m", "no field"),
    ("~(a)\\1", "\\1"),
)


def test_a_bad_filter_stays_in_the_prompt_and_says_what_would_do() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        for text, says in BAD:
            await pilot.press(*type_filter(text))
            assert says in said(pilot), (text, says, said(pilot))
            assert listed(pilot).filter == ""
            await pilot.press("escape")

    drive(scene)


def test_events_are_sifted_as_they_come() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("5")
        await ready(pilot)
        await pilot.press(*type_filter("!kind:tool.result ~thr"))
        screen = pilot.app.screen
        await until(pilot, lambda: len(screen.main_widget().window) > 0)  # type: ignore[attr-defined]
        await ready(pilot)
        kinds = {row.kind for row in screen.main_widget().window.rows}  # type: ignore[attr-defined]
        assert kinds
        assert "tool.result" not in kinds

    drive(scene)


# Turned round


def test_report_46_the_stores_order_turned_round_is_the_stores_as_well() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        newest = ids(pilot)[0]
        await pilot.press("colon", *"sort UPDATED", "enter")
        await until(pilot, lambda: bool(ids(pilot)) and ids(pilot)[0] != newest)
        assert "turned round" in crumbs(pilot)
        assert "sorts this window" not in crumbs(pilot)
        rows = listed(pilot).main_widget().window.rows
        assert [row.updated_at for row in rows] == sorted(row.updated_at for row in rows)
        assert rows[0].id == min(gateway.rows, key=lambda row: row.updated_at or 0).id
        await pilot.press("G")
        await until(pilot, lambda: bool(ids(pilot)) and ids(pilot)[-1] == newest)
        await pilot.press("colon", *"sort UPDATED", "enter")
        await until(pilot, lambda: bool(ids(pilot)) and ids(pilot)[0] == newest)

    drive(scene)


# Addresses


def carry_out(pilot: Pilot[None], line: str) -> None:
    """What Enter on this line does."""
    app: HoldwatchApp = pilot.app  # type: ignore[assignment]
    app.carry_out(commands.parse(line))


async def shown(pilot: Pilot[None], line: str) -> Page:
    """The screen that a command leads to."""
    carry_out(pilot, line)
    await pilot.pause()
    return await ready(pilot)


FILTERS = {
    "overview": "since:1h",
    "threads": 'status:idle,failed ~thr tenant:"a b"',
    "claims": "state:expired !tenant:acme",
    "reservations": "kind:day",
    "fences": "state:due",
    "events": "kind:tool.result",
    "jobs": "state:paused",
    "audit": "mine",
    "queue": "state:dead",
    "budgets": "days",
}


def test_report_81_an_address_leads_to_the_same_screen_filter_and_order() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        for mode, text in [*FILTERS.items(), ("threads", ""), ("events", "")]:
            await _round(pilot, mode, text)

    drive(scene)


async def _round(pilot: Pilot[None], mode: str, text: str) -> None:
    """There by a filter, into another order, away, and there again by the address."""
    page = await shown(pilot, f"{mode} {text or '/'}")
    assert isinstance(page, FilteredPage)
    assert (page.MODE, page.filter) == (mode, text)
    if isinstance(page, MarkingPage):
        page.take_sort(page.titles()[-1])
    address = page.address_text()
    order = page.sort if isinstance(page, MarkingPage) else None
    page.narrow("")
    if isinstance(page, MarkingPage):
        page.order_by(None)
    await pilot.press("1" if mode != "threads" else "2")
    again = await shown(pilot, address)
    assert again is page, address
    assert (page.filter, page.address_text()) == (text, address)
    if isinstance(page, MarkingPage):
        assert page.sort == order


def test_every_screen_with_a_digit_has_a_round_trip_here() -> None:
    known = set(modes.MODES)
    assert set(FILTERS) <= known
    assert {mode for mode in known if mode in commands.SCREENS} == set(FILTERS)


def test_an_address_of_a_thread_leads_to_its_tab() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        thread = gateway.rows[0].id
        for tab in TABS:
            carry_out(pilot, f"thr:{thread} {tab}")
            await until(pilot, lambda: isinstance(pilot.app.screen, ThreadScreen))
            screen = pilot.app.screen
            assert isinstance(screen, ThreadScreen)
            assert (screen.thread, screen.tab) == (thread, tab)
            assert screen.address_text() == f"thr:{thread} {tab}"
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, ListedPage))

    drive(scene)


@given(st.text(min_size=1, max_size=20).filter(lambda text: text.strip() == text and text.isprintable()))
@settings(max_examples=100, deadline=None)
def test_a_threads_address_reads_back_whatever_its_id(thread: str) -> None:
    read = commands.parse(thread_address(thread, "events"))
    assert read == OpenThread(thread, "events" if '"' not in thread else "")


@given(
    st.sampled_from(list(commands.SCREENS)),
    st.lists(st.text(alphabet="ab:=~!^.", min_size=1, max_size=8).map(lambda text: f"k:{text}"), max_size=3),
    st.sampled_from(["AGE", "-LEASE LEFT", "store"]),
)
@settings(max_examples=100, deadline=None)
def test_a_lists_address_reads_back(screen: str, words: list[str], sort: str) -> None:
    text = " ".join(words)
    line = f'{screen} {text} "sort:{sort}"'
    assert commands.parse(line) == ShowList(screen, text, sort)


def test_at_goes_to_the_events_from_anywhere() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        await pilot.press("colon", *"at 14:00Z", "enter")
        await until(pilot, lambda: getattr(pilot.app.screen, "MODE", "") == "events")
        screen = pilot.app.screen
        await until(pilot, lambda: screen.main_widget().window.pinned)  # type: ignore[attr-defined]
        row = screen.main_widget().window.current  # type: ignore[attr-defined]
        assert f"{row.at:%H:%M}" == "14:00"

    drive(scene)


def test_the_short_forms_of_the_key_map() -> None:
    assert commands.parse("thr /stuck tenant=acme") == ShowList("threads", "stuck tenant=acme")
    assert commands.parse("thr /") == ShowList("threads", "")
    assert commands.parse('thr:"run 7" events') == OpenThread("run 7", "events")
    for line, says in (
        ("thraeds", "did you mean threads"),
        ("quit now", "takes nothing"),
        ("thr:a b c", "quotation marks"),
        ("threads sort:A sort:B", "one sort"),
    ):
        with pytest.raises(commands.CommandError, match=says):
            commands.parse(line)


# Help and contexts


def test_help_is_narrowed_by_what_is_typed() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("question_mark")
        sheet = pilot.app.screen
        assert isinstance(sheet, HelpScreen)
        whole = sheet.query_one(Pane).text
        await pilot.press(*"expo")
        await until(pilot, lambda: sheet.sought == "expo")
        text = sheet.query_one(Pane).text
        assert "Write the rows of this window" in text
        assert "palette" not in text.casefold()
        assert len(text) < len(whole) / 4
        await pilot.press("escape")
        assert sheet.query_one(Pane).text == whole
        await pilot.press("slash", *"quit", "space", "q")
        assert sheet.sought == "quit q"
        await pilot.press(*"zzz")
        assert "esc shows all" in sheet.query_one(Pane).text
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ListedPage))

    drive(scene)


def test_contexts_are_listed_to_choose_from() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        app: HoldwatchApp = pilot.app  # type: ignore[assignment]
        app.session.contexts = Contexts(CONFIG, PROD, seen={"staging": seen(AT_STAGING)})
        chosen: list[str] = []
        app._switch_context = chosen.append  # type: ignore[method-assign, assignment]
        await pilot.press("colon", *"contexts", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ContextsScreen))
        text = pilot.app.screen.query_one(Pane).text
        words = (
            "PROD",
            "RO, never RW",
            "STAGING",
            "server",
            "9900",
            "as mk",
            "seen 2026-05-04",
            "never connected",
        )
        assert [word for word in words if word not in text] == [], text
        await pilot.press("j", "j", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ListedPage))
        assert chosen == ["staging"]
        await pilot.press("colon", *"contexts", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ContextsScreen))
        await pilot.press("enter")
        assert chosen == ["staging"], "the one that is open stays as it is"

    drive(scene)


def test_at_a_time_that_is_none_says_so_among_the_events() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await ready(pilot)
        carry_out(pilot, "at 99:00")
        await until(pilot, lambda: getattr(pilot.app.screen, "MODE", "") == "events")
        await until(pilot, lambda: "neither a time" in said(pilot))

    drive(scene)
