"""What listings of threads are built of: one clock, an index range for each status, keyset order (ruling 24).

A `Source` says where rows of a listing come from; its conditions repeat those of the partial indexes word by
word, or the planners would not use the indexes. The registry of one owner and the operator's lists share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    BigInteger,
    and_,
    bindparam,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
    tuple_,
)

from engine.checkpoints.model import CheckpointStatus, ThreadStatus
from engine.checkpoints.registry_model import EVERY_STATUS
from engine.checkpoints.tables import CLAIMED, thread
from engine.database.columns import Identifier
from engine.database.constructs import Now

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import CTE, BindParameter, ColumnElement, Select

    Conditions = tuple[ColumnElement[bool], ...]
    Lead = tuple[tuple[str, ColumnElement[Any]], ...]

MAX_DRIVEN: Final = 10_000
"""Live claims, rows of one metadata pair, or ids of one prefix, that one page looks through (ruling 24)."""
BEYOND: Final = 2**63 - 1
"""Newer than every instant: where a first page starts, so that all pages are one statement."""
UPDATED: Final[BindParameter[int]] = bindparam("updated", type_=BigInteger)
ID: Final[BindParameter[str]] = bindparam("id", type_=Identifier)
SINCE: Final[BindParameter[int]] = bindparam("since", type_=BigInteger)
MOST: Final[BindParameter[int]] = bindparam("most", type_=BigInteger)

# One "now" for all of a statement; as a scalar subquery it is no reason to leave an index (ruling 4).
CLOCK: Final = select(Now().label("now")).cte("clock")
NOW: Final[ColumnElement[int]] = select(CLOCK.c.now).scalar_subquery()

DECIDED: Final = {
    ThreadStatus.SUSPENDED: CheckpointStatus.SUSPENDED,
    ThreadStatus.COMPLETED: CheckpointStatus.COMPLETED,
    ThreadStatus.FAILED: CheckpointStatus.FAILED,
    ThreadStatus.DELETED: CheckpointStatus.DELETING,
}
"""The statuses that the latest checkpoint decides by itself."""
# What the listings show and ask of a row, no more: a bounded set is materialised.
NEEDED: Final = [
    thread.c[key]
    for key in (
        "thread_id",
        "tenant_key",
        "parent_id",
        "latest_id",
        "latest_status",
        "latest_run_id",
        "metadata_keys",
        "created_at",
        "updated_at",
        "next_seq",
        "floor_seq",
        "claim_token",
        "claim_holder",
        "claim_expires_at",
    )
]
LIVE: Final = (
    select(*NEEDED)
    .where(CLAIMED, thread.c.claim_expires_at > NOW)
    .order_by(thread.c.claim_expires_at.desc(), thread.c.thread_id.desc())
    .limit(MAX_DRIVEN + 1)
    .cte("driven")
)
"""The threads with a live claim, one past the bound at most."""


@dataclass(frozen=True, slots=True)
class Source:
    """One range of an index over threads, or a bounded set of rows (`driven`), less what `conditions` refuse.

    `lead` names the index's leading columns with a value for each; `updated_at` and the id follow them.
    `since` is an inclusive lower bound of `updated_at`.
    """

    columns: Any
    conditions: Conditions
    lead: Lead = ()
    since: ColumnElement[int] | None = None
    driven: CTE | None = None

    @property
    def members(self) -> Conditions:
        """All that makes a row one of the source's, in no order: for counting."""
        equal = tuple(self.columns[key] == value for key, value in self.lead)
        recent = () if self.since is None else (self.columns.updated_at >= self.since,)
        return (*self.conditions, *equal, *recent)


def status_sources(
    statuses: frozenset[ThreadStatus],
    *,
    lead: Lead,
    owned: Callable[[Any], Conditions],
    since: ColumnElement[int] | None = None,
) -> list[Source]:
    """Sources whose rows together are the threads of these statuses, each in one of them.

    `owned` gives the conditions besides lead and status. Both statuses of a running checkpoint are its whole
    index range; IDLE alone skips the live claims in it; RUNNING alone comes from the live claims.
    """
    if statuses == EVERY_STATUS:
        return [Source(thread.c, owned(thread.c), lead, since)]
    stored_as = [DECIDED[each] for each in sorted(statuses & DECIDED.keys())]
    running = statuses & {ThreadStatus.RUNNING, ThreadStatus.IDLE}
    if len(running) == 2:
        stored_as.append(CheckpointStatus.RUNNING)
    found = [Source(thread.c, owned(thread.c), (*lead, _state(each)), since) for each in stored_as]
    if running == {ThreadStatus.IDLE}:
        found.append(idle_source(lead, owned(thread.c), since))
    elif running == {ThreadStatus.RUNNING}:
        equal = tuple(LIVE.c[key] == value for key, value in (*lead, _state(CheckpointStatus.RUNNING)))
        found.append(Source(LIVE.c, (*equal, *owned(LIVE.c)), since=since, driven=LIVE))
    return found


def idle_source(lead: Lead, owned: Conditions, since: ColumnElement[int] | None = None) -> Source:
    """The range of the running, less those that are executing: at most every live claim is skipped."""
    return Source(thread.c, (*owned, over(thread.c)), (*lead, _state(CheckpointStatus.RUNNING)), since)


def live(c: Any) -> ColumnElement[bool]:
    """A claim that is not over."""
    return and_(c.claim_token.is_not(None), c.claim_expires_at > NOW)


def over(c: Any) -> ColumnElement[bool]:
    """No claim, or one that is over."""
    return or_(c.claim_token.is_(None), c.claim_expires_at <= NOW)


def _state(status: CheckpointStatus) -> tuple[str, ColumnElement[Any]]:
    # A literal, so that statistics and partial indexes can be put to use (design rule 6).
    return "latest_status", literal_column(f"'{status.value}'")


def judged(c: Any, statuses: frozenset[ThreadStatus]) -> ColumnElement[bool]:
    """`judge`, said in SQL: for rows that some other bound already holds together."""
    return or_(false(), *(_judged(c, status) for status in sorted(statuses)))


def _judged(c: Any, status: ThreadStatus) -> ColumnElement[bool]:
    name, value = _state(DECIDED.get(status, CheckpointStatus.RUNNING))
    stored: ColumnElement[bool] = c[name] == value
    if status in DECIDED:
        return stored
    return and_(stored, live(c) if status is ThreadStatus.RUNNING else over(c))


def newest(
    source: Source, shown: Sequence[ColumnElement[Any]], most: ColumnElement[int] | int = MOST
) -> Select[Any]:
    """At most `most` of the source's rows behind the position (:updated, :id), newest first.

    The lead stands in the order and in the row values, never as an equality: else a planner may walk an index
    without it, in the same order, past any number of other owners' rows.
    """
    lead, values, (updated, thread_id) = _key(source)
    asked = [tuple_(*lead, updated, thread_id) < tuple_(*values, UPDATED, ID)]
    if source.since is not None:
        asked.append(tuple_(*lead, updated) >= tuple_(*values, source.since))
    elif lead:
        asked.append(tuple_(*lead) >= tuple_(*values))
    order = [each.desc() for each in (*lead, updated, thread_id)]
    return select(*shown).where(*source.conditions, *asked).order_by(*order).limit(most)


def oldest(source: Source, shown: Sequence[ColumnElement[Any]]) -> Select[Any]:
    """The same the other way round: longest untouched first, ties by ascending id; `since` plays no part."""
    lead, values, (updated, thread_id) = _key(source)
    asked = [tuple_(*lead, updated, thread_id) > tuple_(*values, UPDATED, ID)]
    if lead:
        asked.append(tuple_(*lead) <= tuple_(*values))
    order = (*lead, updated, thread_id)
    return select(*shown).where(*source.conditions, *asked).order_by(*order).limit(MOST)


def _key(source: Source) -> tuple[list[Any], list[Any], tuple[Any, Any]]:
    c = source.columns
    lead, values = [c[key] for key, _ in source.lead], [value for _, value in source.lead]
    return lead, values, (c.updated_at, c.thread_id)


def driven_size(found: Sequence[Source]) -> ColumnElement[Any]:
    """How many rows the sources' bounded set holds, one past its bound at most; 0 where there is none."""
    bounded = [source.driven for source in found if source.driven is not None]
    return size_of(bounded[0]) if bounded else literal(0)


def size_of(bounded: Any) -> ColumnElement[Any]:
    """How many rows a bounded set holds."""
    return select(func.count()).select_from(bounded).scalar_subquery()


def header(rows: Any, *facts: ColumnElement[Any]) -> Select[Any]:
    """The clock and further facts, joined to the rows of a page: an empty page has its header as well."""
    return select(CLOCK.c.now, *facts, rows).select_from(CLOCK.outerjoin(rows, true()))
