"""The entries of one thread: its open ones, and those that recorded a run, each by an index of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, select, union

from engine.checkpoints.listing import ID, MAX_DRIVEN, MOST, size_of
from engine.checkpoints.model import Unset
from engine.checkpoints.tables import OPEN_ENTRY, queue_entry, queue_run
from engine.database.columns import Identifier
from engine.desk.queue_rows import ENTRY

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, ColumnElement, Select

    from engine.desk.queue_views import QueueFilter

_THREAD: Final[BindParameter[str]] = bindparam("thread", type_=Identifier)


def page_of_thread(wanted: QueueFilter, most: int) -> tuple[Select[Any], list[ColumnElement[Any]]]:
    """The page's entries, and how many were looked at: `looked` with runs, `open` ones.

    Both are bounded, the open ones at one past 10,000, those with runs at `most` behind the cursor. What else is
    asked is a look-up for each of them: as a join, a planner may read the whole queue instead.
    """
    unfinished = (
        select(queue_entry.c.id)
        .where(OPEN_ENTRY, queue_entry.c.thread_id == _THREAD)
        .limit(MAX_DRIVEN + 1)
        .cte("unfinished")
    )
    begun = (
        select(queue_run.c.entry_id.label("id"))
        .where(queue_run.c.thread_id == _THREAD, queue_run.c.entry_id > ID)
        .distinct()
        .order_by(queue_run.c.entry_id)
        .limit(most)
        .cte("begun")
    )
    ids = union(select(unfinished.c.id), select(begun.c.id)).subquery("ids")
    matching = select(ids.c.id).where(ids.c.id > ID, *_asked(wanted, ids.c.id))
    found = matching.order_by(ids.c.id).limit(MOST).subquery("found")
    entries = select(*ENTRY).select_from(found).join(queue_entry, queue_entry.c.id == found.c.id)
    return entries, [size_of(begun).label("looked"), size_of(unfinished).label("open")]


def _asked(wanted: QueueFilter, entry_id: ColumnElement[str]) -> list[ColumnElement[bool]]:
    of = queue_entry.alias("of_id")
    conditions = conditions_of(of.c, wanted)
    if not conditions:
        return []
    return [select(and_(*conditions)).where(of.c.id == entry_id).scalar_subquery()]


def conditions_of(c: Any, wanted: QueueFilter) -> list[ColumnElement[bool]]:
    """What a search asks of each entry that it looks at."""
    asked: list[ColumnElement[bool]] = []
    if not isinstance(wanted.tenant, Unset):
        asked.append(c.tenant.is_(None) if wanted.tenant is None else c.tenant == wanted.tenant)
    if wanted.thread_id is not None and wanted.state is not None:
        asked.append(c.state == wanted.state.value)
    return asked
