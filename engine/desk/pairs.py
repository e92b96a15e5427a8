"""Threads with one pair of metadata, newest first (ruling 24).

For one tenant the pair's own index gives the order; where a status is asked for as well, 10,000 of its threads
are looked at. For all tenants there is no such index: the pair is looked for in a window, which is the 10,000
threads that the filter without it lists first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, literal, literal_column, select, tuple_, union_all

from engine.checkpoints.listing import (
    BEYOND,
    ID,
    MAX_DRIVEN,
    MOST,
    NEEDED,
    SINCE,
    UPDATED,
    driven_size,
    header,
    judged,
    newest,
    size_of,
)
from engine.checkpoints.model import Unset
from engine.checkpoints.registry_model import EVERY_STATUS
from engine.checkpoints.tables import thread, thread_metadata
from engine.database.backend import backend_of
from engine.database.columns import Identifier
from engine.desk.pages import count, counting
from engine.desk.rows import shown
from engine.desk.sources import paired, parameters, sources
from engine.desk.views import MAX_COUNT
from engine.errors import ValidationError

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, Connection, Select

    from engine.desk.filters import ThreadFilter
    from engine.desk.views import Capped


def page_of_pair(wanted: ThreadFilter) -> Select[Any]:
    """A page behind (:updated, :id): `looked` is how many live claims drive it, `window` how large it was."""
    if isinstance(wanted.tenant, Unset):
        window, looked = _window(wanted)
        rows = _newest_first(select(*shown(window.c)).where(paired(window.c)), window.c).limit(MOST)
        return header(rows.subquery("page"), looked.label("looked"), size_of(window).label("window"))
    searched = _restricted(wanted)
    stretch = _stretch(wanted, literal_column(str(MAX_DRIVEN + 1)) if searched else MOST)
    found = _newest_first(_matching(wanted, stretch), stretch.c).limit(MOST).subquery("found")
    rows = select(*shown(thread.c)).select_from(found).join(thread, thread.c.thread_id == found.c.thread_id)
    window_size = size_of(stretch) if searched else literal_column("0")
    return header(rows.subquery("page"), literal(0).label("looked"), window_size.label("window"))


def count_of_pair(connection: Connection, wanted: ThreadFilter) -> Capped:
    """How many have the pair among those that a listing looks at; `more` where it would have to look further."""
    values = parameters(wanted) | {"now": backend_of(connection).now(), "updated": BEYOND, "id": ""}
    if isinstance(wanted.tenant, Unset):
        window, driven = _window(wanted)
        size = size_of(window)
        looked: ColumnElement[Any] = case((driven > size, driven), else_=size)
        matching = select(literal(1)).select_from(window).where(paired(window.c))
    else:
        stretch = _stretch(wanted, literal_column(str(MAX_COUNT + 1)))
        looked, matching = size_of(stretch), _matching(wanted, stretch)
    return count(connection, counting(matching, looked), values)


def check_window(wanted: ThreadFilter, size: int, found: int, limit: int) -> None:
    """ValidationError when a full window did not fill the page: there may be more behind it."""
    if size <= MAX_DRIVEN or found > limit:
        return
    owned = not isinstance(wanted.tenant, Unset)
    where = "threads with the pair" if owned else "threads"
    advice = "leave the statuses out" if owned else "name a tenant, or add a status, a holder or a prefix"
    raise ValidationError("metadata", (f"{found} of the newest {MAX_DRIVEN} {where} match; {advice}",))


def _window(wanted: ThreadFilter) -> tuple[CTE, ColumnElement[Any]]:
    """The first threads of the filter without its pair, and how many live claims they are driven by."""
    found = sources(wanted)
    most: ColumnElement[int] = literal_column(str(MAX_DRIVEN + 1))
    keys = [column.key for column in NEEDED]
    arms = [newest(each, [each.columns[key] for key in keys], most).subquery() for each in found]
    rows = union_all(*map(select, arms)).subquery("merged") if arms else _nothing()
    return _newest_first(select(rows), rows.c).limit(most).cte("window"), driven_size(found)


def _nothing() -> Any:
    return select(*NEEDED).where(literal_column("1 = 0")).subquery("merged")


def _stretch(wanted: ThreadFilter, most: ColumnElement[int]) -> CTE:
    """The index range of one tenant's pair. Only listed roots bear their owner there."""
    m = thread_metadata.c
    lead = (m.tenant_key, m.key, m.value)
    asked = [
        each == bindparam(name, type_=Identifier)
        for each, name in zip(lead, ("tenant", "key", "value"), strict=True)
    ]
    asked.append(tuple_(m.updated_at, m.thread_id) < tuple_(UPDATED, ID))
    if wanted.updated_since is not None:
        asked.append(m.updated_at >= SINCE)
    return _newest_first(select(m.updated_at, m.thread_id).where(*asked), m).limit(most).cte("stretch")


def _matching(wanted: ThreadFilter, stretch: CTE) -> Select[Any]:
    """The stretch's threads of the statuses asked for, each judged by a look-up of its own."""
    rows = select(stretch.c.updated_at, stretch.c.thread_id)
    if not _restricted(wanted):
        return rows
    assert wanted.statuses is not None
    status = select(judged(thread.c, wanted.statuses)).where(thread.c.thread_id == stretch.c.thread_id)
    return rows.where(status.scalar_subquery())


def _restricted(wanted: ThreadFilter) -> bool:
    return wanted.statuses is not None and wanted.statuses != EVERY_STATUS


def _newest_first(rows: Select[Any], c: Any) -> Select[Any]:
    return rows.order_by(c.updated_at.desc(), c.thread_id.desc())
