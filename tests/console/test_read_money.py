"""`holdwatch reservations`, `reservation`, `fences`, `accounts`, `account`, `days` and `day` on real stores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from console.cli import Exit
from engine.desk import FenceFilter, ReservationFilter
from engine.spend import Deferred
from tests.support import money
from tests.support.builders import T0
from tests.support.commands import Command

if TYPE_CHECKING:
    from tests.support.harness import Harness

HOSTILE = "evil\x1b]52;c;eA==\x07[/]\u202e"
BIG = 2**70


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def pages(holdwatch: Command, *arguments: str) -> list[Any]:
    """The rows of every page of five, put together."""
    rows: list[Any] = []
    after: list[str] = []
    for _ in range(100):
        page = holdwatch.json(*arguments, "--limit", "5", *after)
        assert page["as_of"].endswith("Z")
        rows += page["rows"]
        if page["next"] is None:
            return rows
        after = ["--after", page["next"]]
    raise AssertionError("the pages do not end")


def hold(harness: Harness, **options: Any) -> str:
    """Money held on T0's day."""
    given: dict[str, Any] = {
        "kind": "chat",
        "micro": 300_000,
        "at": T0,
        "expires": T0,
        "cap_micro": 60_000_000,
    }
    return harness.store.days.reserve(**(given | options))


def test_reservations_are_paged_as_the_desk_lists_them(harness: Harness, holdwatch: Command) -> None:
    money.fill_money(harness)
    rows = pages(holdwatch, "reservations", harness.url)
    desk = harness.store.desk.reservations(ReservationFilter(), None, 200).rows
    assert [(row["kind"], row["source"], row["reservation_id"]) for row in rows] == [
        (row.kind.value, row.source, row.reservation_id) for row in desk
    ]
    assert [(row["micro"], row["units"], row["owner"]) for row in rows] == [
        (row.micro, row.units, row.owner) for row in desk
    ]
    count = holdwatch.json("reservations", harness.url, "--count")
    assert count == {"count": len(rows), "more": False}
    assert holdwatch("reservations", harness.url, "--count").lines == [str(len(rows))]


def test_reservations_are_filtered_by_the_store(harness: Harness, holdwatch: Command) -> None:
    money.fill_money(harness)

    def kinds(*options: str) -> set[str]:
        return {row["kind"] for row in holdwatch.json("reservations", harness.url, *options)["rows"]}

    assert kinds("--kind", "tentative") == kinds("--table", "spots") == {"tentative"}
    assert kinds("--meter", "agentos_spend", "--owner", "account-0") == {"meter"}
    assert kinds("--day", "2026-10-08") == kinds("--thread", "thread-0") == {"day"}
    assert kinds("--state", "settled") == {"meter"}
    said = holdwatch("reservations", harness.url, "--meter", "agentos_spend", "--day", "2026-10-08")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "only" in said.err
    assert holdwatch("reservations", harness.url, "--meter", "nothing").code == Exit.REFUSED
    assert holdwatch("reservations", harness.url, "--state", "lost").code == Exit.USAGE
    assert holdwatch("reservations", harness.url, "--totals", "--kind", "day").code == Exit.USAGE


def test_totals_tell_states_by_kind_and_what_days_hold(harness: Harness, holdwatch: Command) -> None:
    money.fill_money(harness)
    found = holdwatch.json("reservations", harness.url, "--totals")
    rows = pages(holdwatch, "reservations", harness.url)
    assert found["held_micro"] == sum(row["micro"] or 0 for row in rows)
    assert set(found["day"]) == {"open", "expired", "fenced", "due"}
    said = holdwatch("reservations", harness.url, "--totals")
    assert said.lines[0].startswith("day")
    assert said.lines[3].split()[-1] == "USD"


def test_a_table_shows_dollars_exactly_and_harmlessly(harness: Harness, holdwatch: Command) -> None:
    hold(harness, kind=HOSTILE, micro=12_004_100)
    said = holdwatch("reservations", harness.url)
    assert (said.code, said.err) == (Exit.OK, "")
    assert "12.004100 USD" in said.lines[1]
    assert "evil<U+001B>]52;c;eA==<U+0007>[/]<U+202E>" in said.lines[1]
    assert not set(said.out) & set("\x1b\x07\u202e")


def test_a_reservation_is_told_whole(harness: Harness, holdwatch: Command) -> None:
    name = hold(harness, require_fence=True, thread_id="thread-1")
    harness.store.days.defer(name, T0, {"charge": HOSTILE, "big": BIG})
    found = holdwatch.json("reservation", harness.url, "day", "-", name)
    assert (found["row"]["reservation_id"], found["row"]["micro"], found["fate"]) == (
        name,
        300_000,
        "left_fenced",
    )
    assert found["guard"] == {"deferrals": 1}
    assert found["evidence"] == {"charge": HOSTILE, "big": BIG}
    assert found["day"]["reserved_micro"] == 300_000
    said = holdwatch("reservation", harness.url, "day", "-", name)
    assert said.lines[0] == f"reservation day - {name}"
    assert "LEFT ALONE" in said.out
    assert f'"big": {BIG}' in said.out
    assert "0.300000 USD" in said.out
    assert not set(said.out) & set("\x1b\x07\u202e")


def test_what_is_no_reservation_is_refused(harness: Harness, holdwatch: Command) -> None:
    said = holdwatch("reservation", harness.url, "day", "-", "nothing")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "holdwatch reservations lists them" in said.err
    assert holdwatch("reservation", harness.url, "meter", "agentos_spend", "x").code == Exit.REFUSED
    assert holdwatch("reservation", harness.url, "cash", "-", "x").code == Exit.USAGE
    assert holdwatch("reservation", harness.url, "meter", "-", "x").code == Exit.USAGE


def test_fences_carry_evidence_as_json(harness: Harness, holdwatch: Command) -> None:
    money.fill_money(harness)
    rows = pages(holdwatch, "fences", harness.url)
    desk = harness.store.desk.fences(FenceFilter(), None, 200).rows
    assert [row["row"]["reservation_id"] for row in rows] == [each.row.reservation_id for each in desk]
    deferred = holdwatch.json("fences", harness.url, "--deferred", "--kind", "day")["rows"]
    assert [row["evidence"] for row in deferred] == [{"charge": "ch_1"}] * len(deferred)
    fresh = holdwatch.json("fences", harness.url, "--never-deferred")["rows"]
    assert {row["evidence"] for row in fresh} == {None}
    assert '{"charge":"ch_1"}' in holdwatch("fences", harness.url, "--deferred").out
    assert holdwatch("fences", harness.url, "--state", "open").code == Exit.REFUSED


def test_accounts_of_every_meter_and_one_of_them(harness: Harness, holdwatch: Command) -> None:
    money.fill_money(harness)
    rows = pages(holdwatch, "accounts", harness.url)
    assert {row["prefix"] for row in rows} == {"agentos_spend", money.BARE}
    one = holdwatch.json("accounts", harness.url, "--meter", money.BARE)["rows"]
    assert one == [row for row in rows if row["prefix"] == money.BARE]
    found = holdwatch.json("account", harness.url, rows[0]["account_id"], "--meter", rows[0]["prefix"])
    assert found["periods"][0]["allowance"] == rows[0]["allowance"]
    meters = holdwatch.json("accounts", harness.url, "--meters")["rows"]
    assert [(row["prefix"], row["fences"]) for row in meters] == [
        ("agentos_spend", True),
        (money.BARE, False),
    ]
    said = holdwatch("account", harness.url, rows[0]["account_id"], "--meter", rows[0]["prefix"])
    assert said.code == Exit.OK
    assert "PERIODS" in said.out
    assert holdwatch("accounts", harness.url, "--meters").code == Exit.OK
    refused = holdwatch("account", harness.url, "nobody")
    assert (refused.code, refused.out) == (Exit.REFUSED, "")
    assert holdwatch("accounts", harness.url, "--meters", "--meter", "x").code == Exit.USAGE


def test_days_and_a_cap_that_is_given(harness: Harness, holdwatch: Command) -> None:
    kept = hold(harness)
    hold(harness)
    harness.store.days.release(kept, 100_000, T0)
    day = T0.date().isoformat()
    (row,) = holdwatch.json("days", harness.url)["rows"]
    assert row == {
        "day": day,
        "reserved_micro": 300_000,
        "settled_micro": 100_000,
        "committed_micro": 400_000,
    }
    (capped,) = holdwatch.json("days", harness.url, "--cap", "0.5", "--since", day, "--until", day)["rows"]
    assert (capped["cap_micro"], capped["percent"]) == (500_000, 80)
    assert holdwatch.json("days", harness.url, "--until", "2001-01-01")["rows"] == []
    found = holdwatch.json("day", harness.url, day)
    assert (found["row"]["committed_micro"], found["open"]["count"]) == (400_000, 1)
    said = holdwatch("day", harness.url, day, "--cap", "0.5")
    assert "0.400000 USD" in said.out
    assert "80%" in said.out
    assert "80%" in holdwatch("days", harness.url, "--cap", "0.5").out
    assert "%" not in holdwatch("days", harness.url).out
    assert holdwatch("day", harness.url).code == Exit.OK
    assert holdwatch("day", harness.url, "today").code == Exit.REFUSED
    assert holdwatch("days", harness.url, "--cap", "1e3").code == Exit.USAGE


def test_a_fence_that_a_resolver_defers_keeps_every_digit(harness: Harness, holdwatch: Command) -> None:
    hold(harness, require_fence=True)
    harness.store.days.sweep(T0, lambda asked: Deferred(T0.replace(year=2100), {"micro": BIG}))
    said = holdwatch("fences", harness.url, "--json")
    assert f'"evidence":{{"micro":{BIG}}}' in said.out.replace(": ", ":")
    assert said.out.isascii()
    assert json.loads(said.out)["rows"][0]["row"]["deferrals"] == 1


def test_the_console_takes_a_cap_before_it_needs_a_terminal(harness: Harness, holdwatch: Command) -> None:
    said = holdwatch("console", harness.url, "--cap", "lots")
    assert said.code == Exit.USAGE
    assert "lots" in said.err
