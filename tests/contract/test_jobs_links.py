"""What a runner and a console know after the link failed under them (console.md F8; ruling 3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.desk.actor import Mandate
from engine.desk.jobs import LEASE, JobState, execute, item_operation, pause
from engine.errors import CommitUnknown, StoreFailure
from tests.support.background import promptly
from tests.support.jobs import (
    BOB,
    Counting,
    audited,
    counted,
    effects,
    is_known,
    known,
    made,
    outcomes,
    planned,
    runner,
    state_of,
    table,
    tx,
    word,
)
from tests.support.locks import end_other_connections
from tests.support.lossy import LossyLink

if TYPE_CHECKING:
    from engine.desk.plans import Item
    from tests.support.harness import Harness


def committed(tag: bytes) -> bool:
    """Whether it ended a transaction."""
    return tag == b"COMMIT"


def test_F8_a_lost_answer_to_an_item_is_looked_up_before_anything_is_repeated(
    postgres_harness: Harness,
) -> None:
    table(postgres_harness)
    job_id = made(postgres_harness.store, 3).job_id
    with LossyLink(postgres_harness.url) as link:
        store = postgres_harness.open(link.url, wakeups=False)
        executor = Counting(job_id)

        def during(item: Item) -> None:
            if item.n == 2:
                link.arm(committed)

        executor.during = during
        done = promptly(runner(store, executor).run, job_id)
        assert link.lost == 1
        store.close()
    assert (done.state, counted(done)) == (JobState.DONE, (3, 0, 0))
    assert effects(postgres_harness) == [1, 2, 3]
    assert executor.prepared == [1, 2, 3]


@pytest.mark.parametrize("lands", [True, False])
def test_F8_an_unknown_commit_is_settled_by_the_operation_s_id(harness: Harness, lands: bool) -> None:
    """The same on any store: the transaction's answer is lost, whether it landed or not."""
    table(harness)
    store = harness.store
    job_id = made(store, 2).job_id
    transactions = tx(store)
    write, lost = transactions.write, [0]

    def lossy(name: str, verb: object, *args: object) -> object:
        if name != "jobs.item" or lost[0]:
            return write(name, verb, *args)  # type: ignore[arg-type]
        lost[0] = 1
        if lands:
            write(name, verb, *args)  # type: ignore[arg-type]
        raise CommitUnknown(name)

    transactions.write = lossy  # type: ignore[method-assign, assignment]
    executor = Counting(job_id)
    done = runner(store, executor).run(job_id)
    assert (done.state, counted(done), lost) == (JobState.DONE, (2, 0, 0), [1])
    assert effects(harness) == [1, 2]
    assert outcomes(store, job_id) == [(1, "applied"), (2, "applied")]
    assert known(store, item_operation(job_id, 1)).result["outcome"] == "applied"


def test_F8_a_lost_connection_ends_the_run_and_the_job_is_resumed(postgres_harness: Harness) -> None:
    table(postgres_harness)
    job_id = made(postgres_harness.store, 3).job_id
    link = LossyLink(postgres_harness.url)
    store = postgres_harness.open(link.url, wakeups=False)

    def cut(item: Item) -> None:
        if item.n == 2:
            link.__exit__(None, None, None)  # nobody gets through any more
            end_other_connections(postgres_harness)

    with pytest.raises(StoreFailure):
        promptly(runner(store, Counting(job_id, during=cut)).run, job_id)
    left = state_of(postgres_harness.store, job_id)
    assert (left.state, left.next_n) == (JobState.RUNNING, 2)
    assert outcomes(postgres_harness.store, job_id) == [(1, "applied")]
    postgres_harness.advance(LEASE)
    done = runner(postgres_harness.store, Counting(job_id), "console-b").run(job_id)
    assert (done.state, effects(postgres_harness)) == (JobState.DONE, [1, 2, 3])


@pytest.mark.parametrize(("answer", "landed"), [(2, False), (3, True)])
def test_F8_an_execution_whose_answer_was_lost_is_told_afterwards(
    postgres_harness: Harness, answer: int, landed: bool
) -> None:
    """The second answer is that to the intent, after which nothing was sent; the third that to the change."""
    direct, mandate = postgres_harness.store, word()
    plan = planned(direct, 2)
    with LossyLink(postgres_harness.url) as link:
        store = postgres_harness.open(link.url, wakeups=False)
        seen = [0]

        def nth(tag: bytes) -> bool:
            seen[0] += committed(tag)
            return committed(tag) and seen[0] == answer

        link.arm(nth)
        with pytest.raises(CommitUnknown):
            promptly(execute, tx(store), plan.plan_id, mandate, plan.phrase)
        store.close()
    assert is_known(direct, mandate.operation_id) == landed
    with postgres_harness.raw() as connection:
        made_jobs = connection.execute(text("SELECT count(*) FROM job")).scalar_one()
    assert made_jobs == landed
    assert audited(postgres_harness, mandate.operation_id) == ["intent", "result"][: 1 + landed]


def test_F8_a_pause_whose_answer_was_lost_is_told_afterwards(postgres_harness: Harness) -> None:
    direct, mandate = postgres_harness.store, word()
    job_id = made(direct, 2).job_id
    with LossyLink(postgres_harness.url) as link:
        store = postgres_harness.open(link.url, wakeups=False)
        seen = [0]

        def second(tag: bytes) -> bool:
            seen[0] += committed(tag)
            return committed(tag) and seen[0] == 2

        link.arm(second)
        with pytest.raises(CommitUnknown):
            promptly(pause, tx(store), job_id, mandate)
        store.close()
    assert known(direct, mandate.operation_id).result["after"] == "paused"
    assert state_of(direct, job_id).state is JobState.PAUSED


def test_a_job_runs_by_whichever_clock_the_store_reads(harness_any_clock: Harness) -> None:
    table(harness_any_clock)
    store = harness_any_clock.store
    job_id = made(store, 2).job_id

    def look(_: Item) -> None:
        running = state_of(store, job_id)
        assert not running.interrupted
        assert running.lease_until is not None
        assert running.lease_until > harness_any_clock.now()

    done = runner(store, Counting(job_id, look)).run(job_id)
    assert (done.state, counted(done)) == (JobState.DONE, (2, 0, 0))


def test_the_audit_tells_of_every_item_who_why_and_what_it_was_before(harness: Harness) -> None:
    table(harness)
    store = harness.store
    job_id = made(store, 1, Mandate(BOB, "the incident", command="holdwatch execute pln")).job_id
    runner(store, Counting(job_id)).run(job_id)
    wanted = text("SELECT * FROM audit WHERE operation_id = :op")
    with harness.raw() as connection:
        row = connection.execute(wanted, {"op": item_operation(job_id, 1)}).one()
    said = json.loads(row.body)
    assert (row.phase, row.actor, row.route, row.object_id) == ("result", BOB.name, "job", "t1")
    assert (said["job"], said["before"], said["after"]) == (job_id, {"token": 1}, None)
    assert (said["reason"], said["command"]) == ("the incident", "holdwatch execute pln")
