"""A small runner of executors: prepare, then finish in one transaction, item by item; it may be killed anywhere."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, text

from engine.desk.actor import Actor
from engine.desk.jobs.executors.factory import executor_for
from engine.desk.jobs.model import ItemOutcome
from engine.desk.plans.model import Item, ItemKind, Plan, PlanState, Totals
from engine.desk.tables import plan_item

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.database.transaction import Transactions
    from engine.desk.audit.model import Deed
    from engine.desk.jobs.executor import Done, Executor
    from engine.store import Store
    from tests.support.harness import Harness

APPLIED, SKIPPED, FAILED = ItemOutcome.APPLIED, ItemOutcome.SKIPPED, ItemOutcome.FAILED
JOB = "job-1"
_GUARD = ("token", "checkpoint", "next_seq", "next_write")
MOST_CALLS = 1000
"""Transactions in which a killed job is looked for an end."""


class Killed(BaseException):
    """The process is gone: nothing of it runs any more, `close` neither."""


class Mortal:
    """Transactions of a process that is killed before its call number `last`, counted from 0."""

    def __init__(self, transactions: Transactions, last: int = MOST_CALLS) -> None:
        self._inner = transactions
        self._left = last

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._inner, name)

        def call(*args: Any, **more: Any) -> Any:
            if self._left == 0:
                raise Killed
            self._left -= 1
            return inner(*args, **more)

        return call


@dataclass
class Job:
    """A plan that is carried out; `done` are the results that were stored, each in its item's transaction."""

    harness: Harness
    plan: Plan
    items: list[Item]
    done: list[Done]

    def executor(
        self, transactions: Any, resolvers: Mapping[str, Callable[[Any], Any]] | None = None
    ) -> Executor:
        """As a runner makes it."""
        return executor_for(transactions, JOB, self.plan, resolvers or {})

    def run(self, store: Store | None = None, **options: Any) -> list[Done]:
        """All that is left of the job, by one runner that lives; every result so far."""
        transactions = _tx(store or self.harness.store)
        executor = self.executor(transactions, **options)
        try:
            self._all(executor, transactions)
        finally:
            executor.close()
        return self.done

    def run_until_killed(self, store: Store, last: int) -> bool:
        """The same by one that is killed before its transaction number `last`; whether it came to that."""
        transactions = Mortal(_tx(store), last)
        executor = self.executor(transactions)
        try:
            self._all(executor, transactions)
            executor.close()
        except Killed:
            return True
        return False

    def _all(self, executor: Executor, transactions: Any) -> None:
        for item in self.items[len(self.done) :]:
            done = executor.prepare(item, still_ours)
            if done is None:
                done = transactions.write("test.item", executor.finish, item)
            self.done.append(done)
            if done.stops:
                return

    def whys(self) -> list[str]:
        """Of each result its outcome, or why it was not applied."""
        return [str(done.detail.get("why", done.outcome.value)) for done in self.done]


def job(harness: Harness, deed: Deed, items: Sequence[Item], **params: Any) -> Job:
    """A job of these items, whose plan's rows are in the store."""
    now = harness.now()
    plan_id = f"plan-{uuid.uuid4()}"
    plan = Plan(
        plan_id=plan_id,
        deed=deed,
        environment="test",
        params=params,
        actor=Actor("ann", "desk1"),
        hash="-",
        items=len(items),
        totals=Totals(len(items)),
        created_at=now,
        expires_at=now,
        state=PlanState.EXECUTED,
    )
    rows = [
        {"plan_id": plan_id, "n": n, "kind": each.kind.value, "object_id": each.object_id}
        | {"guard": json.dumps(dict(each.guard)), "txn_id": plan_id}
        for n, each in enumerate(items, 1)
    ]
    with harness.raw() as connection:
        if rows:
            connection.execute(insert(plan_item), rows)
    return Job(harness, plan, list(items), [])


def still_ours(rows: int = 0, meanwhile: Callable[[], object] = lambda: None) -> bool:
    """Nobody else took the job, and nobody cancelled it."""
    meanwhile()
    return False


def item(n: int, kind: ItemKind, object_id: str, **guard: Any) -> Item:
    """One item under its guard."""
    return Item(n, kind, object_id, guard)


def row_of(harness: Harness, t: str) -> Any:
    """The thread's row; None without one."""
    with harness.raw() as connection:
        return connection.execute(text("SELECT * FROM thread WHERE thread_id = :t"), {"t": t}).one_or_none()


def thread_items(harness: Harness, *threads: str) -> list[Item]:
    """The threads as a delete plan shows them now, in this order."""
    with harness.raw() as connection:
        rows = {row.thread_id: row for row in connection.execute(text("SELECT * FROM thread"))}
    shown = ("claim_token", "latest_id", "next_seq", "next_write")
    return [
        item(
            n, ItemKind.THREAD, t, **dict(zip(_GUARD, (getattr(rows[t], key) for key in shown), strict=True))
        )
        for n, t in enumerate(threads, 1)
    ]


def claim_item(harness: Harness, t: str, n: int = 1) -> Item:
    """The claim as a release plan shows it now."""
    row = row_of(harness, t)
    return item(n, ItemKind.CLAIM, t, token=row.claim_token, expires_at=row.claim_expires_at)


def _tx(store: Store) -> Transactions:
    return store._transactions
