"""How many rows the items of a sweep took away: one item is a thread or a whole table (console.md F10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.acting.deeds import Deed
from console.acting.jobs import ItemOutcome
from console.present import several

if TYPE_CHECKING:
    from console.acting.jobs import JobItemRow, JobRow
    from console.reading import Gateway

PAGE: Final = 200
MOST_PAGES: Final = 5
"""Of each outcome: so many pages of items are read for their rows."""
_COUNTS: Final = ("removed", "events")
"""Where a result holds them: checkpoints of a thread or rows of a table, and events below a floor."""


@dataclass(frozen=True, slots=True)
class Removed:
    """So many rows; `more`: there are items that were not read."""

    rows: int
    more: bool = False


def removed_by(gateway: Gateway, row: JobRow) -> Removed | None:
    """What a sweep took away, whole items and parts of them; None for another deed. Some bounded reads."""
    if row.deed != Deed.SWEEP:
        return None
    rows, more = 0, False
    for outcome, count in ((ItemOutcome.APPLIED, row.applied), (ItemOutcome.FAILED, row.failed)):
        if count:
            counted, left = _sum(gateway, row.id, outcome)
            rows, more = rows + counted, more or left
    return Removed(rows, more)


def _sum(gateway: Gateway, job: str, outcome: ItemOutcome) -> tuple[int, bool]:
    rows, after = 0, None
    for _ in range(MOST_PAGES):
        page = gateway.job_items(job, outcome, after, PAGE)
        rows += sum(map(rows_of, page.rows))
        after = page.next
        if after is None:
            return rows, False
    return rows, True


def rows_of(item: JobItemRow) -> int:
    """What one item took away: of what was applied it stands in `after`, of what failed on the way beside it."""
    after = item.detail.get("after")
    held = after if isinstance(after, Mapping) else item.detail
    found = (held.get(name) for name in _COUNTS)
    return sum(count for count in found if isinstance(count, int) and not isinstance(count, bool))


def words(row: JobRow, removed: Removed) -> str:
    """As `applied 3 items, removed 1,240 rows`."""
    least = "at least " if removed.more else ""
    return f"applied {several(row.applied, 'item')}, removed {least}{several(removed.rows, 'row')}"
