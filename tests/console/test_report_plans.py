"""Public accidents of other consoles with a set of rows and a key, each made impossible (console.md 3.1)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console.acting import offers
from console.acting.deeds import WORDS, Deed
from console.acting.plans import Apart, DeleteWish, PlanItem, PlanLine, PlanState, ReleaseWish
from console.actions import ACTIONS, BY_NAME, Capability, Level
from console.commands import OpenPlan, parse
from console.model import ThreadState
from console.screens.confirm import ConfirmScreen
from console.screens.job import JobScreen
from console.screens.menu import MenuScreen
from console.screens.plan import PlanScreen
from console.screens.thread import ThreadScreen
from console.widgets.choice import Choice
from console.widgets.plan_form import PlanForm
from tests.console.fake import thread_row
from tests.console.fake_acting import FakeActing, audit_row, job_row, plan_view
from tests.console.fake_moment import T0
from tests.console.plan_play import (
    PHRASE,
    by_hand,
    facts,
    keys_of,
    meant,
    opened,
    planned,
    settle,
    store_of,
    told,
)
from tests.console.test_acting_window import Time, play
from tests.console.test_pilot import said
from tests.console.waiting import asks, ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.app import HoldwatchApp

PLANNED = {Deed.DELETE: "delete", Deed.RELEASE: "release", Deed.RECONCILE: "reconcile", Deed.SWEEP: "sweep"}


def names(acting: FakeActing) -> list[object]:
    """What would have changed the store, by name."""
    return [call[0] for call in acting.changes]


def test_report_07_marks_that_a_filter_hides_block_a_delete_and_are_named() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        app.session.window.open("INC")
        await pilot.press(*["space"] * 5)
        marked = [row.id for row in store_of(app).rows[:5]]
        screen = app.screen
        screen.narrow("status:failed")  # type: ignore[attr-defined]
        await ready(pilot)
        await by_hand(pilot, time, "D")
        assert app.screen is screen
        assert "5 of 5 marks are hidden" in said(pilot)
        assert all(each in said(pilot) for each in marked)

    play(acting, scene)
    assert names(acting) == []


@pytest.mark.parametrize("action", [each for each in ACTIONS if each.capability is not Capability.READ])
def test_report_22_and_28_every_change_has_to_be_confirmed(action: object) -> None:
    assert action.level >= Level.ASK  # type: ignore[attr-defined]


def test_report_23_there_is_no_all_and_the_set_is_the_plan_shown() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        app.session.window.open("INC")
        with pytest.raises(ValueError, match="no `all`"):
            app.screen.perform("delete", "filter")  # type: ignore[attr-defined]
        app.screen.narrow("status:failed")  # type: ignore[attr-defined]
        await ready(pilot)
        app.carry_out(parse("delete filter"))
        screen = await planned(pilot, app)
        failed = tuple(row.id for row in store_of(app).rows if row.state is ThreadState.FAILED)
        assert acting.changes[0][1] == DeleteWish(failed)
        await settle(pilot, time)
        await meant(pilot, time)
        await until(pilot, lambda: "execute" in names(acting))
        assert acting.changes[1][1] == "pln_9c41e2b0"
        assert screen.made is not None

    play(acting, scene)


def test_report_25_a_refresh_at_20_hz_never_skips_the_confirmation() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        form = screen.query_one(PlanForm)

        async def refreshed(*keys: str) -> None:
            for key in keys:
                screen.do_refresh()
                time.now += 0.05
                await pilot.press(key)

        await refreshed("up", "up", *"INC", "down", *keys_of(PHRASE))
        assert screen.query_one(PlanForm) is form
        assert (form.reason, form.phrase) == ("INC", PHRASE)
        await refreshed("down", "escape")
        await pilot.pause()
        assert app.screen is not screen

    play(acting, scene)
    assert names(acting) == ["make_plan"]


def test_report_27_the_phrase_at_level_three_names_count_and_environment() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        assert acting.changes[0][2] == "ledger-prod"
        assert told(screen) == "a reason is needed"
        await meant(pilot, time, "DELETE 9562 ON STAGING")
        assert told(screen) == f"that is not {PHRASE}"

    play(acting, scene)
    assert names(acting) == ["make_plan"]


def test_report_29_what_was_done_already_is_said_and_leads_to_its_job() -> None:
    view = plan_view(state=PlanState.EXECUTED, job="job_0000")
    acting = FakeActing(planned=view)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store = store_of(app)
        store.planned, store.job_rows = view, [job_row(0)]
        store.entries = [
            audit_row(2, object_kind="plan", object_id=view.id, deed="delete", actor="jo@laptop", at=T0)
        ]
        app.session.window.open("INC")
        app.carry_out(OpenPlan("pln_9c41e2b0"))
        await until(pilot, lambda: isinstance(app.screen, PlanScreen) and app.screen.made is not None)
        screen = app.screen
        assert isinstance(screen, PlanScreen)
        await until(pilot, lambda: "ALREADY DONE by jo@laptop at 2026-05-04 14:03" in facts(screen))
        assert not screen.query(PlanForm)
        await by_hand(pilot, time, "enter")
        await until(pilot, lambda: isinstance(app.screen, JobScreen))

    play(acting, scene)
    assert names(acting) == []


def test_report_30_a_plan_is_the_same_by_whatever_way_one_comes_back() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        await by_hand(pilot, time, "up", "up", *"why", "down", *keys_of("DELETE"), "down")
        await by_hand(pilot, time, "3", "1")
        await until(pilot, lambda: app.screen is screen)
        for key in ("question_mark", "v", "colon"):
            await settle(pilot, time)
            await by_hand(pilot, time, key)
            await until(pilot, lambda: app.screen is not screen or key == "colon")  # noqa: B023 - at once
            await by_hand(pilot, time, "escape")
            await until(pilot, lambda: app.screen is screen)
        assert screen.address_text() == "plan pln_9c41e2b0"
        assert screen.query_one(PlanForm).phrase == ""
        await settle(pilot, time)
        await by_hand(pilot, time, "escape")
        await until(
            pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app)
        )  # a reason stands there
        await settle(pilot, time)
        await by_hand(pilot, time, "y")
        await until(pilot, lambda: not isinstance(app.screen, ConfirmScreen | PlanScreen))
        app.carry_out(parse("plan pln_9c41e2b0"))
        again = await planned(pilot, app)
        assert again.made is not None
        assert again.made.view.id == "pln_9c41e2b0"

    play(acting, scene)
    assert names(acting) == ["make_plan"]


def test_report_31_and_33_rows_that_do_not_apply_stand_apart_with_their_reason() -> None:
    view = plan_view(
        state=PlanState.BLOCKED,
        items=0,
        rows=0,
        lines=(),
        apart=(Apart("thr_done", "already gone"), Apart("thr_x", "has a child that stays")),
        apart_count=2,
    )
    acting = FakeActing(planned=view)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store_of(app).planned = view
        screen = await opened(pilot, app, time)
        assert "NOT APPLICABLE (2)" in facts(screen)
        assert "thr_done  already gone" in facts(screen)
        assert not screen.query_one("#deed", Choice).enabled

    play(acting, scene)
    held = next(row for row in map(thread_row, range(40)) if row.holder is None)
    entries = {entry.key: entry for entry in offers.of_row(held, "")}
    assert entries["L"].why_not == "nobody holds it"


@pytest.mark.parametrize("deed", list(PLANNED))
def test_report_35_label_help_title_and_audit_verb_are_of_one_place(deed: Deed) -> None:
    action, words = BY_NAME[PLANNED[deed]], WORDS[deed]
    assert (action.label, action.help) == (deed.value, words.help)
    assert words.title.split()[0].lower() == deed.value == words.verb.lower()
    assert words.help.split()[0].lower() == deed.value


def test_report_36_the_mild_way_is_offered_first() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await by_hand(pilot, time, "x")
        await until(pilot, lambda: isinstance(app.screen, MenuScreen))
        assert isinstance(app.screen, MenuScreen)
        labels = [entry.label for entry in app.screen.entries]
        assert labels == ["release", "delete", "release (filter)", "delete (filter)"]
        why = {entry.key: entry.why_not for entry in app.screen.entries}
        assert "L releases its claim first" in why["D"]
        assert "no filter" in why["d"]
        await by_hand(pilot, time, "D")
        assert isinstance(app.screen, MenuScreen)
        await by_hand(pilot, time, "L")
        await planned(pilot, app)
        assert store_of(app).wishes[-1] == ReleaseWish((store_of(app).rows[0].id,))

    play(FakeActing(), scene)


def test_report_39_a_release_says_whose_claim_it_breaks_and_whether_it_is_ones_own() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store = store_of(app)
        thread = store.rows[0].id
        item = PlanItem(1, "claim", thread, {"token": 4000}, {"holder": "worker-00"})
        store.planned = plan_view(
            deed=Deed.RELEASE, items=1, rows=1, phrase="RELEASE 4000", preview_items=(item,)
        )
        await by_hand(pilot, time, "L")
        screen = await planned(pilot, app)
        text = facts(screen)
        assert "WHOSE CLAIM" in text
        for word in (
            "worker-00",
            "granted",
            "renewed",
            "expires",
            "is it you?  it names neither mk nor bastion-2",
        ):
            assert word in text
        assert screen.query_one(PlanForm).missing.startswith("a preview changes nothing")

    play(FakeActing(), scene)


def test_report_41_a_claim_that_blocks_is_released_from_where_it_is_told() -> None:
    blocked = plan_view(state=PlanState.BLOCKED, blockers=("thr_0001: worker-3 holds it, token 7",))
    acting = FakeActing(planned=blocked)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store = store_of(app)
        store.planned = blocked
        store.items_planned[0] = replace(store.items_planned[0], guard={"token": 7})
        screen = await opened(pilot, app, time)
        assert "L plans the release of these claims" in facts(screen)
        await by_hand(pilot, time, "L")
        await until(pilot, lambda: names(acting) == ["make_plan", "make_plan"])
        assert acting.changes[1][1] == ReleaseWish(("thr_0001",))

    play(acting, scene)


def test_report_41_a_thread_s_own_screen_releases_its_claim() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        thread = store_of(app).rows[0].id
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ThreadScreen))
        await ready(pilot)
        await opened(pilot, app, time, "L")
        assert acting.changes[0][1] == ReleaseWish((thread,))

    play(acting, scene)


def test_report_44_a_count_that_failed_leaves_the_plan_usable() -> None:
    lines = (PlanLine("thread", 3, 12_288, ""), PlanLine("event", None, None, "could not be counted in time"))
    view = plan_view(lines=lines, bytes=None, warnings=("rows of kind event could not be counted in time",))
    acting = FakeActing(planned=view)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store_of(app).planned = view
        screen = await opened(pilot, app, time)
        assert "could not be counted in time" in facts(screen)
        assert " ?" in next(line for line in facts(screen).splitlines() if line.startswith(" event "))
        await meant(pilot, time)
        await until(pilot, lambda: "execute" in names(acting))

    play(acting, scene)


def test_the_time_left_is_the_stores_and_goes_on_between_two_answers() -> None:
    acting = FakeActing(planned=plan_view(as_of=T0 + timedelta(seconds=21)))

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store_of(app).planned = acting.planned
        screen = await opened(pilot, app, time)
        await by_hand(pilot, time, "p")
        time.now += 9
        screen.update_lines()
        right = "".join(cell.text for cell in screen.crumbs()[1])
        assert "age 30s" in right or "age 31s" in right
        assert "left 4m2" in right or "left 4m30s" in right

    play(acting, scene)
