"""The screens of money driven by keys: reservations, fences, budgets, one reservation, a thread's holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from console.money_words import Address, HoldState, Kind
from console.screens.budgets import BudgetsScreen
from console.screens.fences import FencesScreen
from console.screens.reservation import ReservationScreen
from console.screens.reservations import ReservationsScreen
from console.screens.thread import ThreadScreen
from console.widgets.band import Band
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway
from tests.console.fake_money import day_reservation
from tests.console.test_pilot import drive, said
from tests.console.test_pilot_lists import command, crumbs, current, ids, listed, pane, thread
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.pilot import Pilot

    from console.money_model import ReservationRow


def reservation(pilot: Pilot[None]) -> ReservationScreen:
    """The screen in front, which is about one reservation."""
    screen = pilot.app.screen
    assert isinstance(screen, ReservationScreen)
    return screen


def story(pilot: Pilot[None]) -> str:
    """All that the screen of a reservation says below its head."""
    return reservation(pilot).query_one("#story", Pane).text


def totals(pilot: Pilot[None]) -> str:
    """The line with the totals."""
    return pilot.app.screen.query_one("#totals", Band).text


def test_reservations_of_all_kinds_stand_in_one_list_below_their_totals() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("3")
        assert isinstance(await ready(pilot), ReservationsScreen)
        rows = listed(pilot).main_widget().window.rows
        assert {row.address.kind for row in rows} == set(Kind)
        await until(pilot, lambda: "open" in totals(pilot))
        for state in (HoldState.OPEN, HoldState.EXPIRED, HoldState.FENCED, HoldState.DUE):
            assert f"{sum(row.state is state for row in rows)} {state}" in totals(pilot)
        assert "days hold 86.100066 USD" in totals(pilot)
        await until(pilot, lambda: "BY DEFAULT" in pane(pilot))
        await pilot.press("slash", *"state:due", "enter")
        await until(pilot, lambda: len(ids(pilot)) == 4)
        assert "86.100066" in totals(pilot), "the totals are of the store, not of the filter"
        await until(pilot, lambda: "rows 1-4 of 4" in crumbs(pilot))

    drive(scene)


def test_a_reservation_opens_is_copied_and_leads_to_its_thread() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("3")
        await ready(pilot)
        row = current(pilot)
        await pilot.press("y")
        assert pilot.app.clipboard == row.address.id
        await pilot.press("enter")
        await ready(pilot)
        assert reservation(pilot).address == row.address
        assert "WHAT A PASS WITHOUT A RESOLVER DOES" in story(pilot)
        assert "GUARD" in story(pilot)
        await pilot.press("Y")
        assert pilot.app.clipboard == f"reservation day - {row.address.id}"
        await pilot.press("o")
        await ready(pilot)
        assert thread(pilot).thread == row.thread
        await pilot.press("escape", "escape")
        assert isinstance(pilot.app.screen, ReservationsScreen)
        await pilot.press("o")
        await ready(pilot)
        assert thread(pilot).thread == row.thread

    drive(scene)


def test_an_owner_that_is_not_kept_is_said() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "res kind:meter")
        await until(pilot, lambda: len(ids(pilot)) == 9)
        await pilot.press("o")
        assert "no thread is kept" in said(pilot)
        await pilot.press("enter")
        await ready(pilot)
        await pilot.press("o")
        assert "no thread is kept" in said(pilot)

    drive(scene)


def test_enter_on_a_reservation_lists_what_is_beside_it() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "reservation meter agentos_spend run-0003/call")
        assert "ACCOUNT acme, 2026-05" in story(pilot)
        assert "84%" in story(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReservationsScreen))
        await until(pilot, lambda: listed(pilot).filter == "meter:agentos_spend owner:acme")
        await until(pilot, lambda: len(ids(pilot)) == 3)

    drive(scene)


class Changing(FakeGateway):
    """A store whose first reservation a test may change or take away."""

    change: dict[str, object] = {}  # noqa: RUF012 - a test's own, set on the instance
    gone = False

    def holds(self) -> Sequence[ReservationRow]:
        """The rows as they are now."""
        first, *others = super().holds()
        return others if self.gone else [replace(first, **self.change), *others]  # type: ignore[arg-type]


def test_a_reservation_is_kept_fresh_and_said_to_be_gone() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        assert isinstance(gateway, Changing)
        await command(pilot, f"reservation day - {day_reservation(0, None).address.id}")
        assert "0.300000" in story(pilot)
        gateway.change = {"micro": 700_000}
        await refreshed(pilot)
        await until(pilot, lambda: "0.700000" in story(pilot))
        gateway.gone = True
        await refreshed(pilot)
        assert "no reservation at this address" in said(pilot)
        assert "GONE" in crumbs(pilot)

    drive(scene, Changing())


def test_fences_show_evidence_and_when_they_are_due() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("4")
        assert isinstance(await ready(pilot), FencesScreen)
        await until(pilot, lambda: "4 due  2 waiting" in crumbs(pilot))
        assert {fence.row.fenced for fence in listed(pilot).main_widget().window.rows} == {True}
        assert "evidence (" in pane(pilot)
        assert '"call": "k_55aa"' in pane(pilot)
        await pilot.press("j", "j")
        assert "it was never deferred" in pane(pilot)
        await pilot.press("k", "enter")
        await ready(pilot)
        assert reservation(pilot).address == Address(Kind.METER, "agentos_spend", "run-0001/call")
        assert "9007199254740993" in story(pilot)
        assert "LEFT ALONE" in story(pilot)

    drive(scene)


@pytest.mark.parametrize("way", [["9", "tab"], ["colon", *"days", "enter"], ["9", "slash", *"days", "enter"]])
def test_days_are_compared_with_a_cap_once_one_is_given(way: list[str]) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press(*way)
        await until(pilot, lambda: isinstance(pilot.app.screen, BudgetsScreen))
        await until(pilot, lambda: "2026-05-04" in ids(pilot))
        await until(pilot, lambda: "today 53.550001 USD committed" in crumbs(pilot))
        assert ":cap 60" in pane(pilot)
        assert "%" not in pane(pilot)
        await command(pilot, "cap 60")
        await until(pilot, lambda: "89% of the cap" in crumbs(pilot))
        await until(pilot, lambda: "89%" in pane(pilot))
        assert "60.000000 USD" in pane(pilot)
        await pilot.press("tab")
        await until(pilot, lambda: len(ids(pilot)) == 5)
        await command(pilot, "cap none")
        await until(pilot, lambda: "%" not in crumbs(pilot))

    drive(scene)


def test_a_cap_given_elsewhere_is_there_when_the_budgets_are_looked_at() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("9", "tab")
        await until(pilot, lambda: "2026-05-04" in ids(pilot))
        await pilot.press("3")
        await ready(pilot)
        await command(pilot, "cap 50")
        await pilot.press("enter")
        await ready(pilot)
        assert "107%" in story(pilot)
        await pilot.press("9")
        await until(pilot, lambda: "107%" in pane(pilot))

    drive(scene)


def test_a_cap_that_is_none_is_refused_with_the_prompt_open() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("colon", *"cap", "space", *"1e3", "enter")
        assert "1e3' is no cap" in said(pilot)
        assert listed(pilot).session.cap is None

    drive(scene)


def test_an_account_leads_to_its_reservations_and_a_window_says_why() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("9")
        assert isinstance(await ready(pilot), BudgetsScreen)
        await until(pilot, lambda: "3 open of 214 reservations hold 64 units" in pane(pilot))
        assert "other periods  2026-04" in pane(pilot)
        await pilot.press("G")
        assert "rolling window" in pane(pilot)
        await pilot.press("g", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReservationsScreen))
        await until(pilot, lambda: listed(pilot).filter == "meter:agentos_spend owner:acme")
        await until(pilot, lambda: len(ids(pilot)) == 3)

    drive(scene)


def test_a_thread_lists_what_days_hold_for_it() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("enter")
        await ready(pilot)
        assert "reservations" not in gateway.asked
        await pilot.press(*["tab"] * 7)
        assert thread(pilot).tab == "holds"
        await until(pilot, lambda: "rows 1-6 of 6" in crumbs(pilot))
        await pilot.press("j", "y")
        held = pilot.app.clipboard
        assert held.startswith("8c1f")
        await pilot.press("enter")
        await ready(pilot)
        assert reservation(pilot).address == Address(Kind.DAY, "", held)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ThreadScreen)
        assert thread(pilot).tab == "holds"
        await pilot.press("tab")
        await ready(pilot)
        gateway.asked.clear()
        await refreshed(pilot)
        assert "reservations" not in gateway.asked

    drive(scene)


@pytest.mark.parametrize(
    ("key", "word"), [("3", "nothing is reserved"), ("4", "nothing is fenced"), ("9", "no meter")]
)
def test_an_empty_list_says_what_is_missing(key: str, word: str) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press(key)
        await ready(pilot)
        assert word in listed(pilot).main_widget().empty

    drive(scene, FakeGateway(rows=[], tail=[]))
