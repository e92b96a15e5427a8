"""Sweeping what was planned: each kind of item by its own part (ruling 54)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from engine.desk.jobs.executor import Executor
from engine.desk.jobs.executors.batches import LapsedItems, PurgeItems
from engine.desk.jobs.executors.retention import RetentionItems, TombstoneItems
from engine.desk.plans.model import ItemKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.checkpoints.retention import SweepGuard
    from engine.database.transaction import Transactions
    from engine.desk.jobs.executor import Between, Done
    from engine.desk.plans.model import Item


class _Part(Protocol):
    """An executor of one kind of item, which holds nothing between two of them."""

    def prepare(self, item: Item, still_ours: Between) -> Done | None: ...

    def finish(self, connection: Connection, item: Item) -> Done: ...


class SweepExecutor(Executor):
    """`planned_at` is when the plan was made: what was committed later is in no item."""

    def __init__(
        self, transactions: Transactions, job_id: str, guard: SweepGuard | None, planned_at: datetime
    ) -> None:
        self._parts: Mapping[ItemKind, _Part] = {
            ItemKind.RETENTION: RetentionItems(transactions, job_id, guard, planned_at),
            ItemKind.TOMBSTONE: TombstoneItems(guard),
            ItemKind.LAPSED: LapsedItems(transactions, job_id),
            ItemKind.PURGE: PurgeItems(transactions, job_id),
        }

    def prepare(self, item: Item, still_ours: Between) -> Done | None:
        """See `Executor`."""
        return self._parts[item.kind].prepare(item, still_ours)

    def finish(self, connection: Connection, item: Item) -> Done:
        """See `Executor`."""
        return self._parts[item.kind].finish(connection, item)
