"""Plans of any items, and an executor whose effects can be counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from engine.clock import from_ns
from engine.desk import operations
from engine.desk.actor import Actor, Mandate
from engine.desk.audit.model import Deed, ObjectKind
from engine.desk.jobs import Done, ItemOutcome, Runner, execute, job_detail, job_items
from engine.desk.moment import moment
from engine.desk.plans import Item, ItemKind, Preview, Totals, store_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.jobs import Executor, Job, JobItem
    from engine.desk.jobs.executor import Between
    from engine.desk.operations import KnownOutcome
    from engine.desk.plans import Plan
    from engine.store import Store
    from tests.support.harness import Harness

ANN = Actor("ann", "desk1")
BOB = Actor("bob", "desk2")


def word(actor: Actor = ANN, reason: str | None = "the incident") -> Mandate:
    """A mandate with an operation id of its own."""
    return Mandate(actor, reason)


def tx(store: Store) -> Transactions:
    """The transactions that a store's parts are bound to."""
    return store._transactions


def planned(store: Store, number: int, deed: Deed = Deed.RELEASE, actor: Actor = ANN) -> Plan:
    """A stored plan of so many items, whose objects are `t1`, `t2`, …"""
    items = tuple(Item(n, ItemKind.CLAIM, f"t{n}", {"token": n}) for n in range(1, number + 1))

    def make(connection: Connection) -> Plan:
        at = from_ns(moment(connection))
        return store_plan(connection, Preview(deed, "prod", {}, items, Totals(number), at), actor)

    return tx(store).write("test.plan", make)


def made(store: Store, number: int, mandate: Mandate | None = None, *, rate: int = 0) -> Job:
    """The job of such a plan."""
    plan = planned(store, number)
    return execute(tx(store), plan.plan_id, mandate or word(), plan.phrase, rate=rate)


def table(harness: Harness) -> None:
    """Where `Counting` leaves its effects; no key keeps it from doing so twice."""
    with harness.raw() as connection:
        connection.execute(text("CREATE TABLE counted_effect (job TEXT, n INTEGER)"))


def effects(harness: Harness) -> list[int]:
    """The numbers of the items whose effect is in the store, each as often as it is."""
    with harness.raw() as connection:
        return [row.n for row in connection.execute(text("SELECT n FROM counted_effect ORDER BY n"))]


@dataclass
class Counting:
    """An executor that leaves a row for every item. Hooks answer instead, raise, or do something beside it."""

    job_id: str
    before: Callable[[Item], Done | None] = lambda _: None
    during: Callable[[Item], Done | None] = lambda _: None
    closed: int = 0
    prepared: list[int] = field(default_factory=list)
    still_ours: Between | None = None

    def prepare(self, item: Item, still_ours: Between) -> Done | None:
        """See `Executor`."""
        self.prepared.append(item.n)
        self.still_ours = still_ours
        return self.before(item)

    def finish(self, connection: Connection, item: Item) -> Done:
        """See `Executor`."""
        add = text("INSERT INTO counted_effect (job, n) VALUES (:job, :n)")
        connection.execute(add, {"job": self.job_id, "n": item.n})
        return self.during(item) or applied()

    def close(self) -> None:
        """See `Executor`."""
        self.closed += 1


def applied() -> Done:
    """As planned."""
    return Done(ItemOutcome.APPLIED, ObjectKind.CLAIM, {"before": {"token": 1}, "after": None})


def skipped(why: str, *, stops: bool = False) -> Done:
    """Not as planned any more."""
    return Done(ItemOutcome.SKIPPED, ObjectKind.CLAIM, {"why": why}, stops=stops)


def runner(store: Store, executor: Executor, owner: str = "console-a", **options: Any) -> Runner:
    """A runner with one executor for whatever it takes."""
    return Runner(tx(store), lambda _: executor, owner, **options)


def state_of(store: Store, job_id: str) -> Job:
    """The job as it stands."""
    found = tx(store).read("test.job", job_detail, job_id)
    assert found is not None
    return found


def outcomes(store: Store, job_id: str) -> list[tuple[int, str]]:
    """Number and outcome of every result."""
    return [(item.n, item.outcome.value) for item in results(store, job_id)]


def results(store: Store, job_id: str, outcome: ItemOutcome | None = None) -> tuple[JobItem, ...]:
    """Up to 200 results."""
    return tx(store).snapshot("test.items", job_items, job_id, outcome, None, 200).rows


def is_known(store: Store, operation_id: str) -> bool:
    """Whether `outcome_of` says anything."""
    return tx(store).read("test.outcome", operations.outcome_of, operation_id) is not None


def known(store: Store, operation_id: str) -> KnownOutcome:
    """What `outcome_of` says."""
    found = tx(store).read("test.outcome", operations.outcome_of, operation_id)
    assert found is not None
    return found


def audited(harness: Harness, operation_id: str) -> list[str]:
    """The phases that the audit holds of an operation, in order."""
    wanted = text("SELECT phase FROM audit WHERE operation_id = :op ORDER BY seq")
    with harness.raw() as connection:
        return [row.phase for row in connection.execute(wanted, {"op": operation_id})]


def open_intents(harness: Harness) -> list[str]:
    """Operations whose intent has no result."""
    wanted = text(
        "SELECT operation_id FROM audit GROUP BY operation_id HAVING min(phase) = 'intent' AND count(*) = 1"
    )
    with harness.raw() as connection:
        return [row.operation_id for row in connection.execute(wanted)]


def counted(job: Job) -> tuple[int, int, int]:
    """A job's counts: applied, skipped, failed."""
    return job.applied, job.skipped, job.failed
