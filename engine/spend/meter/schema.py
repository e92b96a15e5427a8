"""The meter's tables: made when absent, their indexes one by one, looked at once per meter (2B.2; rulings 35, 44)."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from sqlalchemy import text
from sqlalchemy.schema import CreateIndex

from engine.database.ddl import column_names, index_names, indexes_query, text_on
from engine.errors import ReadOnlyStore, StoreClosed, StoreFailure, UnsupportedStore
from engine.spend.meter.ddl import fence_ddl, statements
from engine.spend.meter.model import SchemaWarning
from engine.spend.meter.once import Once
from engine.spend.meter.tables import FENCE_COLUMNS, bare_tables, meter_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine
    from sqlalchemy.sql import ClauseElement

    from engine.database.transaction import Transactions
    from engine.spend.meter.tables import MeterTables

_NAME: Final = "ensure_schema"
_MADE_BY_ANOTHER: Final = frozenset({"23505", "42P07", "42710"})
"""What PostgreSQL says to the loser of two CREATEs at once, IF NOT EXISTS or not."""


class MeterSchema:
    """Finds a meter's tables, and sees to it that they exist where it is told to."""

    def __init__(
        self,
        transactions: Transactions,
        prefix: str,
        *,
        ensure: bool,
        on_warning: Callable[[SchemaWarning], object] | None = None,
    ) -> None:
        self._tx = transactions
        self._tables = meter_tables(prefix)
        self._on_warning = on_warning
        self._ensured = Once(self._ensure if ensure else _nothing)
        self._found: MeterTables | None = None

    def ensure(self) -> None:
        """Make what is missing; nothing at all where the meter was told so."""
        self._ensured()

    def tables(self) -> MeterTables:
        """The tables as they are, with the columns of fences or without (ruling 35)."""
        self.ensure()
        return self._found or self._looked_at()

    def current(self) -> MeterTables:
        """The same, looked at again where fences were missing: a default must not pass over the first of them."""
        tables = self.tables()
        return tables if tables.has_fences else self._looked_at()

    def fenced(self, operation: str) -> MeterTables:
        """The tables with fences; UnsupportedStore, naming what to run, where they have none."""
        tables = self.current()
        if tables.has_fences:
            return tables
        present = self._tx.read(operation, column_names, tables.reservations.name)
        alter = fence_ddl(tables.prefix, present)
        raise UnsupportedStore(operation, f"these tables know no fences; run: {alter}")

    def _looked_at(self) -> MeterTables:
        table = self._tables.reservations.name
        columns = self._tx.read(_NAME, column_names, table)
        if not columns:
            raise StoreFailure(_NAME, f"there is no table {table}: run spend_meter_ddl, or have it made")
        self._found = self._tables if columns >= FENCE_COLUMNS else bare_tables(self._tables.prefix)
        return self._found

    def _ensure(self) -> None:
        if self._answers():
            self._complete()
            return
        try:
            self._tx.write(_NAME, _run, *statements(self._tables))
        except StoreFailure as failure:
            if failure.sqlstate not in _MADE_BY_ANOTHER:
                raise
            self._complete()

    def _answers(self) -> bool:
        try:
            for table in (self._tables.meter, self._tables.reservations):
                self._tx.read(_NAME, _answer, table.name)
        except (StoreClosed, ReadOnlyStore):
            raise
        except StoreFailure:
            return False
        return True

    def _complete(self) -> None:
        """Create the indexes that are missing: asking for one that is there would lock the table first."""
        if self._tx.read_only:
            return
        present = self._indexes()
        for index in self._looked_at().indexes:
            if index.name not in present:
                create = CreateIndex(index, if_not_exists=True)
                self._harmless(text_on(self._engine, create), partial(self._tx.write, _NAME, _run, create))

    def _indexes(self) -> set[str]:
        present: set[str] = set()
        names = [str(index.name) for index in self._tables.indexes]
        self._harmless(
            indexes_query(self._engine),
            lambda: present.update(self._tx.read(_NAME, index_names, self._tables.reservations.name, names)),
        )
        return present

    def _harmless(self, statement: str, call: Callable[[], object]) -> None:
        try:
            call()
        except StoreClosed:
            raise
        except StoreFailure as failure:
            self._warn(SchemaWarning(statement, failure))

    def _warn(self, warning: SchemaWarning) -> None:
        if self._on_warning is not None:
            # A hearer's own failure is not the schema's (case F14).
            with suppress(Exception):
                self._on_warning(warning)

    @property
    def _engine(self) -> Engine:
        return self._tx.backend.engine


def _nothing() -> None:
    """What a meter without `ensure_schema` does about its tables."""


def _run(connection: Connection, *made: ClauseElement) -> None:
    for each in made:
        connection.execute(each)  # type: ignore[call-overload]


def _answer(connection: Connection, table: str) -> None:
    """A table, whose name comes from a checked prefix, answers with a row or none."""
    connection.execute(text(f"SELECT 1 FROM {table} LIMIT 1"))  # noqa: S608
