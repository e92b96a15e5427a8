"""Counting the reserved rows of a table, and deleting the lapsed ones a bounded batch at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, and_, bindparam, case, delete, func, literal_column, select, tuple_

from engine.arguments import whole
from engine.database.address import Address, Among, follow_indexes, key_in_place_of_address
from engine.database.constructs import page_now
from engine.errors import ValidationError
from engine.reserved.convention import RESERVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, TableClause
    from sqlalchemy.sql.dml import ReturningDelete

BATCH: Final = 1000
"""Rows that a transaction of a sweep deletes, unless told otherwise."""
MAX_BATCH: Final = 100_000
EARLIEST: Final = -(2**63)
"""Before any deadline."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The reserved rows of a table, how many of them have lapsed, and by which instant (ns)."""

    reserved: int
    lapsed: int
    now: int
    key: Sequence[ColumnElement[Any]]
    """By which rows are found again where the database gives them no address; else empty."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one statement deleted, and the latest of their deadlines: none is left before it but rows in use."""

    rows: int
    last: int


def check_batch(batch: int) -> int:
    """The size itself; ValidationError outside 1 to MAX_BATCH."""
    if not 1 <= whole("batch", batch) <= MAX_BATCH:
        raise ValidationError("batch", (f"must lie between 1 and {MAX_BATCH} rows",))
    return batch


def count_reserved(connection: Connection, table: TableClause, now: int | None) -> Counted:
    """Count them all; `now` None stands for the server's clock, and the answer says what it showed."""
    due = table.c["reserve_deadline"]
    moment = page_now()
    counts = (func.count(), func.count(case((due <= moment, 1))), page_now())
    found = select(*counts).select_from(table).where(table.c["state"] == RESERVED)
    reserved, lapsed, instant = connection.execute(found, {"now": now}).one()
    return Counted(reserved, lapsed, instant, key_in_place_of_address(connection, table))


def delete_lapsed(
    connection: Connection, table: TableClause, counted: Counted, after: int, size: int
) -> Batch:
    """Delete at most `size` rows that lapsed by the counted instant, in the order of their deadlines.

    `after` (ns) is where the batch before ended: what it deleted is not looked through again. Rows that another
    transaction holds are passed over.
    """
    follow_indexes(connection)
    given = {"instant": counted.now, "after": after}
    gone = connection.execute(_delete(table, counted.key, size), given).scalars().all()
    return Batch(len(gone), max(gone, default=after))


def _delete(table: TableClause, key: Sequence[ColumnElement[Any]], size: int) -> ReturningDelete[Any]:
    """One statement that takes the rows from the deadline index, locks them and deletes them."""
    state, due = table.c["state"], table.c["reserve_deadline"]
    instant = bindparam("instant", type_=BigInteger)
    chosen = (
        select(*(key or (Address(),)))
        .select_from(table)
        .where(state == RESERVED, due <= instant, due >= bindparam("after", type_=BigInteger))
        .order_by(due)
        .limit(literal_column(str(size)))
        .with_for_update(skip_locked=True)
    )
    which = tuple_(*key).in_(chosen) if key else Among(chosen)
    # Said again of the row that is deleted, as an address in one partition may be a live row's in another; and
    # in a form that no index answers, or a planner without statistics goes through all lapsed rows for each batch.
    still = and_(func.coalesce(state, "") == RESERVED, func.coalesce(due, instant + 1) <= instant)
    return delete(table).where(which, still).returning(due)
