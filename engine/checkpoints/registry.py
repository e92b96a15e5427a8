"""The registry: one owner's root threads, newest first, and those that stopped half-way (operations 2.2 and 2.3).

Each page is one statement, hence one snapshot and one "now"; its shape depends on which filters are given, never on
their values, so that each shape is compiled once. Every shape reads one index range, one for each status asked for,
or a bounded stretch of one (ruling 24).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, case, func, literal_column, select, tuple_, union_all

from engine.checkpoints.listing import (
    BEYOND,
    MAX_DRIVEN,
    NOW,
    driven_size,
    header,
    judged,
    newest,
    status_sources,
    stored,
    unheld,
)
from engine.checkpoints.model import CheckpointStatus, judge
from engine.checkpoints.records import Undecodable
from engine.checkpoints.registry_model import (
    EVERY_STATUS,
    ThreadPage,
    ThreadQuery,
    ThreadSummary,
    position,
)
from engine.checkpoints.tables import ROOT, tenant_key, tenant_of, thread, thread_metadata
from engine.clock import from_ns, to_ns
from engine.database.columns import check_optional_id
from engine.database.constructs import Pairs
from engine.database.statement import Statement
from engine.errors import ValidationError
from engine.paging import check_limit

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, ColumnElement, Connection, Select

    from engine.checkpoints.model import ThreadStatus

SHAPES: Final = 512  # all that there are: a set of statuses, with or without a time and a pair of metadata

_MOST: BindParameter[int] = bindparam("most", type_=BigInteger)
_TENANT = thread.c.tenant_key == bindparam("tenant")
_COLUMNS = (
    "thread_id",
    "tenant_key",
    "latest_status",
    "updated_at",
    "created_at",
    "latest_id",
    "latest_run_id",
    "metadata_keys",
)


@dataclass(frozen=True, slots=True)
class _Shape:
    statuses: frozenset[ThreadStatus]
    since: bool
    metadata: bool

    @property
    def searches(self) -> bool:
        """Whether rows of the pair's index range must be looked at one by one."""
        return self.metadata and self.statuses != EVERY_STATUS


def threads(connection: Connection, query: ThreadQuery) -> ThreadPage:
    """A page of the query's threads; ValidationError where the page would have to look through over 10,000 rows.

    That can happen for RUNNING without IDLE, which is driven by the store's live claims, and for a pair of
    metadata together with statuses.
    """
    statuses = EVERY_STATUS if query.statuses is None else query.statuses
    if not statuses:
        return ThreadPage(())
    shape = _Shape(statuses, query.updated_since is not None, query.metadata is not None)
    rows = _page(shape).all(connection, **_values(query))
    found = [summary_of(row) for row in rows if row.thread_id is not None]
    _check_looked(shape, rows, len(found) > query.limit)
    return ThreadPage.of(found, query.limit)


def incomplete(connection: Connection, tenant: str | None, after: str | None, limit: int) -> ThreadPage:
    """The owner's IDLE threads, longest untouched first: for people, not for a worker's recovery (2.3)."""
    check_limit(limit, ThreadQuery.MAX_LIMIT)
    check_optional_id("tenant", tenant)
    updated, thread_id = (-BEYOND, "") if after is None else position(after)
    rows = _INCOMPLETE.all(
        connection, tenant=tenant_key(tenant), updated=updated, id=thread_id, most=limit + 1
    )
    return ThreadPage.of([summary_of(row) for row in rows], limit)


def _values(query: ThreadQuery) -> dict[str, Any]:
    updated, thread_id = (BEYOND, "") if query.after is None else position(query.after)
    key, value = next(iter((query.metadata or {"": ""}).items()))
    return {
        "tenant": tenant_key(query.tenant),
        "updated": updated,
        "id": thread_id,
        "most": query.limit + 1,
        "since": None if query.updated_since is None else to_ns(query.updated_since),
        "key": key,
        "value": value,
    }


def _check_looked(shape: _Shape, rows: list[Any], filled: bool) -> None:
    looked = rows[0].looked if rows else 0
    if looked <= MAX_DRIVEN:
        return
    if not shape.metadata:
        problem = f"more than {MAX_DRIVEN} claims are live; ask for idle threads as well, or for metadata"
        raise ValidationError("statuses", (problem,))
    if not filled:
        problem = f"too few of the newest {MAX_DRIVEN} threads with the pair match; leave the statuses out"
        raise ValidationError("metadata", (problem,))


@lru_cache(maxsize=SHAPES)
def _page(shape: _Shape) -> Statement:
    if shape.searches:
        return Statement(_searched(shape))
    if shape.metadata:
        return Statement(_listed(_joined(_pairs(shape.since, _MOST).subquery("pair")).subquery("page")))
    found = status_sources(shape.statuses, partial(_owned, since=shape.since))
    arms = [newest(source, _shown(source.columns), _MOST) for source in found]
    size = driven_size(found)
    if len(arms) == 1:
        rows = arms[0].subquery("page")
    else:
        merged = union_all(*(select(arm.subquery()) for arm in arms)).subquery("merged")
        rows = _ordered(select(merged)).limit(_MOST).subquery("page")
    return Statement(_listed(rows) if all(each.driven is None for each in found) else _headed(size, rows))


def _owned(c: Any, *, since: bool) -> tuple[ColumnElement[bool], ...]:
    asked = (c.tenant_key == bindparam("tenant"), c.latest_id.is_not(None), c.parent_id.is_(None))
    return (*asked, c.updated_at >= bindparam("since", type_=BigInteger)) if since else asked


def _shown(c: Any) -> list[ColumnElement[Any]]:
    return [*(c[key] for key in _COLUMNS), (c.claim_expires_at > NOW).label("live")]


def _searched(shape: _Shape) -> Select[Any]:
    """The newest rows of the pair, up to the bound; of those the page's."""
    stretch = _pairs(shape.since, literal_column(str(MAX_DRIVEN + 1))).cte("stretch")
    looked = select(func.count()).select_from(stretch).scalar_subquery()
    matching = _joined(stretch).where(judged(thread.c, shape.statuses)).limit(_MOST)
    return _headed(looked, _ordered_by(matching, stretch).subquery("page"))


def _pairs(since: bool, most: ColumnElement[int]) -> Select[Any]:
    """The index range of one pair. Only listed roots bear their owner there, so each row is a thread's."""
    m = thread_metadata.c
    start = tuple_(m.updated_at, m.thread_id) < tuple_(bindparam("updated"), bindparam("id"))
    asked = [m.tenant_key == bindparam("tenant"), m.key == bindparam("key"), m.value == bindparam("value")]
    if since:
        asked.append(m.updated_at >= bindparam("since", type_=BigInteger))
    newest_first = (m.updated_at.desc(), m.thread_id.desc())
    return select(m.updated_at, m.thread_id).where(*asked, start).order_by(*newest_first).limit(most)


def _joined(pairs: Any) -> Select[Any]:
    return select(*_shown(thread.c)).select_from(pairs).join(thread, thread.c.thread_id == pairs.c.thread_id)


def _ordered(rows: Select[Any]) -> Select[Any]:
    c = rows.selected_columns
    return rows.order_by(c.updated_at.desc(), c.thread_id.desc())


def _ordered_by(rows: Select[Any], pairs: Any) -> Select[Any]:
    return rows.order_by(pairs.c.updated_at.desc(), pairs.c.thread_id.desc())


def _with_metadata(page: Any) -> list[ColumnElement[Any]]:
    """The page's columns, and the metadata of its own rows only."""
    owned = select(Pairs(thread_metadata.c.key, thread_metadata.c.value))
    owned = owned.where(thread_metadata.c.thread_id == page.c.thread_id)
    return [*page.c, case((page.c.metadata_keys > 0, owned.scalar_subquery())).label("pairs")]


def _listed(page: Any) -> Select[Any]:
    return _ordered(select(*_with_metadata(page), literal_column("0").label("looked")))


def _headed(looked: ColumnElement[Any], page: Any) -> Select[Any]:
    columns = _with_metadata(page)
    rows = _ordered(select(*columns)).subquery("found")
    return _ordered(header(looked.label("looked"), rows))


_START = tuple_(thread.c.updated_at, thread.c.thread_id) > tuple_(bindparam("updated"), bindparam("id"))
_WAITING = (
    select(*_shown(thread.c))
    .where(_TENANT, stored(thread.c, CheckpointStatus.RUNNING), ROOT, unheld(thread.c), _START)
    .order_by(thread.c.updated_at, thread.c.thread_id)
    .limit(_MOST)
    .subquery("page")
)
_INCOMPLETE = Statement(
    select(*_with_metadata(_WAITING)).order_by(_WAITING.c.updated_at, _WAITING.c.thread_id)
)


def summary_of(row: Any) -> ThreadSummary:
    """A row of the registry's columns."""
    try:
        status = judge(CheckpointStatus(row.latest_status), live=bool(row.live))
        metadata = {} if row.pairs is None else json.loads(row.pairs)
    except ValueError as error:
        raise Undecodable(f"thread {row.thread_id!r}: {error}") from error
    return ThreadSummary(
        row.thread_id,
        tenant_of(row.tenant_key),
        status,
        bool(row.live),
        from_ns(row.updated_at),
        from_ns(row.created_at),
        row.latest_id,
        row.latest_run_id,
        metadata,
    )
