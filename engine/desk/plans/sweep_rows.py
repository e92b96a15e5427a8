"""Lapsed tentative rows, and settled rows of meters, that a sweep would take: counted, not named (ruling 32)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select

from engine.clock import to_ns
from engine.desk.adopted import find_adopter
from engine.desk.meters import find_meter, find_meters
from engine.desk.plans.budget import attempted
from engine.desk.plans.model import ItemKind, Line
from engine.desk.views import MAX_COUNT
from engine.reserved.adopters import adopters, reserved_counts
from engine.spend.meter.purge import purgeable
from engine.spend.meter.tables import bare_tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.desk.meters import Meter
    from engine.desk.plans.budget import Budget
    from engine.desk.plans.draft import Draft
    from engine.desk.plans.sweep_asked import SweepAsked
    from engine.reserved.adopters import Adopter

NOTHING_LAPSED: Final = "nothing in it has lapsed"
NOTHING_SETTLED: Final = "nothing in it was settled before then"
UNNAMEABLE: Final = "its name would be taken for a placeholder of a statement: rename it"
_NS_A_MS: Final = 1_000_000


def sweep_tables(connection: Connection, asked: SweepAsked, draft: Draft, at: int, budget: Budget) -> Line:
    """An item for each adopting table with rows that lapsed by now."""
    rows, capped = 0, False
    for table in _tables(connection, asked, draft):
        budget.check()
        counts = attempted(connection, partial(reserved_counts, connection, table, at))
        lapsed = None if counts is None else counts.lapsed
        if lapsed == 0:
            draft.apart(table.label, NOTHING_LAPSED)
            continue
        _say(draft, table.label, lapsed)
        draft.add(ItemKind.LAPSED, table.label, {"until": at}, {"rows": lapsed})
        rows, capped = rows + (lapsed or 0), capped or lapsed is None or lapsed > MAX_COUNT
    return Line("lapsed row", rows, None if rows else 0, _at_least(capped))


def _tables(connection: Connection, asked: SweepAsked, draft: Draft) -> Iterator[Adopter]:
    if asked.tables:
        yield from (find_adopter(connection, name) for name in dict.fromkeys(asked.tables))
        return
    known = adopters(connection)
    yield from known.tables
    for name in known.left_out:
        draft.apart(name, UNNAMEABLE)
    if known.more:
        draft.warn(
            f"only the first {len(known.tables)} tables with tentative rows were looked at; name others"
        )


def sweep_meters(
    connection: Connection, asked: SweepAsked, before: datetime, draft: Draft, budget: Budget
) -> Line:
    """An item for each meter with reservations that were settled before that instant and count nowhere."""
    rows, capped, limit = 0, False, to_ns(before)
    for meter in _meters(connection, asked):
        budget.check()
        settled = attempted(connection, partial(_settled, connection, meter.prefix, limit // _NS_A_MS))
        if settled == 0:
            draft.apart(meter.prefix, NOTHING_SETTLED)
            continue
        _say(draft, meter.prefix, settled)
        draft.add(ItemKind.PURGE, meter.prefix, {"before": limit}, {"rows": settled})
        rows, capped = rows + (settled or 0), capped or settled is None or settled > MAX_COUNT
    return Line("settled reservation", rows, None if rows else 0, _at_least(capped))


def _meters(connection: Connection, asked: SweepAsked) -> Iterator[Meter]:
    if asked.meters:
        yield from (find_meter(connection, prefix) for prefix in dict.fromkeys(asked.meters))
        return
    after: str | None = ""
    while after is not None:
        page = find_meters(connection, after)
        yield from page.found
        after = page.next


def _settled(connection: Connection, prefix: str, before: int) -> int:
    """How many there are, one past the cap at most, by the index of what is settled."""
    tables = bare_tables(prefix)
    row = tables.reservations
    old = (
        select(row.c.operation_id)
        .where(purgeable(tables))
        .order_by(row.c.settled_at, row.c.operation_id)
        .limit(MAX_COUNT + 1)
        .subquery()
    )
    found: Any = connection.execute(select(func.count()).select_from(old), {"before": before}).scalar_one()
    return int(found)


def _say(draft: Draft, name: str, rows: int | None) -> None:
    if rows is None:
        draft.warn(f"{name}: its rows could not be counted in time; they go too, and no number names them")
    elif rows > MAX_COUNT:
        draft.warn(f"{name}: more than {MAX_COUNT:,} rows go, and the number names {MAX_COUNT + 1:,} of them")


def _at_least(capped: bool) -> str:
    return "at least" if capped else ""
