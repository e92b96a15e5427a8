"""The overview: all of its parts at one moment in one statement and one look at money, or one part alone."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import select

from engine.checkpoints.listing import NOW
from engine.checkpoints.model import Tenancy, Unset
from engine.checkpoints.tables import tenant_key
from engine.database.address import follow_indexes, follow_whole_indexes
from engine.database.statement import Statement
from engine.desk.moment import look, moment
from engine.desk.overview_money import fences_of, money_of, survey, survey_of_fences
from engine.desk.overview_store import claims_part, events_part, queue_part, sweep_part, tombstones_part
from engine.desk.overview_threads import cascades_part, incomplete_part, threads_part
from engine.desk.overview_views import FencesNow, MoneyNow, Overview

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from engine.desk.overview_part import Part

OF_THREADS: Final[dict[str, Callable[..., Part[Any]]]] = {
    "threads": threads_part,
    "incomplete": incomplete_part,
    "cascades": cascades_part,
}
"""Parts that an index answers for one tenant too."""
OF_STORE: Final[dict[str, Callable[[], Part[Any]]]] = {
    "claims": claims_part,
    "sweep": sweep_part,
    "queue": queue_part,
    "tombstones": tombstones_part,
    "events": events_part,
}
NOT_OF_TENANTS: Final[dict[str, Any]] = dict.fromkeys((*OF_STORE, "fences", "money"))


def overview(connection: Connection, tenant: Tenancy) -> Overview:
    """Every part that the tenant has. Wants a SNAPSHOT; one part that cannot be read fails them all."""
    if not isinstance(tenant, Unset):
        _, found = _figures(connection, tuple(OF_THREADS), tenant)
        return Overview(**found, **NOT_OF_TENANTS)
    at, found = _figures(connection, (*OF_THREADS, *OF_STORE), tenant)
    follow_indexes(connection)
    surveyed = survey(connection, at)
    return Overview(**found, fences=fences_of(surveyed), money=money_of(connection, surveyed))


def probe(connection: Connection) -> int:
    """The clock (ns): whether the store can be read at all."""
    return moment(connection)


def part_of(connection: Connection, name: str, tenant: Tenancy) -> Any:
    """One part of OF_THREADS or, for ANY tenant, of OF_STORE. Wants a SNAPSHOT."""
    return _figures(connection, (name,), tenant)[1][name]


def fences(connection: Connection) -> FencesNow:
    """The fences alone. Wants a SNAPSHOT."""
    return fences_of(survey_of_fences(connection, look(connection)))


def money(connection: Connection) -> MoneyNow:
    """The money alone. Wants a SNAPSHOT."""
    return money_of(connection, survey(connection, look(connection)))


def _figures(connection: Connection, names: tuple[str, ...], tenant: Tenancy) -> tuple[int, dict[str, Any]]:
    """The moment (ns) and the parts, from one statement."""
    owned = not isinstance(tenant, Unset)
    parts, statement = _parts(names, owned)
    follow_whole_indexes(connection)
    values = {} if isinstance(tenant, Unset) else {"tenant": tenant_key(tenant)}
    row: Any = statement.one(connection, **values)
    return int(row.now), {name: part.read(row) for name, part in zip(names, parts, strict=True)}


@lru_cache(maxsize=32)
def _parts(names: tuple[str, ...], owned: bool) -> tuple[tuple[Part[Any], ...], Statement]:
    parts = tuple(OF_THREADS[name](owned=owned) if name in OF_THREADS else OF_STORE[name]() for name in names)
    # Parts that share a stretch name the same columns of it.
    columns = {column.key: column for part in parts for column in part.columns}
    return parts, Statement(select(NOW.label("now"), *columns.values()))
