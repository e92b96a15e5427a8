"""Which changes the connection's role may make: asked before they are offered (console.md F3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.database.privileges import lacking
from engine.desk.audit.model import Deed
from engine.desk.meters import find_meters
from engine.spend.meter.tables import meter_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection

_OF_A_THREAD: Final = (
    "thread",
    "checkpoint",
    "pending_write",
    "event",
    "effect",
    "thread_metadata",
    "child_place",
    "refusal",
)
_NEEDED: Final[Mapping[Deed, tuple[tuple[str, str], ...]]] = {
    Deed.RELEASE: (("thread", "UPDATE"), ("thread", "DELETE")),
    Deed.DELETE: (
        ("thread", "UPDATE"),
        ("checkpoint", "INSERT"),
        *((table, "DELETE") for table in _OF_A_THREAD),
    ),
    Deed.SWEEP: (
        ("thread", "UPDATE"),
        ("meta", "UPDATE"),
        *((table, "DELETE") for table in ("thread", "child_place", "refusal", "event", "checkpoint")),
    ),
    Deed.RECONCILE: (("spend_day_reservations", "UPDATE"), ("spend_days", "UPDATE")),
    Deed.RESOLVE: (("spend_day_reservations", "UPDATE"), ("spend_days", "UPDATE")),
    Deed.CANCEL_PLAN: (("plan_item", "DELETE"),),
}
_SETTLES: Final = (Deed.RECONCILE, Deed.RESOLVE)
"""What settles a meter's reservations, and counts them for its accounts."""
_EVERY: Final = (
    ("audit", "INSERT"),
    ("audit_head", "UPDATE"),
    ("operation", "INSERT"),
    ("plan", "INSERT"),
    ("plan", "UPDATE"),
    ("plan_item", "INSERT"),
    ("plan_item", "UPDATE"),
    ("job", "INSERT"),
    ("job", "UPDATE"),
    ("job_item", "INSERT"),
)
"""What no change goes without: it is planned, carried out and written down."""


def missing_rights(connection: Connection) -> Mapping[Deed, tuple[str, ...]]:
    """The deeds that this role may not do, each with what it lacks, as `UPDATE on thread`. A file knows no roles.

    Of meters, those that stand in this database: a plan takes its rows from all of them.
    """
    needed = {deed: [*pairs] for deed, pairs in _NEEDED.items()}
    for meter, reservations in _meters(connection):
        for deed in _SETTLES:
            needed[deed] += [(meter, "UPDATE"), (reservations, "UPDATE")]
        # A row that is to go is locked first, which is an update to the server.
        needed[Deed.SWEEP] += [(reservations, "UPDATE"), (reservations, "DELETE")]
    missed = lacking(connection, sorted({*_EVERY, *(pair for pairs in needed.values() for pair in pairs)}))
    found = {deed: [pair for pair in (*pairs, *_EVERY) if pair in missed] for deed, pairs in needed.items()}
    return {
        deed: tuple(f"{right} on {table}" for table, right in pairs) for deed, pairs in found.items() if pairs
    }


def _meters(connection: Connection) -> Iterator[tuple[str, str]]:
    """The two tables of each, some meters at a time, to the end of the catalogue."""
    after: str | None = ""
    while after is not None:
        page = find_meters(connection, after)
        for meter in page.found:
            tables = meter_tables(meter.prefix)
            yield tables.meter.name, tables.reservations.name
        after = page.next
