"""The rights that a database role needs, as GRANT statements for PostgreSQL (schema.md, console.md F3)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import engine.checkpoints.tables
import engine.spend.day.tables
from engine.database.columns import METADATA
from engine.database.privileges import spelled
from engine.desk import tables
from engine.reserved.names import split
from engine.spend.meter.prefix import DEFAULT_PREFIX
from engine.spend.meter.tables import meter_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORKERS: Final = (engine.checkpoints.tables.thread, engine.spend.day.tables.spend_day)
"""Importing their modules is what puts all of a worker's tables into METADATA."""
_DESK: Final = (
    tables.plan,
    tables.plan_item,
    tables.job,
    tables.job_item,
    tables.operation,
    tables.audit,
    tables.audit_head,
)
_EVERY: Final = "SELECT, INSERT, UPDATE, DELETE"
_ON_DESK: Final = {
    "plan": "SELECT, INSERT, UPDATE",
    "plan_item": _EVERY,
    "job": "SELECT, INSERT, UPDATE",
    "job_item": "SELECT, INSERT",
    "operation": "SELECT, INSERT",
    "audit": "SELECT, INSERT",
    "audit_head": "SELECT, UPDATE",
}


class Role(StrEnum):
    """WORKER runs threads and sees nothing of the desk; OPS_RO looks at everything; OPS_RW acts as well."""

    WORKER = "worker"
    OPS_RO = "ops_ro"
    OPS_RW = "ops_rw"


def grants(
    role: Role,
    to: str,
    *,
    schema: str = "public",
    prefixes: Sequence[str] = (DEFAULT_PREFIX,),
    tables_with_rows: Sequence[str] = (),
) -> tuple[str, ...]:
    """The statements for the database role `to`, to be run by the owner of the tables; each can be run again.

    `prefixes` are those of the meters, `tables_with_rows` the caller's own tables with tentative rows.
    ValidationError for a name that is no identifier.
    """
    where, whom = spelled(schema), spelled(to)
    lines = [f"GRANT USAGE ON SCHEMA {where} TO {whom};"]
    lines += [
        f"GRANT {rights} ON {where}.{spelled(table)} TO {whom};"
        for table, rights in _rights(role, prefixes, tables_with_rows)
    ]
    if role is not Role.OPS_RO:
        # Drawing a number is an update of its sequence.
        lines += [
            f"GRANT USAGE ON SEQUENCE {where}.{spelled(name)} TO {whom};"
            for name in sorted(METADATA._sequences)  # noqa: SLF001 - SQLAlchemy names them nowhere else
        ]
    return tuple(lines)


def _rights(role: Role, prefixes: Sequence[str], own: Sequence[str]) -> Iterator[tuple[str, str]]:
    looks = role is Role.OPS_RO
    yield "meta", "SELECT" if looks else "SELECT, UPDATE"
    for table in _worker_tables(prefixes):
        yield table, "SELECT" if looks else _EVERY
    if role is not Role.WORKER:
        for desk in _DESK:
            yield desk.name, "SELECT" if looks else _ON_DESK[desk.name]
    for name in own:
        yield split(name)[1], "SELECT" if looks else _EVERY


def _worker_tables(prefixes: Sequence[str]) -> list[str]:
    desk = {table.name for table in _DESK}
    meters = [table for prefix in prefixes for table in _meter(prefix)]
    return sorted(name for name in METADATA.tables if name not in desk and name != "meta") + meters


def _meter(prefix: str) -> tuple[str, str]:
    found = meter_tables(prefix)
    return found.meter.name, found.reservations.name
