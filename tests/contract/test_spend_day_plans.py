"""A call of the day store costs the same however many reservations there are (design rule 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.clock import to_ns
from engine.spend.day.tables import reservation, run, spend_day
from tests.support.daybooks import A0, A1, HOUR, D, operation, reserve
from tests.support.statements import plans, recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.spend import DaySpend
    from tests.support.harness import Harness

COUNT, FENCED, DUE, PAGE = 12_000, 50, 40, 20


def row(n: int) -> dict[str, Any]:
    """Most are settled; some of the open ones are fenced, some due, and some are operations."""
    open_, due = n < 4000, n < FENCED + DUE
    at = to_ns(A1) + n * 1000 + (0 if due else 48 * 3_600 * 10**9)
    leased = open_ and n % 5 == 0 and not due
    return {
        "id": f"r{n:06}",
        "day": D,
        "kind": "call",
        "micro": 10,
        "created_at": to_ns(A0),
        "expires_at": at,
        "due_at": at,
        "require_fence": open_ and n < FENCED,
        "operation_id": f"op{n:06}" if n % 5 == 0 else None,
        "recorded_micro": 5 if n % 5 == 0 else None,
        "runs": 1 if n % 5 == 0 else None,
        "lease_run": 1 if leased else None,
        "lease_until": at if leased else None,
        "settled_micro": None if open_ else 10,
        "settled_at": None if open_ else at,
    }


@pytest.fixture
def busy(harness: Harness) -> Harness:
    """Thousands of reservations, a third of them open, a few due."""
    rows = [row(n) for n in range(COUNT)]
    runs = [
        {"reservation_id": each["id"], "run": 1, "bound_micro": 5, "began_at": to_ns(A0)}
        for each in rows
        if each["runs"]
    ]
    days = [
        {"day": f"2026-{n // 28 + 1:02}-{n % 28 + 1:02}", "reserved_micro": 0, "settled_micro": 0}
        for n in range(330)
    ]
    with harness.raw() as connection:
        connection.execute(insert(spend_day), days)
        connection.execute(insert(reservation), rows)
        connection.execute(insert(run), runs)
        connection.execute(text(f"UPDATE spend_days SET reserved_micro = {10 * COUNT} WHERE day = '{D}'"))
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
    return harness


LATE = A1 + HOUR
# What is called, and how many rows of a table one of its statements may touch.
CALLS: dict[str, tuple[Callable[[DaySpend], Any], int]] = {
    "reserve": (lambda days: reserve(days, 5), 1),
    "release": (lambda days: days.release("r000060", 5, A0), 1),
    "defer": (lambda days: days.defer("r000061", LATE, {}), 1),
    "expired": (lambda days: days.expired(LATE, limit=PAGE), PAGE + 1),
    "expired after": (lambda days: days.expired(LATE, after="r000030", limit=PAGE), PAGE + 1),
    "admit": (lambda days: days.admit_operation(operation("new")), 1),
    "admit again": (lambda days: days.admit_operation(operation("op000100")), 1),
    "end_run": (lambda days: days.end_run("r000100", 1, 5, A0, True), 1),
    "renew_run": (lambda days: days.renew_run("r000100", 1, A0, LATE), 1),
    "open_operation": (lambda days: days.open_operation("op000100"), 1),
    "sweep": (lambda days: days.sweep(LATE), FENCED + DUE + 1),
    "total": (lambda days: days.total(D), 1),
}


def test_spend_a_call_touches_few_rows(busy: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, (call, most) in CALLS.items():
        with recording(monkeypatch) as ran:
            call(busy.store.days)
        planned = [each for each in ran if each.text.startswith(("SELECT", "UPDATE"))]
        assert planned, name
        for each in planned:
            for step in (step for steps in plans(busy, each) for step in steps if "spend_" in step.text):
                assert "Seq Scan" not in step.text, (name, step, each.text)
                assert not step.text.startswith("SCAN spend_"), (name, step, each.text)
                assert step.rows is None or step.rows <= most, (name, step, each.text)
