"""Which changes the connection's role may make: asked before they are offered (console.md F3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.database.privileges import lacking
from engine.desk.audit.model import Deed

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    Deed.DELETE: (("thread", "UPDATE"), *((table, "DELETE") for table in _OF_A_THREAD)),
    Deed.SWEEP: (("thread", "UPDATE"), ("event", "DELETE"), ("checkpoint", "DELETE"), ("meta", "UPDATE")),
    Deed.RECONCILE: (("spend_day_reservations", "UPDATE"), ("spend_days", "UPDATE")),
    Deed.RESOLVE: (("spend_day_reservations", "UPDATE"), ("spend_days", "UPDATE")),
}
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
    """The deeds that this role may not do, each with what it lacks, as `UPDATE on thread`. A file knows no roles."""
    wanted = {*_EVERY, *(pair for needed in _NEEDED.values() for pair in needed)}
    missed = lacking(connection, sorted(wanted))
    found = {
        deed: [pair for pair in (*needed, *_EVERY) if pair in missed] for deed, needed in _NEEDED.items()
    }
    return {
        deed: tuple(f"{right} on {table}" for table, right in pairs) for deed, pairs in found.items() if pairs
    }
