"""What operators did: the list, its filters, one operation, the history of an object, and what has no known end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console import audit_filters
from console.acting.decisions import decisions_of, lines_of
from console.acting.model import Order, Outcome, Person, Route
from console.acting.records import AuditQuery
from console.acting.sending import SETTLED_SECONDS
from console.commands import OpenOperation, ShowList, parse
from console.filter_words import FilterError
from console.model import GatewayError
from console.money_words import Address, Kind
from console.screens.audit import AuditScreen
from console.screens.confirm import ConfirmScreen
from console.screens.entry import EntryScreen
from console.screens.unknown import UnknownScreen
from console.widgets.listing import Listing
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing, audit_row
from tests.console.fake_moment import T0
from tests.console.raw_output import taped
from tests.console.test_acting_window import Time, turned_on
from tests.console.test_pilot import banner, said
from tests.console.waiting import asks, ready, refreshed, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.acting.records import AuditRow
    from console.app import HoldwatchApp

ME = "mk@bastion-2"
CUT = GatewayError("the connection died", code="commit_unknown", retryable=False)
SHA = "9f2c" * 16


def resolution() -> tuple[AuditRow, AuditRow]:
    """Intent and result of a decision, with evidence."""
    evidence = {
        "kind": "provider_console",
        "reference": "req_1",
        "shows": "not_spent",
        "file": {"name": "usage.csv", "sha256": SHA, "size": 3_114},
    }
    body: dict[str, object] = {
        "deed": "resolve",
        "actor": {"user": "mk", "host": "bastion-2", "tool": "holdwatch 1.0", "role": "ops_rw"},
        "reason": "INC-2291 [red]never ran[/]",
        "command": "holdwatch resolve ledger day:res_7f3a --released",
        "answer": {"answer": "released"},
        "evidence": [evidence],
    }
    intent = audit_row(
        41, deed="resolve", object_kind="reservation", object_id="day:res_7f3a", operation="op_9c41",
        phase="intent", actor=ME, reason=body["reason"], body=body,
    )  # fmt: skip
    result = {
        **body,
        "status": "resolved",
        "before": {"state": "reserved", "micro": 300_000, "deferrals": 2},
        "after": {"state": "released", "micro": 300_000, "deferrals": 2},
    }
    return intent, replace(intent, seq=42, phase="result", body=result, hash="b" * 64, prev_hash="a" * 64)


def store() -> FakeGateway:
    """Forty entries, and a decision."""
    gateway = FakeGateway()
    gateway.entries = [*(audit_row(seq) for seq in range(1, 41)), *resolution()]
    return gateway


def play(
    scene: Callable[[Pilot[None], HoldwatchApp], Awaitable[None]],
    gateway: FakeGateway | None = None,
    *,
    acting: FakeActing | None = None,
    size: tuple[int, int] = (120, 40),
) -> None:
    """A scene on a console of mk's."""
    app = make_app(gateway or store())
    app.session.person, app.session.acting = Person("mk", "bastion-2"), acting

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await ready(pilot)
            await scene(pilot, app)

    asyncio.run(run())


def rows(app: HoldwatchApp) -> list[AuditRow]:
    """What the list in front holds."""
    listing = app.screen.query_one("#list", Listing)
    return list(listing.window.rows)


async def shown(pilot: Pilot[None], app: HoldwatchApp, kind: type) -> None:
    """Wait until such a screen is in front, and has read."""
    await until(pilot, lambda: isinstance(app.screen, kind))
    await ready(pilot)


def commanded(app: HoldwatchApp, line: str) -> None:
    """What a command line does."""
    app.carry_out(parse(line))


def test_report_102_the_audit_is_a_list_newest_first_with_ones_own_by_a_word() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        await pilot.press("7")
        await shown(pilot, app, AuditScreen)
        assert [row.seq for row in rows(app)[:3]] == [42, 41, 40]
        screen = app.screen
        assert isinstance(screen, AuditScreen)
        screen.narrow("mine")
        await ready(pilot)
        assert {row.actor for row in rows(app)} == {ME}
        screen.narrow("!actor:mk@bastion-2")
        await ready(pilot)
        assert {row.actor for row in rows(app)} == {"jo@laptop"}
        assert screen.address_text().startswith("audit !actor:mk@bastion-2 ")

    play(scene)


def test_enter_shows_intent_and_result_beside_each_other_with_difference_and_evidence() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        await pilot.press("7")
        await shown(pilot, app, AuditScreen)
        await pilot.press("enter")
        await shown(pilot, app, EntryScreen)
        head = app.screen.query_one("#head", Pane).text
        story = app.screen.query_one("#story", Pane).text
        assert "reservation day:res_7f3a" in head
        for word in ("mk", "bastion-2", "ops_rw", "holdwatch 1.0", "# resolved"):
            assert word in head
        for word in (SHA, "3114 bytes", "reserved > released", "INC-2291 [red]never ran[/]", "answer.answer"):
            assert word in story
        assert "reserved > reserved" not in story
        assert f"{41:064x}"[:20] in story
        screen = app.screen
        assert isinstance(screen, EntryScreen)
        assert screen.copyable() == "holdwatch resolve ledger day:res_7f3a --released"
        assert parse(screen.address_text()) == OpenOperation("op_9c41")
        await pilot.press("a")
        await shown(pilot, app, AuditScreen)
        assert app.screen.filter == "reservation:day:res_7f3a"  # type: ignore[attr-defined]
        await until(pilot, lambda: [row.seq for row in rows(app)] == [42, 41])

    play(scene)


def test_f5_f_a_correction_and_what_it_corrects_are_told_both_ways() -> None:
    gateway = store()
    later = [
        replace(row, seq=row.seq + 2, operation="op_late", body={**row.body, "corrects": "op_9c41"})
        for row in resolution()
    ]
    gateway.entries += later

    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        commanded(app, "operation op_9c41")
        await shown(pilot, app, EntryScreen)
        story = app.screen.query_one("#story", Pane)
        assert "corrected by  op_late" in story.text
        assert "corrects  " not in story.text
        commanded(app, "operation op_late")
        await until(pilot, lambda: app.screen.query_one("#story", Pane) is not story)
        await ready(pilot)
        assert "corrects  op_9c41" in app.screen.query_one("#story", Pane).text
        assert "corrected by" not in app.screen.query_one("#story", Pane).text

    play(scene, gateway)
    told = decisions_of(gateway.entries[::-1][:4])
    text = "".join(cell.text for line in lines_of(told, 100) for cell in line)
    assert ("corrects op_9c41" in text, "corrected by op_late" in text) == (True, True)


def test_an_intent_without_a_result_says_that_nobody_wrote_down_the_end() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        commanded(app, "operation op_lost")
        await shown(pilot, app, EntryScreen)
        assert "its end was not told" in app.screen.query_one("#head", Pane).text
        commanded(app, "operation op_none")
        await until(pilot, lambda: "no entry of this operation" in said(pilot))

    gateway = store()
    gateway.entries.append(audit_row(43, operation="op_lost"))
    play(scene, gateway, size=(80, 24))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_both_sizes_show_every_entry_without_a_fault(size: tuple[int, int]) -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        commanded(app, "audit thread:thr_0003")
        await shown(pilot, app, AuditScreen)
        await until(pilot, lambda: [row.seq for row in rows(app)] == [6, 5])
        await pilot.press("enter")
        await shown(pilot, app, EntryScreen)
        assert "INTENT" in app.screen.query_one("#story", Pane).text

    play(scene, size=size)


def test_a_on_a_row_shows_what_was_done_to_it() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        thread = app.screen.query_one("#list", Listing).target
        await pilot.press("a")
        await shown(pilot, app, AuditScreen)
        assert app.screen.filter == f"thread:{thread}"  # type: ignore[attr-defined]
        await until(pilot, lambda: "0 rows" in app.screen.query_one("#list", Listing).empty)
        await pilot.press("escape", "3")
        await ready(pilot)
        row = app.screen.query_one("#list", Listing).target_row
        assert row is not None
        expected = audit_filters.of_reservation(row.address)
        await pilot.press("a")
        if expected is None:
            assert "the audit knows nothing of this" in said(pilot)
        else:
            await until(pilot, lambda: getattr(app.screen, "filter", "") == expected)

    play(scene)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", AuditQuery()),
        ("mine", AuditQuery(actor=ME)),
        ("actor:jo@laptop", AuditQuery(actor="jo@laptop")),
        ("thread:t", AuditQuery("thread", "t", other_kind="claim")),
        ("claim:t", AuditQuery("claim", "t")),
        ("reservation:meter:calls_:op-1", AuditQuery("reservation", "meter:calls_:op-1")),
        ('job:"a b" mine', AuditQuery("job", "a b", ME)),
        ("plan:pln_1", AuditQuery("plan", "pln_1")),
        ("op:op_1", AuditQuery(operation="op_1")),
        ("unfinished mine", AuditQuery(actor=ME, unfinished=True)),
    ],
)
def test_filters_of_the_audit(text: str, query: AuditQuery) -> None:
    assert audit_filters.audit(text, ME) == query


@pytest.mark.parametrize("text", ["unfinished thread:t", "thread:a claim:b", "actor:", "who:me", "thread"])
def test_filters_that_mean_nothing(text: str) -> None:
    with pytest.raises(FilterError):
        audit_filters.audit(text, ME)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (Address(Kind.DAY, "", "res 1"), 'reservation:"day:res 1"'),
        (Address(Kind.METER, "calls_", "op-1"), "reservation:meter:calls_:op-1"),
        (Address(Kind.TENTATIVE, "orders", "1"), None),
    ],
)
def test_the_history_of_a_reservation_goes_by_the_engines_name(address: Address, text: str | None) -> None:
    found = audit_filters.of_reservation(address)
    assert found == text
    if found is not None:
        name = f"{address.kind}:{address.source + ':' if address.source else ''}{address.id}"
        assert audit_filters.audit(found, ME) == AuditQuery("reservation", name)
        assert parse(f"audit {found}") == ShowList("audit", found)


EVIL = "evil\x1b]52;c;eA==\x07[/]\u202e\x9b31m"


def test_hostile_text_in_any_field_of_an_entry_is_only_text(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = taped(monkeypatch)
    intent, result = resolution()
    body = {
        **result.body,
        "reason": EVIL,
        "command": EVIL,
        EVIL: {EVIL: EVIL},
        "evidence": [{EVIL: EVIL}, EVIL],
    }
    body |= {"before": {EVIL: EVIL}, "actor": {"user": EVIL, "host": EVIL}, "status": EVIL}
    evil = {"body": body, "reason": EVIL, "deed": EVIL, "route": EVIL, "object_id": EVIL, "hash": EVIL}
    gateway = store()
    gateway.entries += [
        replace(result, seq=44, operation="op_evil", **evil),  # type: ignore[arg-type]
        left_open(45, reason=EVIL, object_id=EVIL, deed=EVIL, body=body),
    ]

    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        for line in ("audit op:op_evil", "operation op_evil", "operation op_open_45"):
            commanded(app, line)
            await pilot.pause()
            await ready(pilot)
            assert "evil" in screen_text(app)
        await pilot.press("u")
        await shown(pilot, app, UnknownScreen)
        assert "evil" in screen_text(app)

    play(scene, gateway)
    assert intent.seq == 41
    assert tape.strange() == set()


# What has no known end


def lost(app: HoldwatchApp, what: str = "execute pln_1") -> Order:
    """An order whose answer is lost, as a screen would send it."""
    order = Order(what, "INC-1", Route.KEY, "holdwatch execute pln_1")

    def call() -> None:
        raise CUT

    async def send() -> None:
        with pytest.raises(GatewayError, match="UNKNOWN"):
            await app.session.sending.send(order, call)

    app.run_worker(send(), exit_on_error=False)
    return order


def test_an_unknown_outcome_is_counted_above_all_and_told_once_it_is_known() -> None:
    time = [1_000.0]

    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        app.session.monotonic = lambda: time[0]
        order = lost(app)
        await until(pilot, lambda: "1 operation has UNKNOWN outcome: u" in banner(pilot))
        await pilot.press("u")
        await shown(pilot, app, UnknownScreen)
        assert "? UNKNOWN" in screen_text(app)
        gateway = app.session.gateway
        assert isinstance(gateway, FakeGateway)
        gateway.outcomes[order.operation] = Outcome(order.operation, "delete plan", ME, T0, "job job_1")
        await refreshed(pilot)
        await until(pilot, lambda: "# applied" in screen_text(app))
        assert f"applied: execute pln_1 ({order.operation}): job job_1" in said(pilot)
        assert banner(pilot) == ""

    play(scene)


def test_what_never_reached_the_store_is_told_when_it_answers_again() -> None:
    time = [1_000.0]
    gateway = store()

    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        app.session.monotonic = lambda: time[0]
        gateway.down = GatewayError("gone", code="store_failure", retryable=True)
        await pilot.press("r")
        lost(app)
        await until(pilot, lambda: "UNKNOWN outcome: u" in banner(pilot))
        assert "the data below is OLD" in banner(pilot)
        time[0] += SETTLED_SECONDS + 1
        gateway.down = None
        await pilot.press("r")
        await until(pilot, lambda: "not applied: execute pln_1" in said(pilot))
        assert "UNKNOWN" not in banner(pilot)

    play(scene, gateway, size=(80, 24))


def screen_text(app: HoldwatchApp) -> str:
    """All lines of the screen in front."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def left_open(seq: int, **more: object) -> AuditRow:
    """An intent that nobody told the end of."""
    return audit_row(seq, operation=f"op_open_{seq}", phase="intent", actor=ME, **more)


def test_the_start_tells_of_intents_that_were_left_open_once_and_u_lists_them() -> None:
    gateway = store()
    gateway.entries += [
        left_open(101),
        left_open(102, deed="read-write window", object_kind="store"),
        left_open(103, object_kind="job", object_id="op_open_103"),
        left_open(104, at=T0 - timedelta(days=8)),
        audit_row(105, operation="op_of_jo", phase="intent", actor="jo@laptop"),
    ]

    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        await until(pilot, lambda: "1 change of yours was begun" in said(pilot))
        await pilot.press("u")
        await shown(pilot, app, UnknownScreen)
        assert [row.operation for row in rows(app)] == [f"op_open_{n}" for n in (104, 103, 102, 101)]
        assert "4 open intents of mk@bastion-2" in screen_text(app)
        await pilot.press("G")
        await until(pilot, lambda: "it has no effect in the store" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, UnknownScreen))
        await refreshed(pilot)
        assert "change of yours" not in screen_text(app)

    play(scene, gateway, acting=FakeActing())


def test_a_console_that_only_looks_asks_for_no_open_intents() -> None:
    gateway = store()
    gateway.entries.append(left_open(101))

    async def scene(pilot: Pilot[None], _app: HoldwatchApp) -> None:
        await refreshed(pilot)
        assert "change of yours" not in said(pilot)

    play(scene, gateway)


def test_an_open_intent_is_closed_in_the_name_of_who_looked_and_leaves_the_list() -> None:
    gateway, acting, time = store(), FakeActing(), Time()
    gateway.entries.append(left_open(101))

    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        app.session.monotonic = app.session.window.monotonic = time
        await until(pilot, lambda: "1 change of yours was begun" in said(pilot))
        await pilot.press("u")
        await shown(pilot, app, UnknownScreen)
        await until(pilot, lambda: [row.operation for row in rows(app)] == ["op_open_101"])
        await pilot.press("F")
        await until(pilot, lambda: "read-only" in said(pilot))
        await turned_on(pilot, app, time)
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
        time.now += 1
        gateway.entries.append(audit_row(102, operation="op_open_101", phase="result", actor=ME))
        await pilot.press("y")
        await until(pilot, lambda: "op_open_101 is closed: refused not applied" in said(pilot))
        await until(pilot, lambda: rows(app) == [])

    play(scene, gateway, acting=acting)
    (name, operation, order) = next(call for call in acting.changes if call[0] == "close_intent")
    assert isinstance(order, Order)
    assert (name, operation, order.reason) == ("close_intent", "op_open_101", "INC")
    assert "outcome" in order.command
    assert order.command.endswith("op_open_101 --close --reason INC")
