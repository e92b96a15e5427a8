"""Rulings 1 to 10: statements, locks, clock and connections."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine import open_store
from engine.checkpoints import ClaimRequest, Commit, Origin, claims, commits
from engine.errors import CommitUnknown, InvalidCommit, StoreFailure, ThreadBusy, ValidationError
from tests.support.background import LIMIT, background, promptly, until
from tests.support.builders import TTL, chain, ck, claim, emit, ev, fresh_id, latest_id, seqs, task_ids, wr
from tests.support.files import path_of, writing
from tests.support.locks import end_other_connections, waiting_for_locks
from tests.support.lossy import LossyLink
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness


def test_ruling_1_no_write_outlives_the_checkpoint_it_was_for(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["c0"])

    for number in range(50):
        before, after = f"c{number}", f"c{number + 1}"
        write = Commit(token, writes=[wr(before, "late")], events=[ev("late")])
        step = Commit(
            token, checkpoint=ck(after, before, t=t), writes=[wr(after, "own")], events=[ev("step")]
        )
        late, stepped = together(partial(checkpoints.commit, t, write), partial(checkpoints.commit, t, step))
        assert stepped.error is None
        assert late.error is None or isinstance(late.error, InvalidCommit)
        assert task_ids(checkpoints, t) == ["own"]
    numbers = seqs(checkpoints, t)
    assert numbers == list(range(1, len(numbers) + 1))


def test_ruling_2_a_verb_of_several_statements_refuses_autocommit(harness: Harness) -> None:
    t = fresh_id()
    token = claim(harness.store, t).token
    with harness.store.engine.connect() as plain:
        connection = plain.execution_options(isolation_level="AUTOCOMMIT")
        with pytest.raises(ValidationError) as caught:
            commits.commit(connection, t, Commit(token, checkpoint=ck("c1", t=t), events=[ev("a")]))
    assert caught.value.field == "connection"
    assert (latest_id(harness.checkpoints, t), seqs(harness.checkpoints, t)) == (None, [])


def test_ruling_2_a_callers_transaction_decides_together(harness: Harness) -> None:
    t = fresh_id()
    token = claim(harness.store, t).token
    with harness.store.engine.connect() as connection:
        with connection.begin() as transaction:
            commits.commit(connection, t, Commit(token, checkpoint=ck("c1", t=t), events=[ev("a")]))
            transaction.rollback()
        assert (latest_id(harness.sibling().checkpoints, t), seqs(harness.sibling().checkpoints, t)) == (
            None,
            [],
        )
        with connection.begin():
            commits.commit(connection, t, Commit(token, checkpoint=ck("c1", t=t), events=[ev("a")]))
    assert (latest_id(harness.checkpoints, t), seqs(harness.checkpoints, t)) == ("c1", [1])


def commits_something(tag: bytes) -> bool:
    """Whether it ended a transaction, or was one statement on its own that wrote rows."""
    return tag == b"COMMIT" or (tag.startswith(b"SELECT") and not tag.endswith(b" 0"))


@pytest.mark.parametrize("parts", ["numbered thread", "first commit", "effects too"])
def test_ruling_3_an_answer_lost_after_the_commit_is_unknown(postgres_harness: Harness, parts: str) -> None:
    t, direct = fresh_id(), postgres_harness.checkpoints
    token = claim(direct, t).token
    if parts == "numbered thread":
        emit(direct, t, token, "before")
    before = seqs(direct, t)
    metadata = {"key": "value"} if parts == "effects too" else None

    with LossyLink(postgres_harness.url) as link:
        store = postgres_harness.open(link.url, wakeups=False)
        assert seqs(store.checkpoints, t) == before
        link.arm(commits_something)
        made = Commit(token, checkpoint=ck("c1", t=t), events=[ev("once")], metadata=metadata)
        with pytest.raises(CommitUnknown) as caught:
            promptly(store.checkpoints.commit, t, made)
        assert caught.value.operation.endswith("commit")
        assert isinstance(caught.value, StoreFailure)
        assert link.lost == 1

        # It landed, once, and the store has replaced the lost connection.
        assert seqs(store.checkpoints, t) == [*before, len(before) + 1]
        assert latest_id(store.checkpoints, t) == "c1"
        assert emit(store.checkpoints, t, token, "next") == [len(before) + 2]
        store.close()


def test_ruling_3_connections_lost_before_commit_are_replaced(postgres_harness: Harness) -> None:
    checkpoints = postgres_harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["c1"])

    for read in (checkpoints.latest, checkpoints.history, partial(seqs, checkpoints)):
        end_other_connections(postgres_harness)
        assert promptly(read, t)
    end_other_connections(postgres_harness)
    promptly(checkpoints.delete_thread, t, token)
    assert checkpoints.latest(t) is None


def test_ruling_3_busy_is_not_tried_again(sqlite_harness: Harness) -> None:
    store = sqlite_harness.open(busy_timeout=timedelta(milliseconds=300))
    t = fresh_id()
    token = claim(store, t).token
    with writing(path_of(sqlite_harness.url)):
        began = time.monotonic()
        with pytest.raises(StoreFailure):
            emit(store.checkpoints, t, token, "lost")
        assert 0.25 <= time.monotonic() - began < 0.9


def test_ruling_3_the_writer_lock_counts_into_the_busy_timeout(sqlite_harness: Harness) -> None:
    t = fresh_id()
    token = claim(sqlite_harness.store, t).token
    store = sqlite_harness.open(busy_timeout=timedelta(milliseconds=300))
    with sqlite_harness.store.engine.connect() as connection, connection.begin():
        claims.claim(connection, fresh_id(), ClaimRequest("somebody", TTL))
        began = time.monotonic()
        with pytest.raises(StoreFailure):
            promptly(emit, store.checkpoints, t, token, "lost")
        assert 0.25 <= time.monotonic() - began < 0.9


def test_ruling_4_now_is_read_after_the_lock(postgres_harness: Harness) -> None:
    store = postgres_harness.open(clock=None)
    t = fresh_id()
    lease = timedelta(milliseconds=400)
    claim(store, t, "first", ttl=lease)

    with postgres_harness.raw() as connection:
        connection.execute(text("SELECT 1 FROM thread WHERE thread_id = :t FOR UPDATE"), {"t": t})
        second = background(claim, store, t, "second", ttl=lease)
        until(lambda: waiting_for_locks(postgres_harness) == 1, "the second claim waits for the row")
        time.sleep(lease.total_seconds())

    # The lease ran out while the second claim waited: a time read before the wait would refuse it.
    assert second.result(LIMIT).taken_over_from == "first"
    with pytest.raises(ThreadBusy):
        claim(store, t, "third")


def test_ruling_6_a_row_that_comes_and_goes_is_claimed_all_the_same(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()

    def claim_and_release() -> list[int]:
        tokens = []
        for _ in range(40):
            with suppress(ThreadBusy):  # Others race for it.
                tokens.append(claim(checkpoints, t).token)
                checkpoints.release(t, tokens[-1])
        return tokens

    each = all_succeeded(together(*[claim_and_release] * 6))
    assert all(tokens == sorted(tokens) for tokens in each)
    every = [token for tokens in each for token in tokens]
    assert len(set(every)) == len(every) > 0
    assert claim(checkpoints, t).token > max(every)


def test_ruling_7_children_are_numbered_in_the_order_of_their_commits(postgres_harness: Harness) -> None:
    checkpoints = postgres_harness.checkpoints
    parent, a, b = "parent", "child a", "child b"
    chain(checkpoints, parent, claim(checkpoints, parent).token, ["p1"])
    tokens = {t: claim(checkpoints, t).token for t in (a, b)}

    def birth(t: str) -> Commit:
        return Commit(tokens[t], checkpoint=ck("c1", t=t, origin=Origin(parent)))

    with postgres_harness.store.engine.connect() as connection, connection.begin():
        commits.commit(connection, a, birth(a))
        late = background(checkpoints.commit, b, birth(b))
        until(lambda: waiting_for_locks(postgres_harness) == 1, "B waits to draw its position")
        # The parent itself is not held up meanwhile.
        chain(checkpoints, parent, _token_of(postgres_harness, parent), ["p2"])
    late.result(LIMIT)

    with postgres_harness.raw() as raw:
        query = "SELECT thread_id FROM thread WHERE parent_id = :p ORDER BY child_position"
        assert list(raw.execute(text(query), {"p": parent}).scalars()) == [a, b]


def _token_of(harness: Harness, t: str) -> int:
    with harness.raw() as connection:
        found = connection.execute(text("SELECT claim_token FROM thread WHERE thread_id = :t"), {"t": t})
        return int(found.scalar_one())


def pooled(url: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}pooler=transaction"


def test_ruling_8_a_transaction_pooler_needs_no_session_state(postgres_harness: Harness) -> None:
    store = postgres_harness.open(pooled(postgres_harness.url), statement_timeout=timedelta(seconds=5))
    t = fresh_id()
    token = claim(store, t).token
    for number in range(12):
        chain(store.checkpoints, t, token, [f"c{number}"])
    waiter = background(store.checkpoints.await_events_after, t, 12, 10, timedelta(hours=1))
    time.sleep(0.1)
    emit(postgres_harness.checkpoints, t, token, "from elsewhere")
    assert [record.seq for record in waiter.result(2)] == [13]

    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM pg_prepared_statements")).scalar_one() == 0
        assert connection.execute(text("SELECT count(*) FROM pg_listening_channels()")).scalar_one() == 0
        assert connection.execute(text("SHOW statement_timeout")).scalar_one() == "0"


def test_ruling_8_a_deadline_ends_a_statement_and_stays_in_its_transaction(postgres_harness: Harness) -> None:
    store = postgres_harness.open(statement_timeout=timedelta(milliseconds=200), pool_size=1)
    t = fresh_id()
    emit(store.checkpoints, t, claim(store, t).token, "a")

    with postgres_harness.raw() as connection:
        connection.execute(text("LOCK TABLE event IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(StoreFailure):
            promptly(seqs, store.checkpoints, t)
    assert seqs(store.checkpoints, t) == [1]
    with store.engine.connect() as connection:
        assert connection.execute(text("SHOW statement_timeout")).scalar_one() == "0"


def test_ruling_9_a_deadline_hits_its_own_statement_only(sqlite_harness: Harness) -> None:
    checkpoints = sqlite_harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    for _ in range(4):
        checkpoints.commit(t, Commit(token, events=[ev("x") for _ in range(5000)]))
    hurried = sqlite_harness.open(statement_timeout=timedelta(milliseconds=2)).checkpoints

    for number in range(20):
        with pytest.raises(StoreFailure):
            hurried.events_after(t, 0, 20_000)
        assert [record.seq for record in hurried.events_after(t, number, 1)] == [number + 1]
        assert latest_id(hurried, t) is None


def test_ruling_10_nesting_in_memory_is_a_clear_error() -> None:
    with open_store("memory:") as store:
        t = fresh_id()
        token = claim(store, t).token
        with store.engine.connect() as connection, connection.begin():
            commits.commit(connection, t, Commit(token, events=[ev("outer")]))
            with pytest.raises(ValidationError) as caught:
                emit(store.checkpoints, t, token, "inner")
            with pytest.raises(ValidationError):
                store.checkpoints.latest(t)
        assert "transaction" in str(caught.value)
        assert seqs(store.checkpoints, t) == [1]
        assert emit(store.checkpoints, t, token, "after") == [2]


def test_ruling_10_memory_is_shared_by_the_threads_of_one_store() -> None:
    with open_store("memory:") as store, open_store("memory:") as other:
        t = fresh_id()
        token = claim(store, t).token
        outcomes = together(*[partial(emit, store.checkpoints, t, token, "a", "b")] * 8)
        assert [outcome.error for outcome in outcomes] == [None] * 8
        assert seqs(store.checkpoints, t) == list(range(1, 17))
        assert seqs(other.checkpoints, t) == []


def test_ruling_10_memory_cannot_be_read_only() -> None:
    with pytest.raises(ValueError, match="read_only"):
        open_store("memory:", read_only=True)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """The main thread heeds SIGINT, which a shell lets its background programs ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ruling_22_a_keyboard_interrupt_discards_its_connection(postgres_harness: Harness) -> None:
    checkpoints: Checkpointer = postgres_harness.open(pool_size=1).checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    main = threading.main_thread().ident
    assert main == threading.get_ident(), "a signal reaches the main thread only"

    def interrupt() -> None:
        until(lambda: waiting_for_locks(postgres_harness) == 1, "the read waits for the lock")
        signal.pthread_kill(main, signal.SIGINT)

    with postgres_harness.raw() as connection:
        connection.execute(text("LOCK TABLE event IN ACCESS EXCLUSIVE MODE"))
        interrupter = background(interrupt)
        with pytest.raises(KeyboardInterrupt):
            checkpoints.events_after(t, 0, 10)
        interrupter.result(LIMIT)
    for number in range(5):
        assert promptly(emit, checkpoints, t, token, "a") == [number + 1]
        assert promptly(seqs, checkpoints, t) == list(range(1, number + 2))
