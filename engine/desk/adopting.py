"""The tables that keep the reserved-commit convention, with how much of each is tentative (ruling 34)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.clock import from_ns
from engine.desk.adopted import adopted
from engine.desk.moment import look
from engine.desk.money_counts import state_counts
from engine.desk.money_tables import is_listed, table_source
from engine.desk.money_views import AdopterRow, AdopterTotals

if TYPE_CHECKING:
    from sqlalchemy import Connection


def adopter_totals(connection: Connection) -> AdopterTotals:
    """Every adopting table with its counts, by name; at most a hundred of them. Wants a SNAPSHOT."""
    at, known = look(connection), adopted(connection)
    rows = tuple(
        AdopterRow(each.label, state_counts(connection, table_source(each), at), is_listed(each))
        for each in known.tables
    )
    return AdopterTotals(rows, known.more, from_ns(at))
