"""Up to where the event log is decided: no commit under way can bring an event below (ruling 23).

Positions are drawn before commits land. A run without a gap is decided at once; past a gap, everything seen
at one moment is decided once all transactions of that moment have ended: the horizons of `Gaps`, with the
boundary of `engine.database.snapshot`, as every tail has them. SQLite numbers in commit order, where all is
decided.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, func, literal_column, select

from engine.checkpoints.gaps import Gaps, Held, Hold
from engine.checkpoints.tables import event
from engine.database.snapshot import boundary, oldest_running, oldest_writer
from engine.database.statement import Statement
from engine.desk.views import MAX_SEARCHED

if TYPE_CHECKING:
    from sqlalchemy import Connection

STEP: Final = 10_000
"""Positions that one call looks at for gaps."""
MAX_HORIZONS: Final = 64
"""Moments remembered at once; while so many are unsettled, later calls only wait for these."""

_AT: Final = event.c.position
_NEXT: Final = (
    select(_AT)
    .where(bindparam("base", type_=_AT.type) < _AT)
    .order_by(_AT)
    .limit(literal_column(str(STEP)))
    .subquery("next")
)
_COUNTED: Final = select(
    _NEXT.c.position, func.row_number().over(order_by=_NEXT.c.position).label("n")
).subquery("counted")
_RUN: Final = select(func.max(_COUNTED.c.position)).where(
    _COUNTED.c.position - _COUNTED.c.n == bindparam("base", type_=_AT.type)
)
_LOOK = Statement(
    select(
        select(func.max(_AT)).scalar_subquery().label("top"),
        _RUN.scalar_subquery().label("run"),
        oldest_running().label("oldest"),
        boundary().label("boundary"),
    )
)
_RECENT: Final = select(_AT).order_by(_AT.desc()).limit(literal_column(str(MAX_SEARCHED))).subquery("recent")
_BEGIN = Statement(select(func.min(_RECENT.c.position).label("bottom"), func.count().label("number")))


class Frontier:
    """What the calls of one desk learn together; all before the newest 5,000 of its first look is decided."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decided: int | None = None
        self._gaps = Gaps()
        self._hold = Hold()

    def advance(self, connection: Connection) -> tuple[int, Held | None]:
        """The newest decided position, and what it waits for, if anything.

        Wants a READ: what is read afterwards must come from a later snapshot than what was learned here.
        """
        base = _begin(connection) if self._decided is None else self._decided
        row: Any = _LOOK.one(connection, base=base)
        with self._lock:
            self._decided = max(base, self._decided or 0)
            self._learn(row)
            self._hold.at(self._decided + 1 if self._decided < (row.top or 0) else None)
            if self._hold.due:
                self._hold.blame(oldest_writer(connection))
            return self._decided, self._hold.held

    def _learn(self, row: Any) -> None:
        assert self._decided is not None
        top, run = row.top or 0, row.run or 0
        self._gaps.saw(row.oldest)
        if top > max(self._decided, run, self._gaps.settled) and self._gaps.pending < MAX_HORIZONS:
            self._gaps.remember(top, row.boundary)
            self._gaps.saw(row.oldest)  # Where nothing was running at all, this very look is the final one.
        self._decided = max(self._decided, run, self._gaps.settled)


def _begin(connection: Connection) -> int:
    row: Any = _BEGIN.one(connection)
    return 0 if row.number < MAX_SEARCHED else int(row.bottom) - 1
