"""What plans are made and listed with goes by an index, whatever the store holds besides (console.md F6, row 66)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.checkpoints.tables import event
from engine.clock import to_ns
from engine.desk.money_views import ReservationKind
from engine.desk.plans import AnswerSource, Reach, ReconcileAsked, items_of, preview_delete, preview_reconcile
from engine.desk.plans.made import NEVER
from engine.desk.tables import plan, plan_item
from engine.spend.day.tables import reservation
from tests.conftest import BOTH
from tests.support import crowd
from tests.support.builders import T0
from tests.support.cascades import grow
from tests.support.harness import Harness
from tests.support.planning import Planner
from tests.support.statements import plans, recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.plans import Step

PLANS = 3_000
ITEMS = 6_000
OPEN = 6_000
PAGE = 20


@pytest.fixture(scope="module", params=BOTH)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """Many plans of which one has many items, many threads below others, many reservations."""
    storage = request.getfixturevalue("sqlite_storage" if request.param == "sqlite" else "postgres_storage")
    harness = Harness(storage, tmp_path_factory.mktemp("plans"))
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]), NEVER)
    with harness.raw() as connection:
        row = dict(connection.execute(text("SELECT * FROM plan")).mappings().one())
        item = dict(connection.execute(text("SELECT * FROM plan_item WHERE n = 1")).mappings().one())
        copies = [row | {"plan_id": f"pln_{n}", "created_at": to_ns(T0) - n} for n in range(PLANS)]
        connection.execute(insert(plan), copies)
        connection.execute(insert(plan_item), [item | {"n": n} for n in range(5, ITEMS)])
        connection.execute(insert(plan_item), [item | {"plan_id": f"pln_{n}"} for n in range(PLANS)])
        crowd.threads(connection, "t", OPEN, parent="elsewhere")
        crowd.checkpoints(connection, "elsewhere", OPEN, each=10)
        connection.execute(insert(event), [_event(n) for n in range(OPEN)])
        connection.execute(insert(reservation), [_reservation(n) for n in range(OPEN)])
        connection.execute(text("ANALYZE"))
    harness.plan_id = made.plan_id  # type: ignore[attr-defined]
    yield harness
    harness.close()


def _event(n: int) -> dict[str, Any]:
    return {
        "thread_id": "elsewhere",
        "seq": n + 1,
        "kind": "k",
        "run_id": "run",
        "committed_at": to_ns(T0),
        "token": 1,
        "payload": "{}",
    }


def _reservation(n: int) -> dict[str, Any]:
    due = to_ns(T0) + (n - OPEN // 2) * 1_000_000_000
    return {
        "id": f"r{n:05}",
        "day": "2026-10-09",
        "kind": "k",
        "micro": 1,
        "created_at": to_ns(T0),
        "expires_at": due,
        "due_at": due,
        "require_fence": n % 2 == 0,
        "deferrals": 0,
    }


def check(found: list[Step], table: str, index: tuple[str, ...], most: int) -> None:
    """Every read of the table is a search in one of these indexes, and together they touch so many rows."""
    read = [step for step in found if f" {table} " in f"{step.text} " and "Bitmap Index" not in step.text]
    for step in read:
        assert any(name in step.text for name in index), found
        assert step.text.startswith(("SEARCH", "Index", "SCAN plan USING INDEX")), found
    assert sum(step.rows or 0 for step in read) <= most, found


def ran_for(
    large: Harness, patch: pytest.MonkeyPatch, call: Callable[[], object], table: str
) -> list[list[Step]]:
    """The plans of each statement about the table that a call runs."""
    with recording(patch) as seen:
        call()
    about = [ran for ran in seen if f"FROM {table}" in ran.text]
    assert about
    return [found for ran in about for found in plans(large, ran)]


def keys(large: Harness, table: str) -> str:
    """The name of a table's primary key."""
    return f"{table}_pkey" if large.kind == "postgresql" else f"sqlite_autoindex_{table}_1"


def test_a_page_of_plans_goes_by_time(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    planner = Planner(large.store)
    middle = planner.plans(limit=200).next
    for after in (None, middle):
        for found in ran_for(large, monkeypatch, partial(planner.plans, after, PAGE), "plan"):
            check(found, "plan", ("plan_by_time",), PAGE + 1)
            check(found, "plan_item", (keys(large, "plan_item"),), 2 * (PAGE + 1))
            assert not [step for step in found if "Sort" in step.text or "TEMP B-TREE" in step.text], found


def test_a_page_of_items_goes_by_number(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    planner, plan_id = Planner(large.store), large.plan_id  # type: ignore[attr-defined]
    call = partial(planner.store._transactions.single, "test", items_of, plan_id, ITEMS // 2, PAGE)
    for found in ran_for(large, monkeypatch, call, "plan_item"):
        check(found, "plan_item", (keys(large, "plan_item"),), PAGE)


def test_a_tree_is_looked_for_by_parent(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    planner = Planner(large.store)
    call = partial(planner.look, preview_delete, ["p"], Reach.TREE)
    for table, index in (
        ("thread", ("thread_by_parent", keys(large, "thread"))),
        ("checkpoint", ("checkpoint",)),
        ("event", ("event",)),
        ("spend_day_reservations", ("spend_day_by_thread",)),
    ):
        for found in ran_for(large, monkeypatch, call, table):
            check(found, table, index, 10)


@pytest.mark.parametrize("source", [AnswerSource.ASK, AnswerSource.DEFAULT])
def test_due_rows_are_read_in_their_order(
    large: Harness, monkeypatch: pytest.MonkeyPatch, source: AnswerSource
) -> None:
    asked = ReconcileAsked(source, frozenset({ReservationKind.DAY}))
    planner = Planner(large.store)
    call = partial(planner.look, preview_reconcile, asked)
    for found in ran_for(large, monkeypatch, call, "spend_day_reservations"):
        check(found, "spend_day_reservations", ("spend_day_due", "spend_day_fenced"), OPEN // 2 + 1)
