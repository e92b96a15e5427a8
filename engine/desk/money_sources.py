"""Which sources a filter asks: the day store, the meters of the catalogue, the tables with the convention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.desk.adopted import adopted, find_adopted
from engine.desk.meters import find_meter, find_meters
from engine.desk.money_day import DAY
from engine.desk.money_filter import FenceFilter
from engine.desk.money_meter import meter_source
from engine.desk.money_tables import is_listed, table_source
from engine.desk.money_views import ReservationKind
from engine.errors import ValidationError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.money_filter import ReservationFilter
    from engine.desk.money_source import Source

K = ReservationKind


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of one kind; `more`: the catalogue has more than one look takes."""

    found: tuple[Source, ...]
    more: bool = False


def sources_of(connection: Connection, wanted: ReservationFilter | FenceFilter) -> tuple[Source, ...]:
    """The sources that can hold what is wanted; ValidationError for more than one look takes, or a name unknown."""
    kinds = [wanted.kind] if wanted.kind is not None else list(ReservationKind)
    found: tuple[Source, ...] = ()
    for kind in kinds:
        if kind is K.DAY:
            found += (DAY,)
        elif kind is K.METER:
            found += _meters(connection, wanted.prefix)
        elif not isinstance(wanted, FenceFilter):
            found += _tables(connection, wanted.table)
    return found


def _meters(connection: Connection, prefix: str | None) -> tuple[Source, ...]:
    if prefix is not None:
        meter = find_meter(connection, prefix)
        return (meter_source(meter.prefix, meter.fences),)
    sources = all_meters(connection)
    if sources.more:
        raise ValidationError("prefix", (f"there are more than {len(sources.found)} meters; name one",))
    return sources.found


def _tables(connection: Connection, name: str | None) -> tuple[Source, ...]:
    """Those whose rows can be listed; a table without a key has counts only."""
    if name is not None:
        table = find_adopted(connection, name)
        if not is_listed(table):
            raise ValidationError("table", (f"{table.label} has no key to page by; read its counts",))
        return (table_source(table),)
    known = adopted(connection)
    if known.more:
        raise ValidationError(
            "table", (f"more than {len(known.tables)} tables have tentative rows; name one",)
        )
    return tuple(table_source(each) for each in known.tables if is_listed(each))


def all_meters(connection: Connection) -> Sources:
    """Every meter, as far as one look goes."""
    meters = find_meters(connection)
    found = tuple(meter_source(meter.prefix, meter.fences) for meter in meters.found)
    return Sources(found, meters.next is not None)


def all_tables(connection: Connection) -> Sources:
    """Every adopting table, as far as one look goes, those without a key too: for counting."""
    known = adopted(connection)
    return Sources(tuple(map(table_source, known.tables)), known.more)
