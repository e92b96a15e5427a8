"""Public reports about lists, each as a test of ours (console.md 3): selection, order, counts, emptiness."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from console.lists.sorting import Served, Sort, following
from console.model import Counted, GatewayError, Page, ThreadQuery, ThreadRow
from console.pager import QUERY, WINDOW
from console.screens.listed import ListedPage
from console.screens.sort import letters
from console.widgets.aim import Chosen, Refused
from console.widgets.band import Band
from console.widgets.columns import Scene
from console.widgets.pane import Pane
from console.widgets.prompt import Prompt
from tests.console.fake import FakeGateway, renamed, thread_row
from tests.console.test_pilot import drive, said
from tests.console.test_pilot_lists import command, crumbs, current, ids, listed
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from textual.pilot import Pilot
    from textual.strip import Strip

    from console.widgets.listing import Listing


def listing(pilot: Pilot[None]) -> Listing[ThreadRow]:
    """The list in front."""
    return listed(pilot).main_widget()


def test_report_01_erasing_a_filter_reaches_no_list() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("slash", *"vM m", *["backspace"] * 12, *"vMEs", "escape")
        assert not listing(pilot).window.marks.holding
        assert not listing(pilot).window.pinned
        assert listed(pilot).sort is None

    drive(scene)


def test_report_07_hidden_marks_block_an_action_and_are_named() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press(*["space"] * 10)
        await pilot.pause()
        marked = [row.id for row in gateway.rows[:10]]
        assert listing(pilot).targets() == Chosen(tuple(marked), marked=True)
        assert "marks 10 (10 visible)" in crumbs(pilot)
        await pilot.press("slash", *marked[4], "enter")
        await until(pilot, lambda: ids(pilot) == [marked[4]])
        await pilot.pause()
        assert "marks 10 (1 visible)" in crumbs(pilot)
        refusal = listing(pilot).targets()
        assert isinstance(refusal, Refused)
        assert refusal.hidden == (*marked[:4], *marked[5:])
        assert "9 of 10 marks are hidden" in refusal.reason
        await pilot.press("m")
        await pilot.pause()
        assert ids(pilot) == marked
        assert listing(pilot).targets() == Chosen(tuple(marked), marked=True)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: len(ids(pilot)) == 100)
        assert listing(pilot).targets() == Chosen(tuple(marked), marked=True)
        await pilot.press("M")
        await pilot.pause()
        assert listing(pilot).targets() == Chosen((ids(pilot)[0],))
        assert "10 marks dropped" in said(pilot)

    drive(scene)


def test_marks_keep_the_order_and_say_so() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        before = ids(pilot)
        await pilot.press("j", "space")
        gateway.rows[:0] = [renamed(thread_row(0), f"new-{number}") for number in range(3)]
        gateway.rows.insert(0, gateway.rows.pop(9))
        await refreshed(pilot)
        assert ids(pilot) == before
        assert "order held, 3 new wait" in crumbs(pilot)
        await refreshed(pilot)
        assert not any(listing(pilot).window.is_ghost(index) for index in range(100))
        await pilot.press("M")
        await pilot.pause()
        assert ids(pilot)[1:4] == ["new-0", "new-1", "new-2"]
        assert "newest first" in crumbs(pilot)

    drive(scene)


def test_a_range_is_marked_with_two_keys_or_given_up() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j", "v", "j", "j")
        assert len(listing(pilot).window.ranged) == 3
        await pilot.press("escape")
        assert not listing(pilot).window.marks.holding
        await pilot.press("v", "k", "k", "v")
        assert "3 rows marked" in said(pilot)
        assert list(listing(pilot).window.marks) == [row.id for row in gateway.rows[1:4]]

    drive(scene)


def test_marks_survive_other_screens_and_other_filters_of_the_same_ids() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("space", "space")
        await command(pilot, "incomplete")
        await until(pilot, lambda: "marks 2 (0 visible)" in crumbs(pilot))
        await command(pilot, "tombstones")
        await until(pilot, lambda: "Tombstones" in crumbs(pilot))
        assert "marks" not in crumbs(pilot)
        await pilot.press("2")
        await ready(pilot)
        assert "marks" not in crumbs(pilot)
        await pilot.press("1", "escape")
        await until(pilot, lambda: "marks 2 (2 visible)" in crumbs(pilot))

    drive(scene)


class Long(FakeGateway):
    """A store of which the count stops at its cap."""

    def count_threads(self, query: ThreadQuery) -> Counted:
        """More than ten thousand."""
        self._asked("count")
        return Counted(10_000, more=True)


def test_report_46_only_the_stores_own_order_is_asked_of_the_store() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "sort token")
        window = listing(pilot).window
        tokens = [row.token for row in window.rows]
        told = [token for token in tokens if token is not None]
        assert tokens == sorted(told) + [None] * (len(tokens) - len(told))
        assert "sorts this window: TOKEN rising" in crumbs(pilot)
        assert "of 100 sorted of 10,000+" in crumbs(pilot)
        assert "no index of the store serves that" in said(pilot)
        await pilot.press("s", "o")
        assert window.rows[0].token == max(told)
        gateway.rows[0] = replace(gateway.rows[0], token=9_999)
        await refreshed(pilot)
        assert window.rows[0].token == 9_999
        await pilot.press("end")
        await pilot.pause()
        assert len(window) == 100, "a sorted window stays the window that was sorted"
        await command(pilot, "sort updated")
        assert "newest first" in crumbs(pilot)
        assert ids(pilot)[0] == gateway.rows[0].id

    drive(scene, Long())


def test_report_46_every_order_is_the_stores_or_says_that_it_is_the_windows() -> None:
    served = Served("UPDATED", falling=True)
    assert following(None, "TOKEN", served) == Sort("TOKEN")
    assert following(Sort("TOKEN"), "TOKEN", served) == Sort("TOKEN", falling=True)
    assert following(Sort("TOKEN", falling=True), "TOKEN", served) == Sort("TOKEN")
    assert following(Sort("TOKEN"), "UPDATED", served) is None
    assert following(None, "UPDATED", served) == Sort("UPDATED")
    assert following(Sort("UPDATED"), "UPDATED", served) is None
    assert following(None, "DUE", None) == Sort("DUE")
    assert "this window" in Sort("DUE").words


def test_each_column_has_a_letter_of_its_own() -> None:
    given = letters(["THREAD", "STATE", "TENANT", "TOKEN", "DAY (UTC)"])
    assert given == {"t": "THREAD", "s": "STATE", "e": "TENANT", "o": "TOKEN", "d": "DAY (UTC)"}


def test_a_letter_typed_at_once_still_sorts() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        from textual.events import Key

        screen = listed(pilot)
        for letter in "sd":
            pilot.app.post_message(Key(letter, letter))
        await until(pilot, lambda: screen.sort is not None)
        assert not screen.polls()[0].paused

    drive(scene)


class NoCount(FakeGateway):
    """A store whose counts fail."""

    def count_threads(self, query: ThreadQuery) -> Counted:
        """It takes too long."""
        self._asked("count")
        raise GatewayError("count: took longer than 1 s; narrow the filter", code="timeout", retryable=True)


def test_report_52_the_first_screen_needs_no_count() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await until(pilot, lambda: "count" in gateway.asked)
        assert gateway.asked.index("threads") < gateway.asked.index("count")
        assert "of 100+" in crumbs(pilot)
        await pilot.press("j")
        assert current(pilot).id == gateway.rows[1].id

    drive(scene, NoCount())


def test_report_58_a_window_is_never_told_as_the_whole() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        for _ in range(9):
            await pilot.press("end")
            await ready(pilot)
            assert "of 10,000+ " in crumbs(pilot)
        first, last = listing(pilot).visible_rows
        before = listed(pilot)._pages.pager.offset
        assert before > 0
        assert f"rows {before + first:,}-{before + last:,} of 10,000+" in crumbs(pilot)
        assert current(pilot) == gateway.rows[before + last - 1]

    drive(scene, Long(rows=[thread_row(number) for number in range(2_000)]))


@dataclass
class Counting(FakeGateway):
    """A store that notes how it is asked for pages."""

    pages: list[tuple[str | None, int]] = field(default_factory=list)
    running: int = 0
    most: int = 0

    def threads(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """A page; several at once would be noted."""
        self.pages.append((after, limit))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return super().threads(query, after, limit)
        finally:
            self.running -= 1


def test_a_window_of_five_hundred_rows_is_read_in_pages_one_at_a_time() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        assert isinstance(gateway, Counting)
        for _ in range(9):
            await pilot.press("end")
            await ready(pilot)
        assert len(listing(pilot).window) == WINDOW
        gateway.pages.clear()
        await refreshed(pilot)
        assert [limit for _, limit in gateway.pages] == [QUERY, QUERY, 100]
        assert gateway.most == 1

    drive(scene, Counting(rows=[thread_row(number) for number in range(900)]))


def open_gate() -> threading.Event:
    """A gate that holds nobody up yet."""
    gate = threading.Event()
    gate.set()
    return gate


@dataclass
class Slow(FakeGateway):
    """A store that answers when it is let."""

    gate: threading.Event = field(default_factory=open_gate)

    def threads(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Waits, ten seconds at most."""
        assert self.gate.wait(10)
        return super().threads(query, after, limit)


def watched(shown: Listing[ThreadRow], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lines that a list draws from now on."""
    lines: list[int] = []
    draw = shown.render_line

    def render_line(y: int) -> Strip:
        lines.append(y)
        return draw(y)

    monkeypatch.setattr(shown, "render_line", render_line)
    return lines


def test_report_63_a_key_during_a_refresh_of_500_rows_draws_two_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        assert isinstance(gateway, Slow)
        for _ in range(9):
            await pilot.press("end")
            await ready(pilot)
        assert len(listing(pilot).window) == WINDOW
        gateway.gate.clear()
        await pilot.press("r")
        await until(pilot, lambda: pilot.app.session.calls.running == 1)  # type: ignore[attr-defined]
        drawn_lines = watched(listing(pilot), monkeypatch)
        before = current(pilot)
        await pilot.press("k")
        await pilot.pause()
        assert current(pilot) != before
        assert pilot.app.session.calls.running == 1  # type: ignore[attr-defined]
        assert len(drawn_lines) <= 2
        gateway.gate.set()

    drive(scene, Slow(rows=[thread_row(number) for number in range(900)]))


def test_report_67_a_wholly_new_answer_costs_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        drawn_lines = watched(listing(pilot), monkeypatch)
        gateway.rows = [renamed(row, f"other-{number}") for number, row in enumerate(gateway.rows)]
        await refreshed(pilot)
        await until(pilot, lambda: ids(pilot)[0] == "other-0")
        await pilot.pause()
        assert 0 < len(drawn_lines) <= 2 * listing(pilot).size.height

    drive(scene)


def test_report_74_a_paused_list_asks_nothing_and_changes_nothing() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("p")
        rows, told = ids(pilot), crumbs(pilot)
        gateway.asked.clear()
        gateway.rows = gateway.rows[5:]
        screen = listed(pilot)
        for _ in range(3):
            screen._tick()
            await pilot.pause(0.05)
        await pilot.press("j", "space", "k")
        assert gateway.asked == []
        assert ids(pilot) == rows
        assert told.partition("rows")[2] == crumbs(pilot).partition("rows")[2]
        assert "PAUSED" in pilot.app.screen.query_one("#status").text  # type: ignore[attr-defined]

    drive(scene)


@pytest.mark.parametrize("screen", ["1", "2", "3", "4", "8", "9"])
def test_report_78_an_empty_list_says_what_it_is_empty_of(screen: str) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press(screen)
        await ready(pilot)
        view = listed(pilot)._question.view
        listing(pilot).show([], Scene(gateway.as_of))
        await pilot.pause()
        assert listing(pilot).empty == view.none
        assert view.none[:40] in listing(pilot)._drawn[1].text
        assert "0 rows" in crumbs(pilot)

    drive(scene)


def test_report_78_an_empty_filter_is_named_with_the_way_out() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("slash", *"zzz", "enter")
        await until(pilot, lambda: "0 rows for filter zzz (clear: esc)" in listing(pilot)._drawn[1].text)
        await pilot.press("escape")
        await until(pilot, lambda: len(ids(pilot)) == 100)

    drive(scene)


def shown_titles(pilot: Pilot[None]) -> list[str]:
    """The titles on the screen."""
    return [each.column.title for each in listing(pilot)._fitted]


def test_report_79_filter_sort_columns_and_cursor_survive() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("slash", *"tenant:acme", "enter")
        await until(pilot, lambda: len(ids(pilot)) == 85)
        await command(pilot, "sort events")
        await pilot.press("c", "j", "space", "enter")
        await pilot.press("j", "j", "j")
        kept = (ids(pilot), current(pilot).id, shown_titles(pilot), crumbs(pilot))
        assert "STATE" not in kept[2]
        await refreshed(pilot)
        assert (ids(pilot), current(pilot).id, shown_titles(pilot), crumbs(pilot)) == kept
        await pilot.press("2")
        await ready(pilot)
        await pilot.press("5", "1")
        await ready(pilot)
        assert (ids(pilot), current(pilot).id, shown_titles(pilot), crumbs(pilot)) == kept
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert (ids(pilot), current(pilot).id, shown_titles(pilot)) == kept[:3]
        await pilot.press("escape")
        await until(pilot, lambda: len(ids(pilot)) == 100)
        assert "sorts this window: EVENTS rising" in crumbs(pilot)
        assert "STATE" not in shown_titles(pilot)

    drive(scene)


def test_report_81_screen_breadcrumb_and_question_agree_after_each_jump() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        jumps = {
            "threads status:failed": ("threads", " Threads  /status:failed", "threads"),
            "incomplete": ("threads", " Incomplete  /stuck", "incomplete"),
            "tombstones": ("threads", " Tombstones  /state:tombstone", "tombstones"),
            "claims state:live": ("claims", " Claims  /state:live", "claims"),
            "holders": ("claims", " Claims by holder  /by:holder", "holders"),
            "queue state:dead": ("queue", " Run queue  /state:dead", "queue"),
        }
        for line, (mode, told, asked) in jumps.items():
            await command(pilot, line)
            await until(pilot, lambda told=told: crumbs(pilot).startswith(told))  # type: ignore[misc]
            gateway.asked.clear()
            await refreshed(pilot)
            assert asked in gateway.asked
            assert mode == pilot.app.screen.MODE  # type: ignore[attr-defined]
        for key, mode in (("1", "threads"), ("2", "claims"), ("8", "queue")):
            await pilot.press(key)
            await ready(pilot)
            told = [told for where, told, _ in jumps.values() if where == mode][-1]
            assert crumbs(pilot).startswith(told)
            assert isinstance(pilot.app.screen, ListedPage)

    drive(scene)


def test_g_asks_for_the_last_row_and_pages_back_from_it() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("end")
        await ready(pilot)
        assert current(pilot) != gateway.rows[-1]
        assert "from end" not in gateway.asked
        await pilot.press("G")
        await until(pilot, lambda: current(pilot) == gateway.rows[-1])
        await ready(pilot)
        first, last = listing(pilot).visible_rows
        assert last == 100
        assert f"rows {first}-{last} of the last 100 of 10,000+" in crumbs(pilot)
        gateway.rows.append(renamed(thread_row(899), "even-older"))
        await refreshed(pilot)
        assert ids(pilot)[-1] == "even-older"
        assert current(pilot) == gateway.rows[-2]
        for _ in range(12):
            listing(pilot).go(0)
            await ready(pilot)
        assert current(pilot) == gateway.rows[0]
        assert len(listing(pilot).window) <= WINDOW
        await pilot.press("G")
        await until(pilot, lambda: current(pilot) == gateway.rows[-1])
        await pilot.press("g")
        await until(pilot, lambda: current(pilot) == gateway.rows[0])
        assert f"rows 1-{listing(pilot).visible_rows[1]} of 10,000+" in crumbs(pilot)

    drive(scene, Long(rows=[thread_row(number) for number in range(900)]))


def test_g_says_why_where_a_list_has_one_end_only() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("2")
        await ready(pilot)
        await pilot.press("G")
        await ready(pilot)
        assert "reads this list from its first row only" in said(pilot)
        assert listing(pilot).window.cursor == 99

    drive(scene)


def test_columns_are_chosen_moved_and_reset() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        usual = shown_titles(pilot)
        await pilot.press("c", "j", "space", "enter")
        assert shown_titles(pilot)[:2] == ["THREAD", usual[2]] or "STATE" not in shown_titles(pilot)
        await pilot.press("c", "r", "greater_than_sign", "enter")
        assert shown_titles(pilot)[:2] == ["STATE", "THREAD"]
        await pilot.press("c", *["space", "j"] * 12, "enter")
        assert len(shown_titles(pilot)) == 1, "one always stays"
        await pilot.press("c", "r", "escape")
        assert len(shown_titles(pilot)) == 1
        await pilot.press("c", "r", "enter")
        assert shown_titles(pilot) == usual
        assert listed(pilot).session.arrangements.of("threads").columns is None

    drive(scene)


def test_columns_beyond_the_screen_are_scrolled_in() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        every = {column.title for column in listed(pilot).all_columns()}
        usual = shown_titles(pilot)
        assert f"{len(every) - len(usual)} more columns: >" in crumbs(pilot)
        seen = set(usual)
        for _ in range(len(every) + 2):
            await pilot.press("greater_than_sign")
            assert shown_titles(pilot)[0] == "THREAD"
            seen |= set(shown_titles(pilot))
        assert seen == every
        assert shown_titles(pilot)[-1] == "AGE"
        await pilot.press(*["less_than_sign"] * (len(every) + 2))
        assert shown_titles(pilot) == usual

    drive(scene)


def test_a_click_on_a_title_sorts() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.click("#list", offset=(24, 0))
        assert listed(pilot).sort == Sort("STATE")
        await pilot.click("#list", offset=(24, 0))
        assert listed(pilot).sort == Sort("STATE", falling=True)
        await pilot.click("#list", offset=(24, 3))
        assert listing(pilot).window.cursor == 2

    drive(scene)


@pytest.mark.parametrize("verb", ["mark", "range", "only_marked", "drop_marks", "sort", "columns", "export"])
def test_every_verb_of_lists_is_reached_by_name(verb: str) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        screen = listed(pilot)
        before = state(pilot, screen)
        await pilot.press("colon", *("underscore" if letter == "_" else letter for letter in verb), "enter")
        await pilot.pause()
        assert state(pilot, screen) != before

    drive(scene)


def state(pilot: Pilot[None], screen: ListedPage) -> tuple[object, ...]:
    """What a verb of lists may change."""
    marks = screen.main_widget().window.marks
    words = screen.query_one("#notice", Pane).text + screen.query_one("#screens", Band).text
    return len(marks), marks.anchor, words, len(pilot.app.screen_stack), screen.query_one(Prompt).is_open
