"""Where a filter's threads come from: an index range a status, or a bounded set of claims (ruling 24)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.listing import MAX_DRIVEN, NEEDED, SINCE, Source, judged, status_sources
from engine.checkpoints.model import Unset
from engine.checkpoints.registry_model import EVERY_STATUS
from engine.checkpoints.tables import CLAIMED, tenant_key, thread, thread_metadata
from engine.clock import to_ns
from engine.database.columns import Identifier

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, ColumnElement

    from engine.checkpoints.listing import Lead
    from engine.desk.filters import ThreadFilter

_TENANT: BindParameter[str] = bindparam("tenant", type_=Identifier)
_HOLDER: BindParameter[str] = bindparam("holder", type_=Identifier)
_HELD: Final = (
    select(*NEEDED)
    .where(CLAIMED, thread.c.claim_holder == _HOLDER)
    .order_by(thread.c.thread_id)
    .limit(MAX_DRIVEN + 1)
    .cte("driven")
)


def sources(wanted: ThreadFilter) -> list[Source]:
    """The sources whose rows together are the filter's, each row in one of them; prefixes and pairs apart."""
    if wanted.holder is not None:
        return [Source(_HELD.c, conditions(_HELD.c, wanted), driven=_HELD)]
    statuses = EVERY_STATUS if wanted.statuses is None else wanted.statuses
    lead: Lead = () if isinstance(wanted.tenant, Unset) else (("tenant_key", _TENANT),)
    since = None if wanted.updated_since is None else SINCE
    return status_sources(statuses, lead=lead, owned=partial(_listed, wanted=wanted), since=since)


def conditions(c: Any, wanted: ThreadFilter) -> tuple[ColumnElement[bool], ...]:
    """Everything the filter asks of a row but its prefix, for rows that some bound already holds together."""
    asked = list(_listed(c, wanted))
    if not isinstance(wanted.tenant, Unset):
        asked.append(c.tenant_key == _TENANT)
    if wanted.updated_since is not None:
        asked.append(c.updated_at >= SINCE)
    if wanted.holder is not None:
        asked.append(c.claim_holder == _HOLDER)
    if wanted.statuses is not None and wanted.statuses != EVERY_STATUS:
        asked.append(judged(c, wanted.statuses))
    if wanted.metadata is not None:
        asked.append(paired(c))
    return tuple(asked)


def paired(c: Any) -> ColumnElement[bool]:
    """Whether a thread has the pair: a look-up by key, which no planner turns into a search for the pair."""
    m = thread_metadata.c
    equal = select(m.value == bindparam("value")).where(m.thread_id == c.thread_id, m.key == bindparam("key"))
    return equal.scalar_subquery()


def parameters(wanted: ThreadFilter) -> dict[str, Any]:
    """The values that the conditions are bound to."""
    tenant = None if isinstance(wanted.tenant, Unset) else tenant_key(wanted.tenant)
    since = None if wanted.updated_since is None else to_ns(wanted.updated_since)
    key, value = wanted.pair or (None, None)
    return {"tenant": tenant, "since": since, "holder": wanted.holder, "key": key, "value": value}


def _listed(c: Any, wanted: ThreadFilter) -> tuple[ColumnElement[bool], ...]:
    """With a checkpoint; a tenant's listing shows its roots only."""
    if isinstance(wanted.tenant, Unset):
        return (c.latest_id.is_not(None),)
    return c.latest_id.is_not(None), c.parent_id.is_(None)
