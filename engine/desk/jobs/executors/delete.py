"""Deleting planned threads, descendants first, so that no late writer brings any of it back (console.md F9).

Before anything below a thread goes, the job holds claims on every planned thread above, and the topmost bears the
deletion mark (rulings 17 and 19). What is not as planned is left alone; where the tree has changed, the job stops
before the parent and the mark stays (ruling 54).
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from engine.checkpoints.cascade import RENEWALS
from engine.checkpoints.claims import release, renew
from engine.checkpoints.deletion import delete_thread, held
from engine.checkpoints.emptying import empty
from engine.checkpoints.model import CheckpointStatus, Fence
from engine.clock import to_ns
from engine.desk.audit.model import ObjectKind
from engine.desk.jobs.executor import Executor
from engine.desk.jobs.executors import tree
from engine.desk.jobs.executors.outcomes import CHANGED, GIVEN_UP, GONE, TREE_CHANGED, Words
from engine.desk.jobs.executors.taking import TTL, job_holder, mark, take
from engine.errors import EngineError, StaleClaim

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.jobs.executor import Between, Done
    from engine.desk.plans.model import Item

MAX_STEPS: Final = 100_000
"""Transactions that empty one thread: five hundred million events."""
MAX_TRIES: Final = 3
"""Times that an item's claims are taken anew after one of them was lost."""
_NAME: Final = "desk.delete"
_SAY: Final = Words(ObjectKind.THREAD)


class DeleteExecutor(Executor):
    """One job's deletes. It holds claims under the name of the job, which another runner takes over."""

    def __init__(self, transactions: Transactions, job_id: str, plan_id: str, planned_at: datetime) -> None:
        self._tx = transactions
        self._holder = job_holder(job_id)
        self._plan_id = plan_id
        self._planned_at = to_ns(planned_at)
        self._planned: tree.Guards | None = None
        self._held: dict[str, int] = {}
        self._path: list[str] = []
        # The last path that was claimed as a whole, and of which nothing was lost since.
        self._known: list[str] = []
        self._marked = self._ended = ""
        self._renewed = time.monotonic()

    def prepare(self, item: Item, still_ours: Between) -> Done | None:
        """Claim what stands above and the thread, mark the topmost, and empty a thread that is too large."""
        planned = self._guards(item)
        self._held.pop(self._ended, None)
        self._path = self._tx.read(_NAME, tree.path_to, item.object_id, planned, self._known)
        self._known = []
        self._let_go(keep=self._path)
        for _ in range(MAX_TRIES):
            try:
                return self._claim_path(planned, still_ours) or self._ready(item, still_ours)
            except StaleClaim as lost:
                still_ours()
                self._held.pop(lost.thread_id, None)
                self._known, stale = [], lost
        return _lost(item, stale)

    def finish(self, connection: Connection, item: Item) -> Done:
        """What is left of the thread goes; a child that came meanwhile stops the job."""
        thread_id = item.object_id
        token, fence = self._held[thread_id], self._fence(thread_id)
        try:
            held(connection, thread_id, token, fence)
            left = tree.hold_children(connection, thread_id)
            if left:
                return self._kept_by(left)
            delete_thread(connection, thread_id, token, fence)
        except StaleClaim as lost:
            self._known = []
            return _lost(item, lost)
        self._ended = thread_id
        return _SAY.applied(dict(item.guard), {"deleted": True})

    def close(self) -> None:
        """Give the claims back; marks stay."""
        self._let_go(keep=())

    def _guards(self, item: Item) -> tree.Guards:
        if self._planned is None:
            self._planned = self._tx.read(_NAME, tree.planned_threads, self._plan_id)
        self._planned.setdefault(item.object_id, dict(item.guard))
        return self._planned

    def _claim_path(self, planned: tree.Guards, still_ours: Between) -> Done | None:
        """Claim from the top down; the first that cannot be had keeps everything below it from going.

        One that is gone already has nothing that could be fenced: what was planned below it goes without it.
        """
        item_id = self._path[-1]
        for thread_id in list(self._path):
            if thread_id in self._held:
                continue
            still_ours()
            taken = self._tx.write(_NAME, take, thread_id, planned[thread_id], self._holder, self._planned_at)
            if isinstance(taken, int):
                self._held[thread_id] = taken
            elif thread_id == item_id:
                return _SAY.skipped(taken.why, now=taken.now)
            elif taken.why != GONE:
                return _SAY.skipped(f"{thread_id} above it: {taken.why}", now=taken.now)
            else:
                self._path.remove(thread_id)
        self._known = self._path
        return None

    def _ready(self, item: Item, still_ours: Between) -> Done | None:
        self._renew()
        top = self._path[0]
        left = self._tx.read(_NAME, tree.children_left, item.object_id)
        if left:
            return self._kept_by(left)
        if top not in (item.object_id, self._marked):
            self._tx.write(_NAME, mark, top, self._held[top])
            self._marked = top
        return self._empty(item.object_id, still_ours)

    def _kept_by(self, children: list[str]) -> Done:
        """One that was not planned stops the job (ruling 54); one that was left alone keeps its parents."""
        planned = self._planned or {}
        if all(child in planned for child in children):
            return _SAY.skipped(f"{children[0]} below it stays", children=children)
        return _SAY.stopped(TREE_CHANGED, children=children)

    def _empty(self, thread_id: str, still_ours: Between) -> Done | None:
        token, fence = self._held[thread_id], self._fence(thread_id)
        for _ in range(MAX_STEPS):
            rows = self._tx.write(_NAME, empty, thread_id, token, fence)
            if not rows:
                return None
            if still_ours(rows, self._renew):
                return _SAY.failed(GIVEN_UP, now={"status": CheckpointStatus.DELETING.value})
        return _SAY.failed(f"it is not empty after {MAX_STEPS} steps; plan again")

    def _fence(self, thread_id: str) -> Fence | None:
        """Of the topmost thread's claim, as for every delete of a cascade."""
        top = self._path[0]
        return None if top == thread_id else Fence(top, self._held[top])

    def _renew(self) -> None:
        """The claims, as often as their time asks for it."""
        if time.monotonic() - self._renewed < TTL.total_seconds() / RENEWALS:
            return
        for thread_id in self._path:
            self._tx.write(_NAME, renew, thread_id, self._held[thread_id], TTL)
        self._renewed = time.monotonic()

    def _let_go(self, keep: Iterable[str]) -> None:
        """Give back what is not on the way to the next item. Of a deleted thread there is nothing to give back."""
        kept = frozenset(keep)
        for thread_id in [each for each in self._held if each not in kept]:
            # A claim that is not given back ends with its lease; the job's outcome does not depend on it.
            with suppress(EngineError):
                self._tx.write(_NAME, release, thread_id, self._held[thread_id])
            del self._held[thread_id]


def _lost(item: Item, lost: StaleClaim) -> Done:
    """Somebody took over a claim that had lapsed: whatever is there now was not planned."""
    if lost.thread_id != item.object_id:
        return _SAY.skipped(f"{lost.thread_id} above it: {CHANGED}", now={"token": lost.current})
    if lost.current is None:
        return _SAY.skipped(GONE)
    return _SAY.skipped(CHANGED, now={"token": lost.current})
