"""Whether what a command names belongs to the tenant that it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.model import Unset
from console.read.output import refuse

if TYPE_CHECKING:
    from console.gateway.scripts import Reads
    from console.model import Tenancy


def check_owner(reads: Reads, thread: str, whose: Tenancy) -> None:
    """End the command unless the thread is the tenant's; all tenants' needs no look."""
    if isinstance(whose, Unset):
        return
    found = reads.thread(thread)
    row = None if found is None else found["row"]
    check_tenant(f"thread {thread!r}", None if row is None else row["tenant"], whose, known=row is not None)


def check_tenant(what: str, owner: Any, whose: Tenancy, *, known: bool = True) -> None:
    """End the command unless the owner is the one asked for."""
    if isinstance(whose, Unset) or (known and owner == whose):
        return
    of = "without a tenant" if whose is None else f"of tenant {whose!r}"
    refuse(f"there is no {what} {of}; --all-tenants looks everywhere")
