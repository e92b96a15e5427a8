"""A made-up run queue: every few rows has an entry."""

from __future__ import annotations

import json
from abc import abstractmethod
from datetime import timedelta
from typing import TYPE_CHECKING

from console.model import Counted, Page, Unset
from console.queue_model import QueueDepth, QueueQuery, QueueRow, QueueRuns, QueueState
from tests.console.fake_moment import T0, cut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from console.model import ThreadRow

STATES = (
    QueueState.LEASED,
    QueueState.QUEUED,
    QueueState.QUEUED,
    QueueState.DEAD,
    QueueState.LEASED,
    QueueState.DONE,
    QueueState.QUEUED,
    QueueState.CANCELLED,
)


def queue_row(number: int, thread: str) -> QueueRow:
    """The entry with this number."""
    state = STATES[number % len(STATES)]
    leased = state is QueueState.LEASED
    waiting = timedelta(seconds=number * 7 - 20)
    left = timedelta(seconds=28 - number * 4)
    text = json.dumps(
        {"goal": f"carry on {thread}", "attempt": number, "budget_micro": 9_007_199_254_740_993}
    )
    return QueueRow(
        entry=f"{number:08x}-5b1f-4d7e-9c1a-2f60aa{number:06d}",
        thread=thread,
        tenant=("acme", None, "globex")[number % 3],
        state=state,
        due_at=T0 - waiting,
        waiting=waiting,
        owner=f"dispatcher-{number % 3 + 1}" if leased else None,
        token=number + 1 if leased else number % 3,
        lease_until=T0 + left if leased else None,
        lease_left=left if leased else None,
        attempts=number % 3 + leased,
        max_attempts=4,
        error="context deadline exceeded calling tool [fetch_page]\x1b[2J" if number % 4 == 3 else None,
        run=f"worker-{number % 9:02}/{number}" if leased or number % 3 else None,
        input=text,
        size=len(text),
    )


def entries_of(thread: str) -> tuple[QueueRow, ...]:
    """A thread's own entries."""
    return tuple(queue_row(number, thread) for number in (0, 3, 5))


class FakeQueue:
    """The calls about the run queue, over the rows of the fake gateway."""

    rows: list[ThreadRow]
    as_of: datetime

    @abstractmethod
    def _asked(self, what: str) -> None:
        """Note a call; fail if the fake is down."""

    def _entries(self) -> Sequence[QueueRow]:
        found = [queue_row(number, row.id) for number, row in enumerate(self.rows[:60:4])]
        return sorted(found, key=lambda row: (list(QueueState).index(row.state) != 1, row.due_at))

    def queue(self, query: QueueQuery, after: str | None, limit: int) -> Page[QueueRow]:
        """Those that match."""
        self._asked("queue")
        return cut([row for row in self._entries() if wanted(row, query)], after, limit, self.as_of)

    def queue_depth(self) -> QueueDepth:
        """How many are open."""
        self._asked("depth")
        return self.depth()

    def depth(self) -> QueueDepth:
        """The same, without being asked by the console."""
        queued = [row for row in self._entries() if row.state is QueueState.QUEUED]
        leased = [row for row in self._entries() if row.state is QueueState.LEASED]
        lapsed = [row for row in leased if row.lease_left is not None and row.lease_left < timedelta(0)]
        due = [row for row in queued if row.waiting > timedelta(0)]
        return QueueDepth(
            Counted(len(queued), more=False),
            Counted(len(due), more=False),
            Counted(len(leased), more=False),
            Counted(len(lapsed), more=False),
            timedelta(seconds=71) if due else None,
            timedelta(seconds=20) if lapsed else None,
        )

    def queue_runs(self, entry: str) -> QueueRuns | None:
        """The runs of one of them."""
        self._asked("runs")
        found = next((row for row in self._entries() if row.entry == entry), None)
        if found is None:
            return None
        return QueueRuns(tuple(f"worker-0{n}/{n}" for n in range(1, found.attempts + 1)), more=False)


def wanted(row: QueueRow, query: QueueQuery) -> bool:
    """What the store would answer."""
    by_state = (
        row.state is query.state if query.state is not None else query.thread is not None or row.is_open
    )
    return (
        by_state
        and (query.thread is None or row.thread == query.thread)
        and (isinstance(query.tenant, Unset) or row.tenant == query.tenant)
    )
