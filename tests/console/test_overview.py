"""The overview's words, its cards and where they stand: pure functions (console.md 5.1, F12, row 49)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from console import filters, overview_facts, overview_money_facts
from console.calls import Calls
from console.cards import Card, Item, Mark, said
from console.claims_model import ClaimQuery
from console.commands import CommandError, OpenThread, Perform, ShowList, Switch, parse
from console.context_facts import of_session
from console.held_model import Failed
from console.lists import questions
from console.model import Counted, ThreadQuery, ThreadState, TombstoneQuery
from console.money_model import DayRow
from console.money_words import Kind
from console.overview_cards import Known, Sight, cards
from console.overview_filters import OverviewQuery, overview, written
from console.overview_model import (
    CascadesNow,
    Changes,
    ClaimsNow,
    EventsNow,
    FencesNow,
    IncompleteNow,
    Oldest,
    SweepLease,
    SweepNow,
    ThreadsNow,
    TombstonesNow,
)
from console.present import own, width
from console.session import Session
from console.sheet import lay_out
from console.worries import worries
from tests.console.fake import FakeGateway
from tests.console.fake_moment import T0
from tests.console.test_contexts import AT_PROD, AT_STAGING, BOTH, session_on
from tests.console.test_present import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Sequence

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
WHOLE = OverviewQuery()
ACME = OverviewQuery(tenant="acme")
SIZES = [(79, 20), (99, 26), (119, 36), (199, 56)]


def n(count: int, *, more: bool = False) -> Counted:
    """A count."""
    return Counted(count, more)


def text(lines: Sequence[Sequence[Item]]) -> list[str]:
    """Each line with its mark."""
    return [
        " ".join(f"{item.mark} {''.join(cell.text for cell in item.words)}".strip() for item in line)
        for line in lines
    ]


def leads(lines: Sequence[Sequence[Item]]) -> list[Any]:
    """Where each item leads."""
    return [item.opens for line in lines for item in line]


def all_known(gateway: FakeGateway | None = None, now: float = 1_000.0) -> dict[str, Known]:
    """Every part of the made-up store."""
    source = gateway or FakeGateway()
    found, known = source.overview(WHOLE.tenant), {}
    for name in overview_facts.TITLES:
        if name not in {"contexts", "changed"}:
            known[name] = Known().then(getattr(found, name), now)
    return {**known, "changed": Known().then(source.changes(WHOLE.span, WHOLE.tenant), now)}


def sight(query: OverviewQuery = WHOLE, now: float = 1_000.0, **options: Any) -> Sight:
    """What the cards are made for."""
    return Sight(query, Session(FakeGateway(), Calls(), lambda: now), now, **options)


def card(made: Sequence[Card], name: str) -> Card:
    """One of the cards."""
    return next(each for each in made if each.name == name)


# What is said


def test_what_is_bad_is_told_by_sign_and_word_and_what_is_fine_too() -> None:
    bad = ClaimsNow(n(7), n(3), Oldest("t1", 12 * MINUTE, "w1"), T0)
    assert text(overview_facts.claims(bad, WHOLE))[0] == "X 3 claims expired, not released, oldest 12m"
    fine = ClaimsNow(n(1), n(0), None, T0)
    assert text(overview_facts.claims(fine, WHOLE)) == ["ok nothing expired", "1 live claim"]
    assert leads(overview_facts.claims(bad, WHOLE)) == [
        ShowList("claims", "state:expired"),
        OpenThread("t1"),
        ShowList("claims", "state:live"),
    ]


def test_a_thread_that_has_just_stopped_is_no_reason_to_look() -> None:
    now = IncompleteNow(n(10_000, more=True), Oldest("t", 42 * MINUTE), T0)
    assert text(overview_facts.incomplete(now, ACME))[0] == "! 10,000+ threads stuck (IDLE), untouched 42m"
    assert leads(overview_facts.incomplete(now, ACME))[0] == ShowList("threads", "stuck tenant:acme")
    fresh = replace(now, count=n(2), oldest=Oldest("t", 4 * SECOND))
    assert text(overview_facts.incomplete(fresh, WHOLE))[0] == "2 threads stuck (IDLE), untouched 4s"
    none = replace(now, count=n(0), oldest=None)
    assert text(overview_facts.incomplete(none, WHOLE)) == ["ok no thread stopped half-way"]


def test_an_oldest_that_the_store_did_not_find_is_not_made_up() -> None:
    now = IncompleteNow(n(0, more=True), None, T0)
    assert text(overview_facts.incomplete(now, WHOLE)) == [
        "! 0+ threads stuck (IDLE)",
        "? which is the first: not known, too many are held",
    ]


@pytest.mark.parametrize(
    ("interrupted", "told"),
    [(0, "2 deletes under way, none interrupted"), (1, "X 1 delete interrupted of 2 begun, first 3m")],
)
def test_deletes_that_nobody_carries_on_are_bad(interrupted: int, told: str) -> None:
    oldest = Oldest("gone", 3 * MINUTE) if interrupted else None
    now = CascadesNow(n(2), n(interrupted), oldest, T0)
    assert text(overview_facts.cascades(now, WHOLE))[0] == told
    assert leads(overview_facts.cascades(now, WHOLE))[0] == ShowList("threads", "status:deleted")


@pytest.mark.parametrize(
    ("due", "overdue", "told"),
    [
        (0, 0, "ok no fence is due"),
        (3, 0, "! 3 fences due, first 2m"),
        (3, 1, "X 1 fence overdue of 3 due, first 2m"),
    ],
)
def test_fences(due: int, overdue: int, told: str) -> None:
    now = FencesNow(n(4), n(due), n(overdue), 2 * MINUTE if due else None, True, T0)
    lines = overview_facts.fences(now, WHOLE)
    assert text(lines) == [told, "4 fences waiting for a check", "? not every meter and table was looked at"]
    assert leads(lines)[:2] == [ShowList("fences", "state:due"), ShowList("fences", "state:fenced")]


def test_a_store_does_not_know_when_it_was_last_swept_and_that_is_said() -> None:
    none = text(overview_facts.sweep(SweepNow(None, T0), WHOLE))
    assert none[1] == "? when the last pass ended: the store does not keep it"
    at_work = SweepNow(SweepLease("m@h", 9 * SECOND, 3 * SECOND, 5 * SECOND), T0)
    assert text(overview_facts.sweep(at_work, WHOLE)) == ["ok m@h at work 9s, renewed 3s ago"]
    stopped = SweepNow(SweepLease("m@h", 9 * MINUTE, 4 * MINUTE, -3 * MINUTE), T0)
    assert text(overview_facts.sweep(stopped, WHOLE)) == ["X m@h stopped 3m ago and kept its lease"]


def test_events_and_tombstones() -> None:
    newest = EventsNow("t", -0.002 * SECOND, n(41), T0)
    assert text(overview_facts.events(newest, WHOLE)) == ["newest 0s ago  t", "41 events in the last minute"]
    assert "clock?" in text(overview_facts.events(replace(newest, age=-9 * SECOND), WHOLE))[0]
    assert text(overview_facts.events(EventsNow(None, None, n(0), T0), WHOLE)) == ["no event yet"]
    gone = TombstonesNow(n(2), 26 * 60 * MINUTE, MINUTE, T0)
    assert text(overview_facts.tombstones(gone, WHOLE)) == ["2 tombstones, oldest 1d02h, newest 1m"]


def test_money_of_today_is_exact_and_stands_against_the_cap() -> None:
    now = all_known()["money"].part
    today = replace(now, today=DayRow("2026-05-04", 1, 49_999_998))
    lines = text(overview_money_facts.of_money(today, 50_000_000))
    assert lines[0] == "X 14 expired: day 3m, meter 3m"
    assert lines[1] == "86.100066 USD held by day reservations"
    assert lines[2] == "! 49.999999 USD committed today (UTC), 99% of the cap"
    assert text(overview_money_facts.of_money(today, None))[2] == "49.999999 USD committed today (UTC)"
    assert text(overview_money_facts.of_money(today, 49_999_999))[2].startswith("X ")
    spans = replace(today, expired_for={Kind.METER: 2 * MINUTE})
    assert text(overview_money_facts.of_money(spans, None))[0] == "X 14 expired: meter 2m"


def test_the_queue_says_whether_it_moves() -> None:
    now = all_known()["queue"].part
    assert text(overview_money_facts.of_queue(now)) == [
        "! 4 due of 6 queued, first 1m",
        "X 2 leases lapsed of 4, first 20s",
        "X 2 runs dead: given up, for a person",
    ]
    prompt = replace(now, depth=replace(now.depth, oldest_due=3 * SECOND), dead=n(0))
    assert text(overview_money_facts.of_queue(prompt))[0] == "4 due of 6 queued, first 3s"
    assert text(overview_money_facts.of_queue(prompt))[2] == "ok no run was given up"


def test_what_changed_leads_to_the_same_span_of_each_list() -> None:
    now = Changes(10 * MINUTE, n(5), n(1), n(0), T0)
    assert leads(overview_facts.changed(now, WHOLE)) == [
        ShowList("threads", "since:10m"),
        ShowList("claims", "since:10m"),
        ShowList("threads", "state:tombstone since:10m"),
    ]
    of_tenant = overview_facts.changed(replace(now, expired=None, deleted=None), ACME)
    assert leads(of_tenant)[0] == ShowList("threads", "since:10m tenant:acme")
    assert text(of_tenant)[1] == "? claims and deletes: not kept by tenant"


@pytest.mark.parametrize("query", [WHOLE, ACME, OverviewQuery(tenant=None), OverviewQuery(tenant="a b")])
def test_every_line_leads_to_a_list_that_its_screen_understands(query: OverviewQuery) -> None:
    ask = {
        "threads": questions.of_threads,
        "claims": questions.of_claims,
        "queue": questions.of_queue,
        "reservations": questions.of_reservations,
        "fences": questions.of_fences,
        "budgets": lambda given: questions.of_budgets(given, None),
        "events": filters.events,
        "overview": overview,
    }
    found = [item.opens for each in cards(all_known(), sight(query)) for line in each.lines for item in line]
    lists = [command for command in found if isinstance(command, ShowList)]
    assert len(lists) > 20
    for command in lists:
        ask[command.screen](command.filter)


# The filter and the commands


def test_the_filter_takes_a_tenant_and_a_span() -> None:
    assert overview('tenant:"a b" since:90s') == OverviewQuery("a b", 90 * SECOND)
    assert overview("tenant:-").tenant is None
    assert overview("") == WHOLE
    for mistake in ("since:5x", "state:x", "tenant:"):
        with pytest.raises(filters.FilterError):
            overview(mistake)


@pytest.mark.parametrize("span", ["5m", "90s", "1h", "2d", "61m"])
def test_a_span_is_written_as_it_is_read(span: str) -> None:
    assert written(filters.span(span)) == span


def test_the_commands() -> None:
    assert parse("changed") == ShowList("overview", "since:5m")
    assert parse("changed 1h") == ShowList("overview", "since:1h")
    assert parse("overview tenant:acme") == ShowList("overview", "tenant:acme")
    assert parse("ovr") == Perform("overview")
    with pytest.raises(CommandError):
        parse("overviews")


def test_lists_take_since() -> None:
    claims = filters.claims("since:5m holder:w")
    assert claims == ClaimQuery(holder="w", since=5 * MINUTE)
    assert filters.threads("state:tombstone since:5m") == TombstoneQuery(5 * MINUTE)
    assert filters.threads("since:5m") == ThreadQuery(since=5 * MINUTE)
    for mistake in ("state:live since:5m", "since:5m state:live"):
        with pytest.raises(filters.FilterError, match="since"):
            filters.claims(mistake)
    with pytest.raises(filters.FilterError, match="goes with since: only"):
        filters.threads("state:tombstone tenant:a")


# Contexts


def test_contexts_stand_with_environment_and_address_and_which_is_open() -> None:
    session = session_on("prod", AT_PROD, BOTH)
    lines = of_session(session)
    told = text(lines)
    assert told[0] == "PROD  Ledger  open here  postgresql://ops_ro@ledger-prod/agents"
    assert "open here" not in told[2]
    assert leads(lines) == [Perform("diagnostics"), Switch("acme"), Switch("staging")]
    other = text(of_session(session_on("prod", AT_STAGING, BOTH)))
    assert other[0].startswith("X  PROD  Ledger  open here, but ANOTHER STORE")
    assert "not connected yet" in text(of_session(session_on("prod", None)))[0]


# Cards


def test_report_49_a_part_that_fails_says_so_in_its_card_and_the_others_live() -> None:
    known = all_known()
    known["claims"] = known["claims"].then(Failed("statement timeout; ask again"), 1_040.0)
    made = cards(known, sight(now=1_040.0))
    told = text(card(made, "claims").lines)
    assert told[0] == "X NOT READ; what stands below is OLD: statement timeout; ask again"
    assert told[1].startswith("X 39 claims expired")
    assert card(made, "claims").age.text == "OLD 40s"
    assert card(made, "fences").age.text == "40s old"
    assert not any("NOT READ" in line for each in made if each.name != "claims" for line in text(each.lines))
    healed = known["claims"].then(known["claims"].part, 1_045.0)
    assert (healed.failed, healed.since) == (None, 1_045.0)


def test_each_card_has_its_own_age_and_all_are_old_once_no_answer_comes() -> None:
    known = all_known()
    known["changed"] = replace(known["changed"], since=940.0)
    made = cards(known, sight())
    assert [card(made, name).age.text for name in ("claims", "changed", "contexts")] == [
        "<30s old",
        "1m old",
        "",
    ]
    stale = cards(known, sight(now=1_061.0, fresh=False))
    assert card(stale, "claims").age.text == "OLD 1m"


def test_what_a_tenant_has_not_is_said_and_leads_to_the_whole() -> None:
    source = FakeGateway()
    found = source.overview("acme")
    known = {name: Known().then(getattr(found, name), 0.0) for name in ("threads", "claims", "money")}
    made = cards(known, sight(ACME))
    assert text(card(made, "claims").lines) == ["? not kept by tenant; the whole store's: enter"]
    assert leads(card(made, "money").lines) == [ShowList("overview", "")]
    assert leads(card(made, "threads").lines)[0] == ShowList("threads", "status:running tenant:acme")
    assert text(card(made, "queue").lines) == ["reading ..."]


def test_the_corner_counts_the_cards_that_need_somebody() -> None:
    assert worries(cards({}, sight()), known=False).text.strip() == ""
    assert worries(cards(all_known(), sight()), known=True).text == "X 3 bad  ! 3 to look at "
    calm = cards(all_known(FakeGateway(rows=[])), sight())
    assert worries(calm, known=True).text == "ok nothing needs anybody "


# Where they stand


@pytest.mark.parametrize("size", SIZES)
def test_nothing_overlaps_and_every_item_can_be_reached(size: tuple[int, int]) -> None:
    sheet = lay_out(cards(all_known(), sight()), *size)
    taken: set[tuple[int, int]] = set()
    for spot in sheet.spots:
        cells = {(spot.y, x) for x in range(spot.x, spot.x + spot.cells)}
        assert not cells & taken
        assert spot.x + spot.cells <= size[0]
        taken |= cells
    assert len({spot.address for spot in sheet.stops}) == len(sheet.stops)
    reached, here = set(), sheet.stops[0]
    for _ in range(len(overview_facts.TITLES)):
        column = here
        for _ in sheet.stops:
            reached.add(column.address)
            column = sheet.beside(column, 1)
        here = sheet.other_card(here, 1)
    assert reached == {spot.address for spot in sheet.stops}


@pytest.mark.parametrize("size", SIZES)
def test_figures_are_never_cut(size: tuple[int, int]) -> None:
    known = all_known()
    most = {state: n(10_000, more=True) for state in ThreadState}
    known["threads"] = Known().then(ThreadsNow(most, n(10_000, more=True), T0), 1_000.0)
    sheet = lay_out(cards(known, sight()), *size)
    for spot in sheet.stops:
        if spot.address is not None and spot.address[0] in {"threads", "queue", "money"}:
            assert sum(width(cell.text) for cell in spot.line) <= spot.cells - 5, spot


def test_the_grid_stands_whole_at_120x40_and_100x30_in_one_screen() -> None:
    for room, lines in ((119, 36), (99, 26)):
        assert lay_out(cards(all_known(), sight()), room, lines).height <= lines


def test_an_item_that_is_gone_leaves_the_cursor_in_its_card() -> None:
    made = [
        Card("a", own("A"), (said("one", Mark.FINE, "1", Perform("refresh")),)),
        Card("b", own("B"), (said("two", Mark.BAD, "2", Perform("refresh")),)),
    ]
    sheet = lay_out(made, 119, 36)
    for address, found in ((("b", "gone"), ("b", "two")), (("c", "x"), ("a", "one")), (None, ("a", "one"))):
        spot = sheet.of(address)
        assert spot is not None
        assert spot.address == found
    assert lay_out([], 79, 20).of(None) is None


def test_hostile_text_is_only_text() -> None:
    for each in HOSTILE:
        now = ClaimsNow(n(1), n(1), Oldest(each, MINUTE, each), T0)
        known = {"claims": Known().then(now, 1_000.0), "fences": Known().then(Failed(each), 1_000.0)}
        for made in cards(known, sight()):
            for line in text(made.lines):
                assert line.isprintable(), line
