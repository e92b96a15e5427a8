"""What deleted threads left behind: where their numbering goes on, and since when (console.md F9, ruling 51)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, literal_column, select, tuple_

from engine.checkpoints.listing import BEYOND, ID, MOST, NOW, SINCE, UPDATED, header, size_of
from engine.checkpoints.model import as_utc
from engine.checkpoints.registry_model import position
from engine.checkpoints.tables import BURIED, refusal, thread
from engine.clock import from_ns, from_span, to_ns
from engine.database.statement import Statement
from engine.desk.pages import capped
from engine.desk.views import MAX_COUNT, MAX_PAGE, Capped, Page
from engine.paging import check_limit, encode_cursor

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from sqlalchemy import Connection, Select

_KEYS: Final = (thread.c.deleted_at, thread.c.thread_id)
_REFUSED: Final = select(refusal.c.count).where(refusal.c.thread_id == thread.c.thread_id).scalar_subquery()
_TOMBSTONES: Final = Statement(
    header(
        select(
            *_KEYS,
            thread.c.tomb_first,
            thread.c.next_seq,
            thread.c.latest_id,
            thread.c.claim_token,
            (NOW - thread.c.deleted_at).label("age"),
            func.coalesce(_REFUSED, 0).label("refusals"),
        )
        .where(BURIED, tuple_(*_KEYS) < tuple_(UPDATED, ID), thread.c.deleted_at >= SINCE)
        .order_by(*(key.desc() for key in _KEYS))
        .limit(MOST)
        .subquery("page")
    )
)
_LATELY: Final[Select[Any]] = (
    select(literal_column("1"))
    .where(BURIED, thread.c.deleted_at >= SINCE)
    .order_by(*(key.desc() for key in _KEYS))
    .limit(literal_column(str(MAX_COUNT + 1)))
)
_COUNT: Final = Statement(select(size_of(_LATELY.subquery("lately")).label("number")))


@dataclass(frozen=True, slots=True)
class TombstoneRow:
    """A deleted id.

    `continues_at` is the number that its next event gets: the one kept here, or where a new thread of the id
    has got to. `reused`: the id has a claim, a checkpoint or events again; a sweep then drops the tombstone once
    they are gone.
    """

    thread_id: str
    continues_at: int
    deleted_at: datetime
    age: timedelta
    reused: bool
    refusals: int


def tombstones(
    connection: Connection, after: str | None, limit: int, since: datetime | None = None
) -> Page[TombstoneRow]:
    """At most `limit` (1 to 200) tombstones of the whole store, last deleted first. A tombstone has no owner.

    `since` leaves out those deleted before it.
    """
    check_limit(limit, MAX_PAGE)
    deleted, thread_id = (BEYOND, "") if after is None else position(after)
    values = {"updated": deleted, "id": thread_id, "since": _since(since)}
    found = _TOMBSTONES.all(connection, **values, most=limit + 1)
    rows: list[Any] = [row for row in found if row.thread_id is not None]
    rows.sort(key=lambda row: (row.deleted_at, row.thread_id), reverse=True)
    following = None
    if len(rows) > limit:
        following = encode_cursor(rows[limit - 1].deleted_at, rows[limit - 1].thread_id)
    return Page(tuple(map(_tombstone_row, rows[:limit])), following, from_ns(found[0].now))


def count_tombstones(connection: Connection, since: datetime | None = None) -> Capped:
    """How many there are, deleted at or after `since`, counted up to 10,000."""
    row: Any = _COUNT.one(connection, since=_since(since))
    return capped(row.number)


def _since(since: datetime | None) -> int:
    wanted = as_utc("since", since)
    return -BEYOND if wanted is None else to_ns(wanted)


def _tombstone_row(row: Any) -> TombstoneRow:
    numbered = row.next_seq is not None
    return TombstoneRow(
        thread_id=row.thread_id,
        continues_at=row.next_seq if numbered else row.tomb_first,
        deleted_at=from_ns(row.deleted_at),
        age=from_span(row.age),
        reused=numbered or row.latest_id is not None or row.claim_token is not None,
        refusals=row.refusals,
    )
