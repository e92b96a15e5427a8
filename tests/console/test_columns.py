"""Which columns fit: a fixed order of leaving, and widths that depend on the screen alone."""

from __future__ import annotations

import pytest

from console import tables
from console.lists import budgets, claims, fences, holders, queue, reservations, tombstones
from console.present import Cell, own
from console.widgets.columns import GAP, Column, fit

ALL = (
    tables.THREADS,
    tables.CHECKPOINTS,
    tables.WRITES,
    tables.EFFECTS,
    tables.EVENTS,
    tables.THREAD_EVENTS,
    tables.METADATA,
    claims.COLUMNS,
    holders.COLUMNS,
    queue.COLUMNS,
    queue.THREAD_COLUMNS,
    tombstones.COLUMNS,
    reservations.COLUMNS,
    fences.COLUMNS,
    budgets.ACCOUNT_COLUMNS,
    budgets.days(None).view.columns,
    budgets.days(60_000_000).view.columns,
)


def titles(columns: tuple[Column[object], ...], room: int) -> list[str]:
    """What is shown in so much room."""
    return [fitted.column.title for fitted in fit(columns, room)]


@pytest.mark.parametrize("columns", ALL)
@pytest.mark.parametrize("room", [77, 97, 117, 197])
def test_the_columns_fill_the_screen_and_never_more(columns: tuple[Column[object], ...], room: int) -> None:
    fitted = fit(columns, room)
    total = sum(each.width for each in fitted) + GAP * (len(fitted) - 1)
    assert total <= room


def test_threads_lose_columns_in_their_order_and_never_state_lease_or_money() -> None:
    lost: list[str] = []
    for room in range(130, 40, -1):
        shown = titles(tables.THREADS, room)  # type: ignore[arg-type]
        lost += [column.title for column in tables.THREADS if column.title not in (*shown, *lost)]
        assert {"THREAD", "STATE", "LEASE LEFT", "HELD USD", "AGE"} <= set(shown)
    assert lost == ["EVENTS", "TOKEN", "TENANT", "UPDATED", "HOLDER"]


@pytest.mark.parametrize(
    ("columns", "kept"),
    [
        (claims.COLUMNS, {"THREAD", "STATE", "HOLDER", "TOKEN", "LEASE LEFT", "LAST RENEWED"}),
        (queue.COLUMNS, {"THREAD", "STATE", "WORKER", "LEASE LEFT", "DUE", "ATTEMPTS"}),
        (reservations.COLUMNS, {"RESERVATION", "KIND", "STATE", "AMOUNT", "OWNER", "DUE IN", "AGE"}),
        (fences.COLUMNS, {"FENCE", "KIND", "STATE", "AMOUNT", "DEFERRED", "CHECK IN", "EVIDENCE"}),
        (budgets.ACCOUNT_COLUMNS, {"ACCOUNT", "PERIOD", "USED", "RESERVED", "REMAINING", "OF THE ALLOWANCE"}),
        (tombstones.COLUMNS, {"THREAD", "STATE", "NUMBERING CONTINUES AT", "AGE"}),
    ],
)
def test_eighty_cells_keep_what_a_list_is_for(columns: tuple[Column[object], ...], kept: set[str]) -> None:
    assert kept <= set(titles(columns, 77))
    assert titles(columns, 117) == [column.title for column in columns]


def test_eighty_cells_show_who_holds_a_thread() -> None:
    assert "HOLDER" in titles(tables.THREADS, 77)  # type: ignore[arg-type]


def test_spare_room_is_shared_up_to_each_columns_most() -> None:
    grow: Column[object] = Column(own("A"), 2, lambda _row, _scene: Cell(own("")), most=4)
    free: Column[object] = Column(own("B"), 2, lambda _row, _scene: Cell(own("")), most=50)
    assert [each.width for each in fit((grow, free), 20)] == [4, 14]
