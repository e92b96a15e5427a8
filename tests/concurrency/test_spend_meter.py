"""Twenty processes over one account, some of them killed: counters equal rows, and what the dead held comes back."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from engine import open_store
from engine.spend import Denied, Outcome
from tests.support.background import until
from tests.support.meters import Product, accounts, check_sums, month, reservations
from tests.support.processes import Program, answers

if TYPE_CHECKING:
    from engine.spend import SpendMeter
    from engine.store import Store
    from tests.support.harness import Harness

WORKERS, DOOMED = 20, 6
EACH = 6
ALLOWANCE = 10_000
LEASE = timedelta(seconds=60)
LATER = timedelta(minutes=5)
BUSY = timedelta(seconds=30)
FOREVER = 600.0
PAUSE = 0.05


def meter_of(store: Store, **options: Any) -> SpendMeter:
    """The meter that every process makes for itself."""
    return store.meter(
        allowance_for=Product(a=ALLOWANCE), period_of=month, lease=LEASE, require_shared=False, **options
    )


def spend(url: str, name: str) -> tuple[int, list[str]]:
    """Reserve and settle in turn, and end with one reservation that stays held: units spent, and what is held."""
    with open_store(url, busy_timeout=BUSY) as store:
        meter = meter_of(store)
        spent = 0
        for step in range(EACH):
            operation = f"{name}/{step}"
            assert not isinstance(meter.reserve("a", operation), Denied)
            outcome = Outcome.CONSUMED if step % 3 else Outcome.RELEASED
            assert meter.settle(operation, outcome).status == "settled"
            spent += outcome is Outcome.CONSUMED
        assert not isinstance(meter.reserve("a", f"{name}/held"), Denied)
        return spent, [f"{name}/held"]


def spend_until_killed(url: str, name: str) -> None:
    """Reserve and settle, as long as the process lives; each second reservation is never settled."""
    with open_store(url, busy_timeout=BUSY) as store:
        meter = meter_of(store)
        deadline = time.monotonic() + FOREVER
        step = 0
        while time.monotonic() < deadline:
            operation = f"{name}/{step}"
            assert not isinstance(meter.reserve("a", operation), Denied)
            if step % 2:
                assert meter.settle(operation, Outcome.CONSUMED).status == "settled"
            step += 1
            time.sleep(PAUSE / 10)


def check_everything(harness: Harness) -> None:
    """The account's row says what the rows say."""
    check_sums(harness)
    (row,) = accounts(harness).values()
    assert row.used + row.reserved <= ALLOWANCE


def test_twenty_processes_on_one_account_of_which_some_are_killed(postgres_harness: Harness) -> None:
    crowd(postgres_harness, WORKERS, DOOMED)


def test_processes_on_one_file_of_which_one_is_killed(sqlite_harness: Harness) -> None:
    crowd(sqlite_harness, 4, 1)


def crowd(harness: Harness, workers: int, doomed: int) -> None:
    """Start all, kill some in the middle, and look; then a pass brings reserved down to what the living hold."""
    store = harness.open(clock=None)
    meter = meter_of(store)
    meter.ensure_schema()
    victims = [Program(spend_until_killed, harness.url, f"victim{n}") for n in range(doomed)]
    living = [Program(spend, harness.url, f"living{n}") for n in range(workers - doomed)]
    until(lambda: _each_has_begun(store, victims), "every victim has reserved twice", limit=60)
    for victim in victims:
        victim.kill()
    done = [answer.value for answer in answers(living)]
    check_everything(harness)

    found = reservations(harness)
    consumed = [name for name, row in found.items() if row.state == "consumed"]
    assert sum(name.startswith("living") for name in consumed) == sum(spent for spent, _ in done)
    alive = [operation for _, held in done for operation in held]
    moment = store.clock.now() + LATER
    for operation in alive:
        meter.heartbeat(operation, now=moment)

    orphans = {name for name, row in found.items() if row.state == "reserved"} - set(alive)
    assert orphans
    assert {name.partition("/")[0].rstrip("0123456789") for name in orphans} == {"victim"}
    released = 0
    for _ in range(len(orphans) + 1):
        report = meter.reconcile(now=moment, limit=50)
        released += report.released
        if report.released == 0:
            break
    assert released == len(orphans)
    check_everything(harness)
    held = {name for name, row in reservations(harness).items() if row.state == "reserved"}
    assert held == set(alive)
    (row,) = accounts(harness).values()
    assert (row.reserved, row.used) == (len(alive), len(consumed))


def _each_has_begun(store: Store, victims: list[Program]) -> bool:
    time.sleep(PAUSE)  # each look costs the processes time
    with store.engine.connect() as connection:
        found = (
            connection.execute(text("SELECT operation_id FROM agentos_spend_reservations")).scalars().all()
        )
    return all(victim.lives() and f"victim{n}/1" in found for n, victim in enumerate(victims))
