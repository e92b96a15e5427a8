"""Rows of console.md 3 and 4.2 about looking: slips, hidden marks, times of the database, what may not be read."""

from __future__ import annotations

import ast
import csv
import io
import tomllib
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from console import actions, chrome, export, filters
from console.acting.records import AuditQuery
from console.actions import Capability
from console.claims_model import ClaimQuery, HolderRow
from console.export import Form
from console.gateway import EngineGateway
from console.lists import catalogue
from console.lists.holders import COLUMNS
from console.model import NOT_ALLOWED, GatewayError, IncompleteQuery, ThreadQuery, ThreadState, TombstoneQuery
from console.refresh import Condition, Freshness
from console.screens.fences import FencesScreen
from console.widgets.columns import Scene
from engine.clock import SystemClock
from engine.desk.grants import Role
from tests.console.fake_acting import FakeActing
from tests.console.fake_moment import T0
from tests.console.plan_play import store_of
from tests.console.test_acting_window import play
from tests.console.test_gateway import work
from tests.console.test_pilot import said
from tests.console.waiting import until
from tests.contract.test_grants import as_role
from tests.support.operator import fill_claims
from tests.tidy.sources import ROOT, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

    from console.app import HoldwatchApp
    from tests.console.test_acting_window import Time
    from tests.support.harness import Harness
    from tests.tidy.sources import Source

AHEAD: Final = timedelta(hours=1)
MOST_COLUMNS: Final = 12


def test_report_02_a_slip_of_a_modifier_begins_nothing_even_while_changes_are_on() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        app.session.window.open("INC-1")
        screen = app.screen
        letters = [
            action.keys[0].lower()
            for action in actions.of(type(screen).PLACES)  # type: ignore[attr-defined]
            if action.capability is not Capability.READ
        ]
        assert {"d", "l", "s", "w"} <= set(letters)
        for letter in letters:
            for key in (letter, f"ctrl+{letter}", f"alt+{letter}", f"ctrl+shift+{letter}"):
                await pilot.press(key)
                if app.screen is not screen:
                    await pilot.press("escape")
        await until(pilot, lambda: app.session.acts.running == 0)
        assert app.session.writable

    play(acting, scene)
    assert acting.changes == []


def test_report_07_d_with_hidden_marks_plans_nothing_and_names_them() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        rows, screen = store_of(app).rows, app.screen
        await pilot.press(*["space"] * 5)
        hidden = [row.id for row in rows[:5] if row.tenant != rows[0].tenant]
        assert len(hidden) == 3
        await pilot.press("slash", *f"tenant:{rows[0].tenant}", "enter")
        await until(pilot, lambda: all(row.tenant == rows[0].tenant for row in shown(app)))
        await pilot.pause()
        await pilot.press("D")
        await until(pilot, lambda: "3 of 5 marks are hidden" in said(pilot))
        told = "".join(said(pilot).split())
        assert [each for each in hidden if each not in told] == []
        assert app.screen is screen
        assert store_of(app).wishes == []

    acting = FakeActing()
    play(acting, scene)
    assert acting.calls == []


def test_f7_while_the_store_does_not_answer_no_plan_is_begun() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        store, screen = store_of(app), app.screen
        store.down = GatewayError("gone", code="store_failure", retryable=True)
        await pilot.press("r")
        await until(pilot, lambda: screen.freshness.cause is not None)  # type: ignore[attr-defined]
        for key in ("D", "L", "S"):
            await pilot.press(key)
            await until(pilot, lambda: "changes are off until it does" in said(pilot))
            assert app.screen is screen
        assert store.wishes == []

    play(acting, scene)
    assert acting.changes == []


def shown(app: HoldwatchApp) -> tuple[Any, ...]:
    """The rows of the list in front."""
    rows: tuple[Any, ...] = app.screen.main_widget().window.rows  # type: ignore[attr-defined]
    return rows


@pytest.fixture
def door(harness: Harness) -> Iterator[EngineGateway]:
    """The gateway with the store's own clock."""
    opened = EngineGateway(harness.url)
    yield opened
    opened.close()


def test_report_73_a_csv_of_real_rows_equals_the_database_to_the_microsecond(
    harness: Harness, door: EngineGateway
) -> None:
    with harness.open(clock=None) as store:
        for name in ("a", "b", "c"):
            work(store, name)
    with harness.raw() as connection:
        kept = {
            row[0]: row[1] for row in connection.execute(text("SELECT thread_id, updated_at FROM thread"))
        }
    rows = door.threads(ThreadQuery(), None, 10).rows
    written = list(csv.DictReader(io.StringIO(export.text_of(Form.CSV, rows), newline="")))
    assert {each["id"]: micros(each["updated_at"]) for each in written} == {
        name: nanos // 1000 for name, nanos in kept.items()
    }


def micros(written: str) -> int:
    """Microseconds since 1970 of an instant as it was written, in whole numbers."""
    assert written.endswith("Z")
    return (datetime.fromisoformat(written) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_report_75_durations_are_the_databases_whatever_this_machine_s_clock_says(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_harness.open(clock=None) as store:
        work(store, "held")
    right = SystemClock.now
    monkeypatch.setattr(SystemClock, "now", lambda clock: right(clock) + AHEAD)
    door = EngineGateway(postgres_harness.url)
    found = door.threads(ThreadQuery(), None, 10)
    (row,) = found.rows
    door.close()
    assert row.lease_left is not None
    assert row.age is not None
    assert timedelta(0) < row.lease_left <= timedelta(minutes=5)
    assert timedelta(0) <= row.age < timedelta(minutes=1)
    assert found.as_of < right(SystemClock()) + AHEAD / 2


def test_report_76_who_has_been_silent_stays_listed_with_how_long() -> None:
    row = HolderRow("worker-1", 0, 1, False, T0, T0, timedelta(minutes=3))
    column = next(each for each in COLUMNS if each.title == "LAST RENEWED")
    told = [column.cell(row, Scene(T0, timedelta(seconds=more))).text for more in (0, 60, 3_600)]
    assert told == ["none for 3m", "none for 4m", "none for 1h03m"]
    assert len(set(told)) == 3


def test_report_74_a_paused_header_keeps_its_time_and_tells_its_age() -> None:
    paused = Freshness(Condition.PAUSED, 2.0, since=100.0)
    told = ["".join(cell.text for cell in chrome.freshness(paused, T0, now)) for now in (130.0, 190.0)]
    assert [each.split("as of")[1] for each in told] == [told[0].split("as of")[1]] * 2
    assert ("PAUSED 30s" in told[0], "PAUSED 1m30s" in told[1]) == (True, True)


def test_report_78_what_a_role_may_not_read_is_said_with_the_way_to_it(postgres_harness: Harness) -> None:
    as_role(postgres_harness, Role.WORKER)
    database = make_url(postgres_harness.url).database or ""
    url = make_url(postgres_harness.url).set(username=f"{Role.WORKER.value}_{database[-12:]}")
    door = EngineGateway(url.render_as_string(hide_password=False))
    with pytest.raises(GatewayError, match="permission denied for table audit") as found:
        door.audit(AuditQuery(), None, 10)
    door.close()
    assert found.value.code == NOT_ALLOWED
    assert "not allowed to this role" in found.value.message
    assert "holdwatch grants --role ops_ro" in found.value.message
    lost = Freshness(Condition.STALE, 2.0, since=100.0, cause=found.value, attempt=1)
    head, *_ = chrome.banner(lost, T0, 101.0)
    assert head.text.startswith("!! THIS ROLE MAY NOT READ THAT")


def test_report_93_the_toolkit_is_pinned_and_is_the_one_that_was_pinned() -> None:
    """A picture that changed is ours: nothing that draws it can have changed by itself."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    pinned = dict(each.split("==") for each in groups["dev"] if "==" in each)
    for name in ("textual", "pytest-textual-snapshot", "syrupy"):
        assert pinned[name] == version(name)


def test_ruling_51_stuck_is_idle_and_what_is_no_thread_has_filters_of_its_own(
    harness: Harness, door: EngineGateway
) -> None:
    fill_claims(harness)
    states = {row.state for row in door.threads(ThreadQuery(), None, 200).rows}
    stuck = {row.state for row in door.incomplete(IncompleteQuery(), None, 200).rows}
    assert stuck == {ThreadState.IDLE}
    assert states > stuck
    assert isinstance(filters.threads(filters.STUCK), IncompleteQuery)
    assert isinstance(filters.threads(filters.TOMBSTONES), TombstoneQuery)
    assert isinstance(filters.threads(filters.CLAIM_ONLY), ClaimQuery)


def test_ruling_51_a_fence_is_resolved_and_never_released() -> None:
    assert actions.BY_NAME["release"].place not in FencesScreen.PLACES
    assert actions.BY_NAME["resolve"].place in FencesScreen.PLACES


# Traps of the toolkit (4.2)

BETWEEN_CONTEXTS: Final = ("console/app.py", "context")
"""Between two contexts there is no screen to say an error on: the console ends, with a clean terminal."""


def calls(source: Source, *names: str) -> list[ast.Call]:
    """The calls of these names in a file."""
    return [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in names
    ]


def given(call: ast.Call) -> dict[str, str]:
    """Its arguments that have names, as they are written."""
    return {each.arg: ast.unparse(each.value) for each in call.keywords if each.arg}


def test_every_worker_is_of_a_named_group_and_ends_nothing_but_itself() -> None:
    seen = 0
    for source in sources("console"):
        for call in calls(source, "run_worker"):
            seen += 1
            named = given(call)
            assert named.get("group"), (source.path, call.lineno)
            if (source.path, named["group"].strip("'")) != BETWEEN_CONTEXTS:
                assert named.get("exit_on_error") == "False", (source.path, call.lineno)
    assert seen > 10


def test_no_text_of_ours_is_parsed_as_markup_and_no_field_selects_itself() -> None:
    labels = inputs = 0
    for source in sources("console"):
        for call in calls(source, "Label", "Static"):
            labels += 1
            assert given(call).get("markup") == "False", (source.path, call.lineno)
        for call in calls(source, "Input"):
            inputs += 1
            assert given(call).get("select_on_focus") == "False", (source.path, call.lineno)
        assert not calls(source, "notify"), source.path
    assert labels > 5
    assert inputs


def test_no_list_has_more_columns_than_a_table_should() -> None:
    for name, view in catalogue.views().items():
        assert 0 < len(view.columns) <= MOST_COLUMNS, name
