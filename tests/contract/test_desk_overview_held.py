"""The money that a page of threads holds: against the stored rows, and no further than its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.desk import HeldMoney
from engine.desk.held import MAX_HELD
from engine.errors import ValidationError
from engine.spend.day.tables import reservation
from tests.support.builders import T0, TTL
from tests.support.money import NOW, day_values, fill_money, kept
from tests.support.statements import plans, recording

if TYPE_CHECKING:
    from tests.support.harness import Harness

NOTHING = HeldMoney(0, 0, 0)
IDS = 200
THREADS = 5_000


def test_what_open_reservations_hold(harness: Harness) -> None:
    fill_money(harness)
    rows = [each.row for each in kept(harness) if each.kind == "day"]
    names = ("thread-0", "thread-1", "thread-2", "nobody")
    found = harness.store.desk.held(names)
    assert tuple(found) == names
    for name in names:
        mine = [row for row in rows if row.thread_id == name and row.settled_at is None]
        fenced = len([row for row in mine if row.require_fence])
        assert found[name] == HeldMoney(sum(row.micro for row in mine), len(mine), fenced), name
    assert found["nobody"] == NOTHING
    assert found["thread-1"].fenced > 0


def test_a_reservation_counts_until_it_is_settled(harness: Harness) -> None:
    days, desk, name = harness.store.days, harness.store.desk, "\u00c4\"'\\"
    more: dict[str, Any] = {
        "kind": "call",
        "at": T0,
        "expires": T0 + TTL,
        "cap_micro": 10**6,
        "thread_id": name,
    }
    fenced = days.reserve(micro=300_000, require_fence=True, **more)
    plain = days.reserve(micro=1, **more)
    assert desk.held([name]) == {name: HeldMoney(300_001, 2, 1)}
    days.release(plain, 1, T0)
    assert desk.held([name]) == {name: HeldMoney(300_000, 1, 1)}
    days.release(fenced, 1, T0)
    assert desk.held([name]) == {name: NOTHING}


def test_amounts_are_exact(harness: Harness) -> None:
    with harness.raw() as connection:
        connection.execute(
            insert(reservation), [day_values(n, micro=2**53 + 1 + n, thread_id="rich") for n in range(2)]
        )
    assert harness.store.desk.held(["rich"])["rich"].micro == 2**54 + 3


def test_what_cannot_be_asked(harness: Harness) -> None:
    desk = harness.store.desk
    assert desk.held([]) == {}
    assert desk.held(["a", "a"]) == {"a": NOTHING}
    for bad in ([f"t{n}" for n in range(IDS + 1)], "thread", ["a\0b"], ["x" * 600]):
        with pytest.raises(ValidationError):
            desk.held(bad)


def fill_threads(harness: Harness) -> None:
    """Many threads that hold, and one that holds more than is added up."""
    with harness.raw() as connection:
        more: dict[str, Any] = {"settled_at": None}
        rows = [day_values(n, thread_id=f"thread-{n // 2:05}", **more) for n in range(2 * THREADS)]
        over = {"settled_at": NOW, "settled_micro": 1}
        rows += [day_values(20_000 + n, thread_id="thread-00000", **over) for n in range(THREADS)]
        rows += [day_values(30_000 + n, thread_id="many", micro=5) for n in range(MAX_HELD + 7)]
        connection.execute(insert(reservation), rows)
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))


def test_a_page_costs_its_own_rows(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_threads(harness)
    names = ["many", *(f"thread-{n:05}" for n in range(IDS - 1))]
    with recording(monkeypatch) as ran:
        found = harness.store.desk.held(names)
    assert (found["many"].open, found["many"].more) == (MAX_HELD + 1, True)
    assert (found["thread-00007"].open, found["thread-00007"].more) == (2, False)
    (statement,) = ran
    for steps in plans(harness, statement):
        read = [step for step in steps if "spend_day" in step.text]
        assert read, steps
        for step in read:
            assert "spend_day_by_thread" in step.text, steps
            assert (step.rows or 0) <= MAX_HELD + 1 + 2 * IDS, steps
