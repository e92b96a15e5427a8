"""Three connections at most: one that reads, one that listens, and one that writes while `W` is open (ruling 57)."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from console.acting.jobs import JobState
from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, ReleaseWish
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.gateway.store import APPLICATION_NAME
from tests.support.background import background
from tests.support.builders import claim

if TYPE_CHECKING:
    from tests.support.harness import Harness

MOST: Final = 3
ITEMS: Final = 20
RATE: Final = 20
LIMIT: Final = 20.0
MINE: Final = text(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = :name"
)


def order(what: str) -> Order:
    """A change with a reason."""
    return Order(what, "INC-1", Route.KEY, f"holdwatch {what}")


def made(acting: EngineActing, *threads: str) -> str:
    """A job that releases these claims, slowly."""
    plan = acting.make_plan(ReleaseWish(threads), "prod", Bounds())
    assert plan.id is not None
    return acting.execute(plan.id, order("execute"), plan.phrase, RATE)


def test_ruling_57_a_console_that_reads_listens_and_runs_a_job_has_three_connections(
    postgres_harness: Harness,
) -> None:
    """While the job runs the person looks at it and changes something else, too."""
    for n in range(ITEMS + 1):
        claim(postgres_harness.store, f"t{n}")
    looking, acting = (
        EngineGateway(postgres_harness.url),
        EngineActing(postgres_harness.url, Person("mk", "b")),
    )
    counts, stop = list[int](), threading.Event()
    with postgres_harness.raw() as connection:

        def count() -> None:
            """The view is a snapshot for as long as the transaction lasts, unless it is cleared."""
            connection.execute(text("SELECT pg_stat_clear_snapshot()"))
            counts.append(len(connection.execute(MINE, {"name": APPLICATION_NAME}).all()))

        looking.identity()
        count()
        acting.open(order("read-write window"))
        count()
        job, other = made(acting, *(f"t{n}" for n in range(ITEMS))), made(acting, f"t{ITEMS}")
        ended = threading.Event()
        listening = background(lambda: looking.hear(ended, lambda: None))
        running = background(lambda: acting.run_job(job, stop, {}))
        deadline, paused = time.monotonic() + LIMIT, False
        while not running.done() and time.monotonic() < deadline:
            view = looking.job(job)
            if view is not None and view.row.done and not paused:
                paused = acting.pause_job(other, order("pause")).state is JobState.PAUSED
            count()
            time.sleep(0.01)
        done = running.result(LIMIT)
        ended.set()
        acting.close("the test is over")
        looking.close()
        listening.result(LIMIT)
    assert done is not None
    assert (done.state, done.applied, paused) == (JobState.DONE, ITEMS, True)
    assert counts[:2] == [1, 2]
    assert max(counts) == MOST
