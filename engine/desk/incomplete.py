"""Threads that stopped half-way, over all owners or for one (checkpoints-operations.md 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.listing import BEYOND, header, idle_source, oldest
from engine.checkpoints.model import Tenancy, Unset
from engine.checkpoints.registry_model import position
from engine.checkpoints.tables import tenant_key, thread
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.database.columns import Identifier, check_optional_id
from engine.desk.rows import shown, thread_row
from engine.desk.views import MAX_PAGE, Page
from engine.paging import check_limit, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection, Select

    from engine.checkpoints.listing import Lead
    from engine.desk.views import ThreadRow

_TENANT: Final[BindParameter[str]] = bindparam("tenant", type_=Identifier)


def incomplete(connection: Connection, tenant: Tenancy, after: str | None, limit: int) -> Page[ThreadRow]:
    """At most `limit` (1 to 200) IDLE threads, longest untouched first.

    ANY lists them all, children included; a tenant (None: those without one) its roots, as the registry does.
    """
    check_limit(limit, MAX_PAGE)
    owned = not isinstance(tenant, Unset)
    key = None if isinstance(tenant, Unset) else tenant_key(check_optional_id("tenant", tenant))
    updated, thread_id = (-BEYOND, "") if after is None else position(after)
    values = {"tenant": key, "updated": updated, "id": thread_id, "most": limit + 1}
    found = connection.execute(_page(owned=owned), values | {"now": backend_of(connection).now()}).all()
    rows = [row for row in found if row.thread_id is not None]
    rows.sort(key=lambda row: (row.updated_at, row.thread_id))
    following = None
    if len(rows) > limit:
        following = encode_cursor(rows[limit - 1].updated_at, rows[limit - 1].thread_id)
    return Page(tuple(map(thread_row, rows[:limit])), following, from_ns(found[0].now))


def _page(*, owned: bool) -> Select[Any]:
    lead: Lead = (("tenant_key", _TENANT),) if owned else ()
    listed = thread.c.latest_id.is_not(None)
    conditions = (listed, thread.c.parent_id.is_(None)) if owned else (listed,)
    waiting = oldest(idle_source(lead, conditions), shown(thread.c))
    return header(select(waiting.subquery("waiting")).subquery("page"))
