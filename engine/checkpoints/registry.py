"""One owner's root threads, and those that stopped half-way (checkpoints-operations.md 2.2 and 2.3).

Each page is one statement, hence one snapshot and one "now". Its shape depends on which filters are given,
not on their values, and is compiled once. Every shape reads an index range for each status asked for, or a
bounded stretch of one (ruling 24).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, case, literal_column, select, tuple_, union_all

from engine.checkpoints.listing import (
    BEYOND,
    ID,
    MAX_DRIVEN,
    MOST,
    NOW,
    SINCE,
    UPDATED,
    driven_size,
    header,
    idle_source,
    judged,
    newest,
    oldest,
    size_of,
    status_sources,
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
from engine.checkpoints.tables import tenant_key, tenant_of, thread, thread_metadata
from engine.clock import from_ns, to_ns
from engine.database.columns import Identifier, check_optional_id
from engine.database.constructs import Pairs
from engine.database.statement import Statement
from engine.errors import ValidationError
from engine.paging import check_limit

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, ColumnElement, Connection, Select

    from engine.checkpoints.model import ThreadStatus

SHAPES: Final = 512  # more than there are: a set of statuses, with or without a time and a pair of metadata

_TENANT: BindParameter[str] = bindparam("tenant", type_=Identifier)
_OWNER = (("tenant_key", _TENANT),)
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
    """A page of the query's threads; ValidationError where it would have to look through over 10,000 rows.

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
        pairs = _pairs(shape.since, MOST).subquery("pair")
        return Statement(_listed(_rows_of(pairs).subquery("page")))
    since = SINCE if shape.since else None
    found = status_sources(shape.statuses, lead=_OWNER, owned=_root, since=since)
    page = _merged([newest(source, _shown(source.columns)) for source in found]).subquery("page")
    bounded = any(source.driven is not None for source in found)
    return Statement(_headed(driven_size(found), page) if bounded else _listed(page))


def _root(c: Any) -> tuple[ColumnElement[bool], ...]:
    return c.latest_id.is_not(None), c.parent_id.is_(None)


def _shown(c: Any) -> list[ColumnElement[Any]]:
    return [*(c[key] for key in _COLUMNS), (c.claim_expires_at > NOW).label("live")]


def _merged(arms: list[Select[Any]]) -> Select[Any]:
    """The arms' first rows, each arm in the order of its own index; at most six times a page is sorted."""
    if len(arms) == 1:
        return arms[0]
    rows = union_all(*(select(arm.subquery()) for arm in arms)).subquery("merged")
    return _newest_first(select(rows), rows.c).limit(MOST)


def _searched(shape: _Shape) -> Select[Any]:
    """The newest rows of the pair, up to the bound, and of those the page's.

    Each row's status is a scalar subquery: as a join, a planner may read every thread of a status instead.
    """
    stretch = _pairs(shape.since, literal_column(str(MAX_DRIVEN + 1))).cte("stretch")
    status = select(judged(thread.c, shape.statuses)).where(thread.c.thread_id == stretch.c.thread_id)
    matching = select(stretch.c.thread_id).where(status.scalar_subquery())
    found = _newest_first(matching, stretch.c).limit(MOST).subquery("found")
    return _headed(size_of(stretch), _rows_of(found).subquery("page"))


def _pairs(since: bool, most: ColumnElement[int]) -> Select[Any]:
    """The index range of one pair. Only listed roots bear their owner there, so each row is a thread's."""
    m = thread_metadata.c
    asked = [m.tenant_key == _TENANT, m.key == bindparam("key"), m.value == bindparam("value")]
    asked.append(tuple_(m.updated_at, m.thread_id) < tuple_(UPDATED, ID))
    if since:
        asked.append(m.updated_at >= SINCE)
    return _newest_first(select(m.updated_at, m.thread_id).where(*asked), m).limit(most)


def _rows_of(ids: Any) -> Select[Any]:
    return select(*_shown(thread.c)).select_from(ids).join(thread, thread.c.thread_id == ids.c.thread_id)


def _newest_first(rows: Select[Any], c: Any) -> Select[Any]:
    return rows.order_by(c.updated_at.desc(), c.thread_id.desc())


def _with_metadata(page: Any) -> list[ColumnElement[Any]]:
    """The page's columns, and the metadata of its own rows only."""
    owned = select(Pairs(thread_metadata.c.key, thread_metadata.c.value))
    owned = owned.where(thread_metadata.c.thread_id == page.c.thread_id)
    return [*page.c, case((page.c.metadata_keys > 0, owned.scalar_subquery())).label("pairs")]


def _listed(page: Any) -> Select[Any]:
    return _newest_first(select(*_with_metadata(page), literal_column("0").label("looked")), page.c)


def _headed(looked: ColumnElement[Any], page: Any) -> Select[Any]:
    rows = select(*_with_metadata(page)).subquery("listed")
    return _newest_first(header(rows, looked.label("looked")), rows.c)


_WAITING = oldest(idle_source(_OWNER, _root(thread.c)), _shown(thread.c)).subquery("page")
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
