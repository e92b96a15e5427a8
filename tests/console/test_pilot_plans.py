"""Plans in the console: made by one key, looked at, confirmed, executed as a job (console.md F1 and F4)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.events import Paste

from console.acting.deeds import Deed
from console.acting.plans import (
    DeleteWish,
    PlanItem,
    PlanState,
    ReconcileWish,
    ReleaseWish,
    Source,
    SweepPart,
    SweepWish,
)
from console.acting.resolving import Resolvable
from console.commands import OpenPlan, parse
from console.config.file import parsed
from console.contexts import Contexts
from console.model import GatewayError
from console.money_model import ReservationQuery
from console.money_words import Kind
from console.screens.menu import MenuScreen
from console.screens.plan import PlanScreen
from console.screens.plan_items import PlanItemsScreen
from console.screens.resolve import ResolveScreen
from console.screens.sweep import SweepScreen
from console.screens.threads import ThreadsScreen
from console.widgets.band import Band
from console.widgets.choice import Choice
from console.widgets.listing import Listing
from console.widgets.pane import Pane
from console.widgets.prompt import Purpose
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing, plan_view
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
from tests.console.test_acting_window import Time, play, turned_on
from tests.console.test_pilot import said
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.app import HoldwatchApp


def names(acting: FakeActing) -> list[object]:
    """What would have changed the store, by name."""
    return [call[0] for call in acting.changes]


def test_the_delete_flow_goes_by_letters_arrows_enter_and_esc_only() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        app.session.contexts = Contexts(parsed(b"[jobs]\nrate = 50\n", Path("config.toml")))
        row = store_of(app).rows[0].id
        screen = await opened(pilot, app, time)
        assert "its job: 50 items a second at most" in facts(screen)
        assert [call[:2] for call in acting.changes] == [("make_plan", DeleteWish((row,)))]
        assert "WHAT WILL BE DELETED  frozen at" in facts(screen)
        assert "F give up" in screen.query_one("#keys", Band).text
        await by_hand(pilot, time, "up", "up", *keys_of("INC 7"), "enter", *keys_of(PHRASE), "down", "down")
        assert names(acting) == ["make_plan"]
        await by_hand(pilot, time, "enter")
        await until(pilot, lambda: "execute" in names(acting))
        _, plan, order, phrase, rate = acting.changes[1]
        assert (plan, phrase, rate) == ("pln_9c41e2b0", PHRASE, 50)
        assert (order.reason, order.what) == ("INC 7", "execute delete pln_9c41e2b0")  # type: ignore[attr-defined]
        assert f"--confirm '{PHRASE}' --rate 50" in order.command  # type: ignore[attr-defined]
        await until(pilot, lambda: not isinstance(app.screen, PlanScreen))
        assert names(acting) == ["make_plan", "execute", "run_job"]

    play(acting, scene)


def test_while_changes_are_off_there_is_a_preview_that_cannot_be_executed() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("D")
        screen = await planned(pilot, app)
        await settle(pilot, time)
        assert "W turns changes on, r plans it" in told(screen)
        assert "A preview: nothing is stored" in facts(screen)
        offered = screen.query_one("#keys", Band).text
        assert "plan again" in offered
        assert "give up" not in offered, "there is nothing that could be given up"
        await meant(pilot, time)
        assert app.screen is screen
        await by_hand(pilot, time, "escape")
        assert app.screen is not screen

    play(acting, scene)
    assert acting.calls == []


def test_a_preview_becomes_a_plan_by_w_and_r_and_keeps_its_reason() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("D")
        await planned(pilot, app)
        await settle(pilot, time)
        await by_hand(pilot, time, "up", "up", *"why", "down", "down")
        await turned_on(pilot, app, time)
        await settle(pilot, time)
        await by_hand(pilot, time, "r")
        await until(pilot, lambda: "make_plan" in names(acting))
        screen = await planned(pilot, app)
        await settle(pilot, time)
        assert told(screen) == f"type {PHRASE}"

    play(acting, scene)
    assert names(acting) == ["make_plan"]


def test_nothing_of_a_burst_on_the_plan_screen_changes_the_store() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await turned_on(pilot, app, time)
        await pilot.press("D", *["enter"] * 20, *["y"] * 20, *keys_of(PHRASE))
        await pilot.press("D")
        await until(pilot, lambda: app.session.calls.running == 0)
        if isinstance(app.screen, PlanScreen):
            focused = app.focused
            assert focused is not None
            focused.post_message(Paste(PHRASE))
        for _ in range(30):
            time.now += 1 / 30
            await pilot.press("enter")
        for _ in range(30):
            time.now += 1 / 30
            await pilot.press("y")
        await pilot.pause()

    play(acting, scene)
    assert set(names(acting)) <= {"make_plan"}


def test_a_phrase_pasted_into_a_plan_does_nothing() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        await by_hand(pilot, time, "up", "up", *"why", "down")
        focused = app.focused
        assert focused is not None
        focused.post_message(Paste(PHRASE))
        await pilot.pause()
        await by_hand(pilot, time, "down", "down", "enter")
        assert told(screen) == f"type {PHRASE}"

    play(acting, scene)
    assert names(acting) == ["make_plan"]


def test_the_mouse_does_not_execute_a_plan() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await opened(pilot, app, time)
        await by_hand(pilot, time, "up", "up", *"why", "down", *keys_of(PHRASE))
        await pilot.click("#deed")
        await pilot.pause()

    play(acting, scene)
    assert names(acting) == ["make_plan"]


def test_a_plan_whose_time_is_over_is_refused_and_never_renewed() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        await by_hand(pilot, time, "up", "up", *"why", "down", *keys_of(PHRASE))
        store_of(app).planned = plan_view(as_of=T0 + timedelta(minutes=5))
        screen.do_refresh()
        await until(pilot, lambda: told(screen).startswith("expired"))
        await by_hand(pilot, time, "down", "down", "enter")
        assert "EXPIRED" in facts(screen)

    play(acting, scene)
    assert names(acting) == ["make_plan"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"state": PlanState.BLOCKED, "blockers": ("t: worker holds it",)}, "blocked: t: worker holds it"),
        ({"state": PlanState.BLOCKED, "items": 0}, "nothing here can be changed this way"),
        ({"state": PlanState.AWAITING, "needs_approval": True}, "waits for another person's approval"),
    ],
)
def test_the_deed_is_off_with_its_reason(more: dict[str, object], why: str) -> None:
    acting = FakeActing(planned=plan_view(**more))

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store_of(app).planned = acting.planned
        screen = await opened(pilot, app, time)
        assert told(screen).startswith(why)
        assert not screen.query_one("#deed", Choice).enabled
        await meant(pilot, time)

    play(acting, scene)
    assert names(acting) == ["make_plan"]


def test_another_person_approves_by_a_phrase_with_the_hash() -> None:
    view = plan_view(state=PlanState.AWAITING, needs_approval=True, actor="jo@laptop")
    acting = FakeActing(planned=view)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store_of(app).planned = view
        await turned_on(pilot, app, time)
        app.carry_out(OpenPlan("pln_9c41e2b0"))
        screen = await planned(pilot, app)
        await settle(pilot, time)
        await by_hand(pilot, time, "O")
        await until(pilot, lambda: app.screen is not screen)
        await settle(pilot, time)
        await meant(pilot, time, f"APPROVE {view.hash[:8]}", "seen")
        await until(pilot, lambda: "approve_plan" in names(acting))

    play(acting, scene)
    assert names(acting) == ["approve_plan"]


def test_nobody_approves_his_own_plan() -> None:
    view = plan_view(state=PlanState.AWAITING, needs_approval=True)
    acting = FakeActing(planned=view)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store_of(app).planned = view
        await opened(pilot, app, time)
        await by_hand(pilot, time, "O")
        await pilot.pause()
        assert "another person than mk@bastion-2" in said(pilot)

    play(acting, scene)
    assert names(acting) == ["make_plan"]


def test_a_plan_is_given_up_by_f_and_y() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        await by_hand(pilot, time, "F")
        await until(pilot, lambda: app.screen is not screen)
        await settle(pilot, time)
        await by_hand(pilot, time, "up", *"no", "down", "down", "enter")
        await until(pilot, lambda: "cancel_plan" in names(acting))

    play(acting, scene)
    assert names(acting) == ["make_plan", "cancel_plan"]


def test_a_refusal_while_planning_is_a_text_on_the_screen() -> None:
    wide = GatewayError("more than 10,000 match; narrow the filter", code="plan_refused", retryable=False)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        def refuse(*_arguments: object) -> None:
            raise wide

        app.session.gateway.preview = refuse  # type: ignore[assignment, method-assign]
        await pilot.press("D")
        await until(
            pilot, lambda: isinstance(app.screen, PlanScreen) and "narrow the filter" in facts(app.screen)
        )
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ThreadsScreen))

    play(FakeActing(), scene)


def test_v_shows_the_items_and_e_writes_them(tmp_path: Path) -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await opened(pilot, app, time)
        await by_hand(pilot, time, "v")
        await until(pilot, lambda: isinstance(app.screen, PlanItemsScreen))
        await ready(pilot)
        items = app.screen.query_one("#items", Listing).window.rows
        assert [row.id for row in items] == [
            "thr_0001",
            "thr_0002",
            "thr_0003",
        ]
        await by_hand(pilot, time, "escape")
        screen = await planned(pilot, app)
        await settle(pilot, time)
        screen.take(Purpose.EXPORT, str(tmp_path / "plan.jsonl"))
        await until(pilot, lambda: "its 3 items are in" in said(pilot))
        assert len((tmp_path / "plan.jsonl").read_text().splitlines()) == 4

    play(acting, scene)


def test_s_asks_for_a_policy_first() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, SweepScreen))
        await by_hand(
            pilot, time, "down", "5", "down", "down", "down", *"90d", "up", "up", "up", "up", "up", "enter"
        )
        await planned(pilot, app)
        wish = store_of(app).wishes[-1]
        assert isinstance(wish, SweepWish)
        assert wish.parts == {SweepPart.THREADS, SweepPart.TOMBSTONES}
        assert (wish.max_checkpoints, wish.tombstone_age.days if wish.tombstone_age else None) == (5, 90)

    play(FakeActing(), scene)


def test_r_asks_who_decides_and_plans_the_marked_rows() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("3")
        await ready(pilot)
        await by_hand(pilot, time, "space", "space", "R")
        await until(pilot, lambda: isinstance(app.screen, MenuScreen))
        assert isinstance(app.screen, MenuScreen)
        why = {entry.key: entry.why_not for entry in app.screen.entries}
        assert "[resolvers]" in why["s"]
        await by_hand(pilot, time, "s")
        assert isinstance(app.screen, MenuScreen)
        await by_hand(pilot, time, "a")
        await planned(pilot, app)
        wish = store_of(app).wishes[-1]
        assert isinstance(wish, ReconcileWish)
        assert (wish.source, len(wish.addresses)) == (Source.ASK, 2)

    play(FakeActing(), scene)


def test_r_without_marks_is_about_all_that_is_due() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("4")
        await ready(pilot)
        await by_hand(pilot, time, "R")
        await until(pilot, lambda: isinstance(app.screen, MenuScreen))
        await by_hand(pilot, time, "c")
        await planned(pilot, app)
        wish = store_of(app).wishes[-1]
        assert isinstance(wish, ReconcileWish)
        assert (wish.kinds, wish.consume, len(wish.addresses)) == (frozenset({Kind.DAY, Kind.METER}), True, 0)

    play(FakeActing(), scene)


def test_l_on_claims_and_x_offer_the_mild_way() -> None:
    view = plan_view(deed=Deed.RELEASE, items=1, rows=1, phrase="RELEASE 4005", lines=())
    acting = FakeActing(planned=view)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store_of(app).planned = view
        await pilot.press("2")
        await ready(pilot)
        thread = app.screen.main_widget().target  # type: ignore[attr-defined]
        await opened(pilot, app, time, "L")
        assert acting.changes[0][1] == ReleaseWish((thread,))

    play(acting, scene)


def test_a_plan_has_an_address() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        assert parse(screen.address_text()) == OpenPlan("pln_9c41e2b0")

    play(acting, scene)


def test_an_execution_that_is_refused_says_so_and_may_be_tried_again() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await opened(pilot, app, time)
        acting.refusal = GatewayError("plan was swept; plan again", code="plan_refused", retryable=False)
        await meant(pilot, time)
        await until(pilot, lambda: "plan was swept" in said(pilot))
        assert isinstance(app.screen, PlanScreen)
        acting.refusal = None
        await by_hand(pilot, time, "enter")
        await until(pilot, lambda: not isinstance(app.screen, PlanScreen))

    play(acting, scene)
    assert names(acting) == ["make_plan", "execute", "execute", "run_job"]


def test_a_pass_that_asks_leads_to_the_first_form() -> None:
    view = plan_view(
        deed=Deed.RECONCILE, phrase="RECONCILE 2 ON PROD", rows=2, items=2, params={"source": "ask"}
    )
    acting = FakeActing(planned=view)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        store = store_of(app)
        row = store.reservations(ReservationQuery(kind=Kind.DAY), None, 1).rows[0]
        story = store.reservation(row.address)
        assert story is not None
        store.planned, store.to_resolve = view, Resolvable(story, {}, f"day:{row.address.id}")
        store.items_planned = [PlanItem(1, "day reservation", f"day:{row.address.id}", {}, {})]
        app.session.window.open("INC")
        app.carry_out(OpenPlan("pln_9c41e2b0"))
        await planned(pilot, app)
        await settle(pilot, time)
        await meant(pilot, time, view.phrase)
        await until(pilot, lambda: isinstance(app.screen, ResolveScreen))
        form = app.screen
        assert isinstance(form, ResolveScreen)
        assert form.address == row.address

    play(acting, scene)
    assert names(acting) == ["execute", "run_job"]


def test_at_80_by_24_all_facts_are_reached_while_the_form_stays() -> None:
    app, time = make_app(FakeGateway()), Time()
    app.session.monotonic = app.session.window.monotonic = time
    app.session.acting = FakeActing()

    async def run() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            screen = await opened(pilot, app, time)
            pane = screen.query_one("#facts", Pane)
            await by_hand(pilot, time, *["pagedown"] * 4)
            assert pane.scroll_offset.y == pane.max_scroll_y > 0
            await by_hand(pilot, time, "g")
            assert pane.scroll_offset.y == 0
            await by_hand(pilot, time, "j")
            assert pane.scroll_offset.y == 1
            assert screen.query_one("#deed").region.bottom <= 24

    asyncio.run(run())
