"""A job that deletes threads, how it is watched from outside, and what must be so once it is over."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import inspect, text

from console.acting.model import Order, Route
from console.acting.plans import Bounds, DeleteWish
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from engine.clock import span_ns
from engine.desk.jobs import LEASE
from tests.console.consoles import MK
from tests.support.cascades import check_only_tombstones, grow
from tests.support.rows import NAMES_A_THREAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.support.harness import Harness

RATE = 1
"""Threads a second of a job that is to be met half-way: it would need twenty seconds, and `hurry` spares them."""
FLAT: Mapping[str, str | None] = {f"t{n:02}": None for n in range(20)}
TREES: Mapping[str, str | None] = {
    name: parent
    for root in "abcdef"
    for name, parent in ((root, None), (f"{root}1", root), (f"{root}2", f"{root}1"))
}
"""Six roots with a child and a grandchild each."""
WITNESSES: Mapping[str, str | None] = {"witness": None, "wit1": "witness", "t": None}
"""Threads that no plan names."""

Rows = dict[str, list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Doomed:
    """A job, the threads it takes, and every row of those that it must not touch, as they were before."""

    id: str
    threads: Sequence[str]
    witnesses: Rows


def made(harness: Harness, threads: Mapping[str, str | None] = FLAT) -> Doomed:
    """Its threads, on the clock that real processes have, the plan of their deletion, and the job, READY."""
    store = harness.open(clock=None)
    grow(store.checkpoints, {**threads, **WITNESSES})
    acting = EngineActing(harness.url, MK)
    acting.open(Order("read-write window", "INC-1", Route.KEY, "holdwatch (W)"))
    roots = tuple(name for name, parent in threads.items() if parent is None)
    plan = acting.make_plan(DeleteWish(roots), "prod", Bounds())
    assert plan.id is not None
    assert plan.items == len(threads)
    job = acting.execute(plan.id, Order("delete", "INC-1", Route.KEY, "holdwatch execute"), plan.phrase, RATE)
    acting.close("planned")
    return Doomed(job, tuple(threads), rows_of(harness, WITNESSES))


def lapse(harness: Harness, job: str) -> None:
    """Let the lease of the job run out: as much time as it has passes for it alone."""
    with harness.raw() as connection:
        connection.execute(
            text("UPDATE job SET lease_until = lease_until - :lease WHERE job_id = :job"),
            {"lease": span_ns(LEASE), "job": job},
        )


def hurry(harness: Harness, job: str) -> None:
    """Whoever takes the job from now on need not go slowly."""
    with harness.raw() as connection:
        connection.execute(text("UPDATE job SET rate = 0 WHERE job_id = :job"), {"job": job})


def token(harness: Harness, job: str) -> int:
    """How often the job was taken, or taken away."""
    with harness.raw() as connection:
        found = connection.execute(text("SELECT lease_token FROM job WHERE job_id = :job"), {"job": job})
        return int(found.scalar_one())


@contextmanager
def looking(harness: Harness) -> Iterator[EngineGateway]:
    """The reading side of a console, on the clock that real processes have."""
    gateway = EngineGateway(harness.url)
    try:
        yield gateway
    finally:
        gateway.close()


def rows_of(harness: Harness, threads: Mapping[str, object]) -> Rows:
    """Every row of every table that names one of these threads, in the order of its text."""
    found: Rows = {}
    with harness.raw() as connection:
        catalogue = inspect(connection)
        for table in catalogue.get_table_names():
            for column in NAMES_A_THREAD & {str(each["name"]) for each in catalogue.get_columns(table)}:
                rows = connection.execute(text(f'SELECT * FROM "{table}"')).mappings()
                mine = [tuple(row.values()) for row in rows if row[column] in threads]
                found[f"{table}.{column}"] = sorted(mine, key=repr)
    return found


def check_all_gone(harness: Harness, doomed: Doomed) -> None:
    """Each planned thread went, once; results, operations and audit say so alike; no other thread was touched."""
    check_each_once(harness, doomed, len(doomed.threads))
    check_only_tombstones(harness, doomed.threads)
    with looking(harness) as gateway:
        outcome = gateway.outcome(doomed.id)
        assert outcome is not None
        assert outcome.applied


def check_each_once(harness: Harness, doomed: Doomed, number: int) -> None:
    """So many items have a result, the first ones, each APPLIED, once, under the operation that says so."""
    with looking(harness) as gateway:
        items = gateway.job_items(doomed.id, None, None, 200).rows
        assert gateway.verify_audit(lambda _read: None).broken_at is None
    assert [(item.n, item.outcome.value) for item in items] == [(n, "applied") for n in range(1, number + 1)]
    assert len({item.id for item in items} & set(doomed.threads)) == number
    assert operations(harness, doomed.id) == {item.operation: item.id for item in items}
    assert audited(harness) == Counter(item.id for item in items)
    assert rows_of(harness, WITNESSES) == doomed.witnesses


def operations(harness: Harness, job: str) -> dict[str, str]:
    """What each operation of an item was about."""
    wanted = text("SELECT operation_id, object_id FROM operation WHERE operation_id LIKE :pattern")
    with harness.raw() as connection:
        rows = connection.execute(wanted, {"pattern": f"{job}:%"}).all()
    return {row.operation_id: row.object_id for row in rows}


def audited(harness: Harness) -> Counter[str]:
    """How many results the audit has of each thread."""
    with harness.raw() as connection:
        rows = connection.execute(
            text("SELECT object_id, phase FROM audit WHERE object_kind = 'thread'")
        ).all()
    assert {row.phase for row in rows} <= {"result"}
    return Counter(row.object_id for row in rows)
