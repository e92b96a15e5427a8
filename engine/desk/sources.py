"""Where a filter's threads come from: an index range a status, or a bounded set of claims (ruling 24).

A `Source` is a table or a bounded set of its rows, with the conditions that make them the filter's. The
conditions repeat those of the partial indexes, word by word, or the planners would not use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, false, literal_column, or_, select

from engine.checkpoints.model import CheckpointStatus, ThreadStatus, Unset
from engine.checkpoints.registry_model import EVERY_STATUS
from engine.checkpoints.tables import CLAIMED, tenant_key, thread
from engine.clock import to_ns
from engine.database.constructs import Now
from engine.desk.views import MAX_DRIVEN

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement

    from engine.desk.filters import ThreadFilter

# One "now" for all of a statement; as a scalar subquery it is no reason to leave an index (ruling 4).
CLOCK: Final = select(Now().label("now")).cte("clock")
NOW: Final[ColumnElement[int]] = select(CLOCK.c.now).scalar_subquery()

_SETTLED: Final = {
    ThreadStatus.SUSPENDED: CheckpointStatus.SUSPENDED,
    ThreadStatus.COMPLETED: CheckpointStatus.COMPLETED,
    ThreadStatus.FAILED: CheckpointStatus.FAILED,
    ThreadStatus.DELETED: CheckpointStatus.DELETING,
}
# What a row shows and a filter asks, no more: a bounded set is materialised.
_NEEDED: Final = [
    thread.c[key]
    for key in (
        "thread_id",
        "tenant_key",
        "parent_id",
        "latest_id",
        "latest_place",
        "latest_status",
        "latest_run_id",
        "updated_at",
        "next_seq",
        "floor_seq",
        "claim_token",
        "claim_holder",
        "claim_expires_at",
    )
]
_LIVE: Final = (
    select(*_NEEDED)
    .where(CLAIMED, thread.c.claim_expires_at > NOW)
    .order_by(thread.c.claim_expires_at.desc(), thread.c.thread_id.desc())
    .limit(MAX_DRIVEN + 1)
    .cte("driven")
)
_HELD: Final = (
    select(*_NEEDED)
    .where(CLAIMED, thread.c.claim_holder == bindparam("holder"))
    .order_by(thread.c.thread_id)
    .limit(MAX_DRIVEN + 1)
    .cte("driven")
)


@dataclass(frozen=True, slots=True)
class Source:
    """Rows under `columns` for which all `conditions` hold; `driven`: the bounded set they are in, if any."""

    columns: Any
    conditions: tuple[ColumnElement[bool], ...]
    driven: CTE | None = None


def sources(wanted: ThreadFilter) -> list[Source]:
    """The sources whose rows together are the filter's, each row in one of them; prefixes apart."""
    if wanted.holder is not None:
        return [Source(_HELD.c, conditions(_HELD.c, wanted), _HELD)]
    statuses = EVERY_STATUS if wanted.statuses is None else wanted.statuses
    common = _owned(thread.c, wanted)
    if statuses == EVERY_STATUS:
        return [Source(thread.c, common)]
    ranges = [
        Source(thread.c, (_stored(thread.c, _SETTLED[each]), *common)) for each in statuses & _SETTLED.keys()
    ]
    return ranges + _running(statuses, wanted, common)


def _running(
    statuses: frozenset[ThreadStatus], wanted: ThreadFilter, common: tuple[ColumnElement[bool], ...]
) -> list[Source]:
    """Both statuses of a running checkpoint are its whole range; RUNNING alone comes from live claims."""
    stored = _stored(thread.c, CheckpointStatus.RUNNING)
    if {ThreadStatus.RUNNING, ThreadStatus.IDLE} <= statuses:
        return [Source(thread.c, (stored, *common))]
    if ThreadStatus.IDLE in statuses:
        return [Source(thread.c, (stored, _unheld(thread.c), *common))]
    if ThreadStatus.RUNNING in statuses:
        running = _stored(_LIVE.c, CheckpointStatus.RUNNING)
        return [Source(_LIVE.c, (running, *_owned(_LIVE.c, wanted)), _LIVE)]
    return []


def conditions(c: Any, wanted: ThreadFilter) -> tuple[ColumnElement[bool], ...]:
    """Everything the filter asks of a row but its prefix, for rows that some bound already holds together.

    "Has a checkpoint" is said by its place: for the partial indexes' own words SQLite would leave the bound.
    """
    asked = [c.latest_place.is_not(None), *_asked(c, wanted)]
    if wanted.holder is not None:
        asked.append(c.claim_holder == bindparam("holder"))
    if wanted.statuses is not None and wanted.statuses != EVERY_STATUS:
        asked.append(or_(false(), *(_judged(c, status) for status in sorted(wanted.statuses))))
    return tuple(asked)


def parameters(wanted: ThreadFilter) -> dict[str, Any]:
    """The values that the conditions are bound to."""
    tenant = None if isinstance(wanted.tenant, Unset) else tenant_key(wanted.tenant)
    since = None if wanted.updated_since is None else to_ns(wanted.updated_since)
    return {"tenant": tenant, "since": since, "holder": wanted.holder}


def _owned(c: Any, wanted: ThreadFilter) -> tuple[ColumnElement[bool], ...]:
    return (c.latest_id.is_not(None), *_asked(c, wanted))


def _asked(c: Any, wanted: ThreadFilter) -> tuple[ColumnElement[bool], ...]:
    asked: list[ColumnElement[bool]] = []
    if not isinstance(wanted.tenant, Unset):
        asked += [c.parent_id.is_(None), c.tenant_key == bindparam("tenant")]
    if wanted.updated_since is not None:
        asked.append(c.updated_at >= bindparam("since"))
    return tuple(asked)


def _judged(c: Any, status: ThreadStatus) -> ColumnElement[bool]:
    """`judge`, said in SQL."""
    if status in _SETTLED:
        return _stored(c, _SETTLED[status])
    held = c.claim_expires_at > NOW if status is ThreadStatus.RUNNING else _unheld(c)
    return and_(_stored(c, CheckpointStatus.RUNNING), held)


def _stored(c: Any, status: CheckpointStatus) -> ColumnElement[bool]:
    equal: ColumnElement[bool] = c.latest_status == literal_column(f"'{status.value}'")
    return equal


def _unheld(c: Any) -> ColumnElement[bool]:
    return or_(c.claim_token.is_(None), c.claim_expires_at <= NOW)
