"""Ids that begin with a prefix, in their own order, and a bounded stretch of them (ruling 24).

No index holds one owner's ids: a page looks through the next 10,000 ids of the store, whoever owns them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, bindparam, literal_column, select, true

from engine.checkpoints.listing import MAX_DRIVEN, NEEDED, size_of
from engine.checkpoints.registry_model import MAX_LIMIT
from engine.checkpoints.tables import tenant_key, thread
from engine.database.columns import Identifier, check_id, check_optional_id
from engine.database.statement import Statement
from engine.errors import ValidationError
from engine.paging import check_limit

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from engine.checkpoints.checkpointer import Checkpointer

_START = bindparam("start", type_=Identifier)
_END = bindparam("end", type_=Identifier)


@dataclass(frozen=True, slots=True)
class IdRange:
    """The ids with a prefix, or those behind one (`exclusive`); `end` None: nothing lies past them."""

    start: str
    end: str | None
    exclusive: bool

    @classmethod
    def of(cls, prefix: str, after: str | None) -> IdRange:
        """The range of a page; ValidationError for what is no id."""
        check_id("prefix", prefix)
        check_optional_id("after", after)
        end = after_prefix(prefix)
        if after is None or after < prefix:
            return cls(prefix, end, exclusive=False)
        return cls(after, end, exclusive=True)

    @property
    def conditions(self) -> tuple[ColumnElement[bool], ...]:
        """The range of the key, over the bound :start and :end."""
        key = thread.c.thread_id
        start = key > _START if self.exclusive else key >= _START
        return (start,) if self.end is None else (start, key < _END)

    @property
    def values(self) -> dict[str, str | None]:
        """What the conditions are bound to."""
        return {"start": self.start, "end": self.end}


def after_prefix(prefix: str) -> str | None:
    """The first text past all that begin with `prefix`, in code-point order; None when there is none."""
    kept = prefix.rstrip(chr(0x10FFFF))
    if not kept:
        return None
    last = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if last == 0xD800 else last)


def stretch(ids: IdRange, bound: int = MAX_DRIVEN) -> Any:
    """The first rows of the range, one past the bound at most: what a page picks from, in the key's order.

    The limit keeps a planner from gathering one owner's threads instead, which no bound holds.
    """
    rows = select(*NEEDED).where(*ids.conditions).order_by(thread.c.thread_id)
    return rows.limit(literal_column(str(bound + 1))).subquery("stretch")


def stretch_size(ids: IdRange, bound: int = MAX_DRIVEN) -> ColumnElement[int]:
    """How many ids the stretch holds."""
    found = select(thread.c.thread_id).where(*ids.conditions).order_by(thread.c.thread_id)
    return size_of(found.limit(literal_column(str(bound + 1))).subquery("counted"))


def check_stretch(prefix: str, found: int, limit: int, looked: int, bound: int = MAX_DRIVEN) -> None:
    """ValidationError when the bound was reached before the page was full: there may be more behind it."""
    if found <= limit and looked > bound:
        problem = f"{found} of the next {bound} ids with {prefix!r} match; use a longer prefix"
        raise ValidationError("prefix", (problem,))


def find_threads(
    checkpointer: Checkpointer, tenant: str | None, prefix: str, *, after: str | None = None, limit: int = 100
) -> list[str]:
    """At most `limit` (1 to 1000) of the owner's root threads whose id begins with `prefix`, by id.

    `after` is the last id of the page before. ValidationError where the store's next 10,000 ids with the
    prefix do not fill the page.
    """
    return checkpointer.find_threads(tenant, prefix, after=after, limit=limit)


def threads_with_prefix(
    connection: Connection, tenant: str | None, prefix: str, after: str | None, limit: int
) -> list[str]:
    """The verb of `find_threads`."""
    check_limit(limit, MAX_LIMIT)
    check_optional_id("tenant", tenant)
    ids = IdRange.of(prefix, after)
    statement = _page(ids.exclusive, ids.end is None)
    rows = statement.all(connection, tenant=tenant_key(tenant), most=limit + 1, **ids.values)
    found = [row.thread_id for row in rows if row.thread_id is not None]
    check_stretch(prefix, len(found), limit, rows[0].looked)
    return sorted(found)[:limit]


@lru_cache(maxsize=4)
def _page(exclusive: bool, endless: bool) -> Statement:
    ids = IdRange("", None if endless else "", exclusive)
    rows = stretch(ids)
    found = (
        select(rows.c.thread_id)
        .where(rows.c.tenant_key == bindparam("tenant", type_=Identifier))
        .where(rows.c.latest_id.is_not(None), rows.c.parent_id.is_(None))
        .order_by(rows.c.thread_id)
        .limit(bindparam("most", type_=BigInteger))
        .subquery("found")
    )
    size = select(stretch_size(ids).label("looked")).subquery("size")
    return Statement(select(size.c.looked, found.c.thread_id).select_from(size.outerjoin(found, true())))
