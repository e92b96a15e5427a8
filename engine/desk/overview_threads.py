"""Threads in the overview: how many of each status, and which stopped half-way (rulings 24 and 51).

All of them, or one tenant's roots: the index by state has the one, the index by tenant and status the other.
Whether somebody is on a thread stands in no index of either. Where at most 10,000 claims are live, the threads of
a stored status that nobody is on are those of its index range less the live ones, and the first of them is found
past no more than these. Where more are live, they are looked for among the 10,000 longest untouched.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import case, literal_column, select, tuple_

from engine.checkpoints.listing import DECIDED, MAX_DRIVEN, NOW, over, size_of
from engine.checkpoints.model import CheckpointStatus, ThreadStatus
from engine.checkpoints.tables import CLAIMED, LISTED, ROOT, thread
from engine.clock import from_ns, from_span
from engine.desk.overview_part import DRIVEN, EARLIEST, NO_ID, ONE, TENANT, Part, fields, number
from engine.desk.overview_views import CascadesNow, IncompleteNow, OldestThread, ThreadTotals
from engine.desk.pages import capped
from engine.desk.views import MAX_COUNT, Capped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import CTE, ColumnElement, Select

_ENOUGH: Final[ColumnElement[int]] = literal_column(str(MAX_COUNT + MAX_DRIVEN + 1))
"""Threads of one stored status that are counted: more than the cap, however many of them are live."""
_ORDER: Final = (thread.c.updated_at, thread.c.thread_id)
_COUNTS: Final = {status: f"threads_{status.value}" for status in DECIDED}
_RUNNING, _DELETING = CheckpointStatus.RUNNING, CheckpointStatus.DELETING
_LIVE: Final = (
    select(thread.c.latest_status, thread.c.tenant_key, thread.c.parent_id)
    .where(CLAIMED, thread.c.claim_expires_at > NOW)
    .order_by(thread.c.claim_expires_at)
    .limit(DRIVEN)
    .cte("live")
)
"""The threads with a live claim, one past the bound at most; a thread without a checkpoint has no status."""
_FEW: Final = size_of(_LIVE) <= MAX_DRIVEN


def threads_part(*, owned: bool) -> Part[ThreadTotals]:
    """Each status counted up to 10,000."""
    columns: list[ColumnElement[Any]] = [
        number(_range(stored, [ONE], owned=owned)).label(_COUNTS[status])
        for status, stored in DECIDED.items()
    ]
    return Part((*columns, *_counted(_RUNNING, owned=owned)), _totals)


def incomplete_part(*, owned: bool) -> Part[IncompleteNow]:
    """IDLE threads and the first of them."""
    return Part((*_counted(_RUNNING, owned=owned), *_oldest(_RUNNING, owned=owned)), _incomplete)


def cascades_part(*, owned: bool) -> Part[CascadesNow]:
    """Deletes that have begun, and those that nobody goes on with."""
    return Part((*_counted(_DELETING, owned=owned), *_oldest(_DELETING, owned=owned)), _cascades)


def _totals(row: Any) -> ThreadTotals:
    found = {status: capped(getattr(row, name)) for status, name in _COUNTS.items()}
    found[ThreadStatus.RUNNING] = capped(row.running_live, row.live)
    found[ThreadStatus.IDLE] = _alone(row, _RUNNING)
    return ThreadTotals({status: found[status] for status in ThreadStatus}, from_ns(row.now))


def _incomplete(row: Any) -> IncompleteNow:
    return IncompleteNow(_alone(row, _RUNNING), _first_of(row, _RUNNING), from_ns(row.now))


def _cascades(row: Any) -> CascadesNow:
    begun = capped(row.deleting_size)
    return CascadesNow(begun, _alone(row, _DELETING), _first_of(row, _DELETING), from_ns(row.now))


def _alone(row: Any, stored: CheckpointStatus) -> Capped:
    """How many of the status nobody is on."""
    size, live, far = (getattr(row, f"{stored.value}_{name}") for name in ("size", "live", "alone"))
    if row.live <= MAX_DRIVEN:
        return capped(size - live)
    return Capped(min(far, MAX_COUNT), far > MAX_COUNT or size > MAX_DRIVEN + 1)


def _first_of(row: Any, stored: CheckpointStatus) -> OldestThread | None:
    for name in ("first", "far"):
        found = getattr(row, f"{stored.value}_{name}_thread_id")
        if found is not None:
            at = getattr(row, f"{stored.value}_{name}_updated_at")
            return OldestThread(found, from_ns(at), from_span(row.now - at))
    return None


def _counted(stored: CheckpointStatus, *, owned: bool) -> list[ColumnElement[Any]]:
    """How large the range is, how many of it are live; and where many are, how many of its beginning are not."""
    name = stored.value
    live = (
        select(_LIVE.c.latest_status).where(*_among_live(stored, owned=owned)).subquery(f"{name}_live_ones")
    )
    alone = select(_stretch(stored, owned=owned)).where(over(_stretch(stored, owned=owned).c))
    return [
        size_of(_LIVE).label("live"),
        size_of(_range(stored, [ONE], owned=owned).limit(_ENOUGH).subquery()).label(f"{name}_size"),
        size_of(live).label(f"{name}_live"),
        case((_FEW, 0), else_=size_of(alone.subquery())).label(f"{name}_alone"),
    ]


def _oldest(stored: CheckpointStatus, *, owned: bool) -> list[ColumnElement[Any]]:
    """The one longest untouched, from the range where few claims are live, else from its beginning."""
    shown = [thread.c.thread_id, thread.c.updated_at]
    first = _range(stored, shown, owned=owned).where(over(thread.c), _FEW).limit(ONE)
    rows = _stretch(stored, owned=owned).c
    far = select(rows.thread_id, rows.updated_at).where(over(rows), ~_FEW)
    far = far.order_by(rows.updated_at, rows.thread_id).limit(ONE)
    one, other = first.cte(f"{stored.value}_first"), far.cte(f"{stored.value}_far")
    return [*fields(one, "thread_id", "updated_at"), *fields(other, "thread_id", "updated_at")]


@lru_cache(maxsize=4)
def _stretch(stored: CheckpointStatus, *, owned: bool) -> CTE:
    """The beginning of the range with what tells whether somebody is on a thread."""
    c = thread.c
    needed = [c.thread_id, c.updated_at, c.claim_token, c.claim_expires_at]
    return _range(stored, needed, owned=owned).limit(DRIVEN).cte(f"{stored.value}_stretch")


def _range(stored: CheckpointStatus, shown: Sequence[ColumnElement[Any]], *, owned: bool) -> Select[Any]:
    """The index range of a status, longest untouched first.

    As in listings the lead stands in the order and in the row values, never as an equality.
    """
    lead, values = [thread.c.latest_status], [_word(stored)]
    if owned:
        lead, values = [thread.c.tenant_key, *lead], [TENANT, *values]
    behind = tuple_(*lead, *_ORDER) > tuple_(*values, EARLIEST, NO_ID)
    within = tuple_(*lead) <= tuple_(*values)
    return select(*shown).where(ROOT if owned else LISTED, behind, within).order_by(*lead, *_ORDER)


def _among_live(stored: CheckpointStatus, *, owned: bool) -> list[ColumnElement[bool]]:
    c = _LIVE.c
    asked = [c.latest_status == _word(stored)]
    return [*asked, c.parent_id.is_(None), c.tenant_key == TENANT] if owned else asked


def _word(stored: CheckpointStatus) -> ColumnElement[Any]:
    return literal_column(f"'{stored.value}'")
