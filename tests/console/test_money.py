"""Amounts, bars and words about money: exact, and harmless whatever is stored (console.md F5 b, F11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console import budget_facts, money, money_facts, money_story, present
from console.addresses import address_of
from console.commands import CommandError, OpenReservation, Perform, SetCap, ShowList, parse
from console.filter_words import FilterError
from console.lists import fences, reservations
from console.money_filters import budgets
from console.money_filters import fences as fences_of
from console.money_filters import reservations as reservations_of
from console.money_model import AccountQuery, DayQuery, Fate, FenceQuery, ReservationQuery
from console.money_words import Address, HoldState, Kind
from console.present import Tone
from console.widgets.columns import Scene
from tests.console.fake_moment import T0
from tests.console.fake_money import (
    accounts,
    day_reservation,
    days,
    fence_of,
    meter_reservation,
    settled_reservation,
    story_of,
    tentative_row,
)
from tests.console.test_present import HOSTILE, is_harmless

SCENE = Scene(T0)
STALE = Scene(T0, fresh=False)
MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "micro"),
    [
        ("60", 60_000_000),
        ("0.25", 250_000),
        ("0.000001", 1),
        ("9223372036854.775807", MOST),
        ("007.50", 7_500_000),
    ],
)
def test_a_cap_is_taken_digit_for_digit(text: str, micro: int) -> None:
    assert money.micro_of(text) == micro
    assert parse(f"cap {text}") == SetCap(micro)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0.0000001",
        "-1",
        "+1",
        "1e3",
        "NaN",
        "inf",
        "1,000",
        "\uff11\uff10",
        "9223372036854.775808",
        "$5",
        "1.",
    ],
)
def test_what_is_no_cap_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="six decimals"):
        money.micro_of(text)


@given(st.integers(0, MOST), st.integers(0, MOST), st.integers(1, MOST), st.integers(7, 80))
def test_a_bar_is_as_wide_as_asked_and_never_lies_about_the_ends(
    settled: int, held: int, whole: int, cells: int
) -> None:
    drawn = money.bar(settled, held, whole, cells)
    inside = drawn[1:-1]
    assert len(drawn) == cells
    assert set(inside) <= set("#=.!")
    assert ("." in inside) is (settled + held < whole)
    assert inside.endswith("!") is (settled + held > whole)
    assert ("#" in inside or "=" in inside or "!" in inside) is (settled + held > 0)
    assert money.tone(settled + held, whole) is not Tone.GOOD or settled + held < whole


def test_a_gauge_says_its_share_beside_it() -> None:
    assert money.gauge(780, 64, 1_000, 16).text == "[#####=..]   84%"
    assert money.gauge(450, 70, 500, 16).text.endswith(" 104%")
    assert money.gauge(0, 0, 0, 16).text == "none allowed"


def test_amounts_are_exact_to_the_micro_dollar() -> None:
    assert money.amount(MOST, None) == "9,223,372,036,854.775807"
    assert money.amount(300_000, None) == "0.300000"
    assert money.amount(None, 9_007_199_254_740_993) == "9,007,199,254,740,993"
    assert money.amount(None, None) == "-"
    assert (money.counted(1), money.counted(2)) == ("1 unit", "2 units")


# Words


def said(fate: Fate, row: object = None, scene: Scene = SCENE) -> str:
    """What is said of a default."""
    given_row = day_reservation(0, None) if row is None else row
    lines = money_facts.fate_lines(given_row, fate, scene, 400)  # type: ignore[arg-type]
    return " ".join("".join(cell.text for cell in line) for line in lines)


def test_every_fate_has_its_words() -> None:
    operation = day_reservation(2, None)
    assert said(Fate.SETTLED_WHOLE).startswith("BY DEFAULT  its time was over 3m20s ago: the next pass")
    assert "settles it whole, at 0.300000 USD" in said(Fate.SETTLED_WHOLE)
    recorded = said(Fate.SETTLED_AT_RECORDED, operation)
    assert "what its runs recorded, 0.120000 USD; 2.680002 USD go back to the day" in recorded
    assert said(Fate.LEFT_FENCED, day_reservation(1, None)).startswith("LEFT ALONE  its check came 2m49s ago")
    assert "even then no default settles" in said(Fate.LEFT_FENCED, day_reservation(10, None))
    assert "unknown_after_lease" in said(Fate.METER_DEFAULT, meter_reservation(8))
    assert "its time is over in 55s; then" in said(Fate.METER_DEFAULT, meter_reservation(8))
    assert "takes the row away" in said(Fate.DELETED, tentative_row(1))
    over = said(Fate.ALREADY_SETTLED, replace(settled_reservation(), fenced=False))
    assert over.startswith(
        "OVER  consumed 8 units at 2026-05-04 14:02:22.000Z; after its time was over, so perhaps"
    )
    assert "perhaps" not in said(Fate.ALREADY_SETTLED, settled_reservation())


def test_a_settled_day_row_tells_what_went_back() -> None:
    row = replace(
        day_reservation(0, None), state=HoldState.SETTLED, due_in=None, settled_at=T0, settled_micro=100_000
    )
    assert "settled at 0.100000 USD at 2026-05-04 14:03:22.000Z, 0.200000 USD went back" in said(
        Fate.ALREADY_SETTLED, row
    )


def test_nothing_is_said_of_time_while_the_store_does_not_answer() -> None:
    row = day_reservation(0, None)
    assert said(Fate.SETTLED_WHOLE, row, STALE).startswith("BY DEFAULT  once its time is over")
    assert money_facts.due_words(row, STALE).text == money_facts.UNKNOWN
    assert money_facts.state(row, STALE).text == "X EXPIRED?"


@pytest.mark.parametrize("state", HoldState)
def test_every_state_has_a_glyph_and_a_word(state: HoldState) -> None:
    glyph, word = present.hold_state(state).text.split(" ")
    assert glyph in {"o", "X", "!", "#"}
    assert word == state.name


def test_a_window_says_why_nothing_is_known_to_remain() -> None:
    window = accounts()[-1]
    text = "".join(cell.text for line in budget_facts.account_lines(window, 200) for cell in line)
    assert "rolling window" in text
    assert "unknown" in text
    assert "[" not in text


def test_a_day_is_compared_only_with_a_cap_that_was_given() -> None:
    day = days()[0]
    bare = "".join(cell.text for line in budget_facts.day_lines(day, None, 120) for cell in line)
    assert ":cap 60" in bare
    assert "%" not in bare
    capped = "".join(cell.text for line in budget_facts.day_lines(day, 60_000_000, 120) for cell in line)
    assert "89%" in capped


@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_text_is_only_text_wherever_a_reservation_is_told(evil: str) -> None:
    day = replace(
        day_reservation(2, evil),
        address=Address(Kind.DAY, "", evil),
        owner=evil,
        period=evil,
        operation=evil,
        outcome=evil,
        fenced=True,
    )
    table = replace(tentative_row(0), address=Address(Kind.TENTATIVE, evil, evil), owner=evil)
    shown: list[str] = []
    for row in (day, table, replace(table, state=HoldState.SETTLED, settled_at=T0, outcome=evil)):
        fence = replace(fence_of(row), evidence=evil, size=len(evil))
        story = replace(story_of(row), evidence=evil, usage=evil)
        lines = (
            *money_facts.of_row(row, story, SCENE, 77),
            *money_facts.of_fence(fence, SCENE, 77),
            *money_story.head(story, SCENE, 77),
            *money_story.body(story, None, SCENE, 77),
        )
        shown += [cell.text for line in lines for cell in line]
        shown += [column.cell_of(row, SCENE, 20).text for column in reservations.COLUMNS]
        shown += [column.cell_of(fence, SCENE, 20).text for column in fences.COLUMNS]
    account = replace(accounts()[0], account=evil, period=evil, meter=evil)
    shown += [cell.text for line in budget_facts.of_account(account, None, 77) for cell in line]
    assert all(map(is_harmless, shown))


def test_a_body_is_whole_where_evidence_has_big_numbers() -> None:
    story = story_of(day_reservation(7, None))
    text = "\n".join(
        "".join(cell.text for cell in line) for line in money_story.body(story, None, SCENE, 100)
    )
    assert '"micro": 9007199254740993' in text
    assert "<U+001B>" not in text.split("EVIDENCE")[0]
    assert "\\u001b[2J" in text
    assert "deferred 3 times" in text
    assert "never ended" in text
    assert "holds the lease" in text


def test_ages_go_on_with_the_scene() -> None:
    later = Scene(T0, timedelta(seconds=30))
    assert money_facts.due_words(day_reservation(7, None), later).text == "13s ago"


# What is typed


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", ReservationQuery()),
        ("state:due kind:meter", ReservationQuery(kind=Kind.METER, state=HoldState.DUE)),
        ('owner:"a b" meter:agentos_spend', ReservationQuery(owner="a b", meter="agentos_spend")),
        ("day:2026-05-04 thread:t leased", ReservationQuery(day="2026-05-04", thread="t", leased=True)),
        ("table:outbox", ReservationQuery(table="outbox")),
    ],
)
def test_reservation_filters(text: str, query: ReservationQuery) -> None:
    assert reservations_of(text) == query


def test_fence_and_budget_filters() -> None:
    assert fences_of("state:due deferred:no owner:x") == FenceQuery(
        state=HoldState.DUE, owner="x", deferred=False
    )
    assert budgets("") == AccountQuery()
    assert budgets("meter:m") == AccountQuery("m")
    assert budgets("days") == DayQuery()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("state:lost", "settled"),
        ("kind:money", "tentative"),
        ("day:today", "2026-05-04"),
        ("tenant:acme", "state:due"),
        ("owner:", "needs a value"),
    ],
)
def test_reservation_filters_that_mean_nothing(line: str, names: str) -> None:
    with pytest.raises(FilterError, match=names):
        reservations_of(line)


@pytest.mark.parametrize("line", ["state:open", "deferred:often", "day:2026-05-04"])
def test_fence_filters_that_mean_nothing(line: str) -> None:
    with pytest.raises(FilterError):
        fences_of(line)


@pytest.mark.parametrize("line", ["days meter:x", "account:x"])
def test_budget_filters_that_mean_nothing(line: str) -> None:
    with pytest.raises(FilterError):
        budgets(line)


@pytest.mark.parametrize(
    "address",
    [
        Address(Kind.DAY, "", "8c1f-77"),
        Address(Kind.METER, "agentos_spend", "run 7/call"),
        Address(Kind.TENTATIVE, "public.outbox", "1"),
        Address(Kind.TENTATIVE, "my table", '["1","a b"]'),
    ],
)
def test_an_address_reads_back(address: Address) -> None:
    assert parse(address_of(address)) == OpenReservation(address)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("res", Perform("reservations")),
        ("res kind:meter", ShowList("reservations", "kind:meter")),
        ("fences /state:due", ShowList("fences", "state:due")),
        ("budgets days", ShowList("budgets", "days")),
        ("days", ShowList("budgets", "days")),
        ("cap none", SetCap(None)),
    ],
)
def test_commands_about_money(line: str, command: object) -> None:
    assert parse(line) == command


@pytest.mark.parametrize(
    "line",
    [
        "reservation",
        "reservation day",
        "reservation day x y",
        "reservation meter - y",
        "reservation cash - y",
        "reservation day -",
        "cap all",
        "cap -1",
    ],
)
def test_commands_about_money_that_mean_nothing(line: str) -> None:
    with pytest.raises(CommandError):
        parse(line)
