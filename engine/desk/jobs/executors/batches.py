"""Lapsed tentative rows, and settled rows of meters: many to a transaction, none of them told apart (ruling 32)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.database.address import key_in_place_of_address
from engine.desk.adopted import find_adopter
from engine.desk.audit.model import ObjectKind
from engine.desk.jobs.executors.meter_tables import tables_of
from engine.desk.jobs.executors.outcomes import GIVEN_UP, GONE, Words
from engine.desk.jobs.executors.taken import Taken, noted, so_far
from engine.errors import ValidationError
from engine.reserved.lapsed import BATCH, EARLIEST, Batch, Counted, delete_lapsed
from engine.spend.meter.purge import purge_reservations

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.jobs.executor import Between, Done
    from engine.desk.plans.model import Item

MAX_BATCHES: Final = 100_000
"""Transactions on one table."""
_NAME: Final = "desk.sweep"
_NS_A_MS: Final = 1_000_000
_TABLE: Final = Words(ObjectKind.TABLE)
_METER: Final = Words(ObjectKind.METER)
_TOO_MANY: Final = f"more was left after {MAX_BATCHES} batches; plan again"


class LapsedItems:
    """Rows of an adopting table whose deadline is past the planned instant; the last batch goes with the result."""

    def __init__(self, transactions: Transactions, job_id: str) -> None:
        self._tx = transactions
        self._job_id = job_id
        self._after = EARLIEST
        self._taken: Taken | None = None

    def prepare(self, item: Item, still_ours: Between) -> Done | None:
        """Batch after batch, till one is not full."""
        self._after = EARLIEST
        taken = self._tx.read(_NAME, so_far, self._job_id, item.n)
        for _ in range(MAX_BATCHES):
            done, taken = self._tx.write(_NAME, _lapsed_noted, item, self._after, taken)
            if done is None:
                return _TABLE.skipped(GONE)
            self._after, self._taken = done.last, taken
            if done.rows < BATCH:
                return None
            if still_ours(done.rows):
                return _TABLE.failed(GIVEN_UP, removed=taken.rows)
        return _TABLE.failed(_TOO_MANY, removed=taken.rows)

    def finish(self, connection: Connection, item: Item) -> Done:
        """What is left, and how many there were."""
        last = _lapsed(connection, item, self._after)
        removed = _rows_of(self._taken) + (0 if last is None else last.rows)
        return _TABLE.applied({"until": item.guard["until"]}, {"removed": removed})


def _lapsed_noted(connection: Connection, item: Item, after: int, taken: Taken) -> tuple[Batch | None, Taken]:
    done = _lapsed(connection, item, after)
    return done, noted(connection, taken, item, ObjectKind.TABLE, 0 if done is None else done.rows)


def _lapsed(connection: Connection, item: Item, after: int) -> Batch | None:
    """One batch of the table that the item names; None where no table of that name keeps the convention now."""
    try:
        table = find_adopter(connection, item.object_id).table
    except ValidationError:
        return None
    counted = Counted(0, 0, item.guard["until"], key_in_place_of_address(connection, table))
    return delete_lapsed(connection, table, counted, after, BATCH)


class PurgeItems:
    """Reservations of a meter that were settled before the planned instant; what still counts in a window stays."""

    def __init__(self, transactions: Transactions, job_id: str) -> None:
        self._tx = transactions
        self._job_id = job_id
        self._taken: Taken | None = None

    def prepare(self, item: Item, still_ours: Between) -> Done | None:
        """Batch after batch, till one is not full."""
        taken = self._tx.read(_NAME, so_far, self._job_id, item.n)
        for _ in range(MAX_BATCHES):
            removed, taken = self._tx.write(_NAME, _settled_noted, item, taken)
            if removed is None:
                return _METER.skipped(GONE)
            self._taken = taken
            if removed < BATCH:
                return None
            if still_ours(removed):
                return _METER.failed(GIVEN_UP, removed=taken.rows)
        return _METER.failed(_TOO_MANY, removed=taken.rows)

    def finish(self, connection: Connection, item: Item) -> Done:
        """What is left, and how many there were."""
        removed = _rows_of(self._taken) + (_settled(connection, item) or 0)
        return _METER.applied({"before": item.guard["before"]}, {"removed": removed})


def _settled_noted(connection: Connection, item: Item, taken: Taken) -> tuple[int | None, Taken]:
    removed = _settled(connection, item)
    return removed, noted(connection, taken, item, ObjectKind.METER, removed or 0)


def _settled(connection: Connection, item: Item) -> int | None:
    tables = tables_of(connection, item.object_id)
    if tables is None:
        return None
    return purge_reservations(connection, tables, item.guard["before"] // _NS_A_MS, BATCH).reservations


def _rows_of(taken: Taken | None) -> int:
    return 0 if taken is None else taken.rows
