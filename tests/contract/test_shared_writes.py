"""Writers of one SQLite store that share a transaction: each keeps its own outcome (design: SQLite)."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import Commit
from engine.database.backend import MODE_OPTION, Mode
from engine.database.group import Group, Ticket, Turn
from engine.database.writer import WriterConnection
from engine.errors import InvalidCommit, StaleClaim, StoreFailure
from tests.support.background import LIMIT, background, promptly, until
from tests.support.builders import chain, ck, claim, ev, latest_id, seqs

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from engine.store import Store
    from tests.support.harness import Harness

THREADS = [f"t{n}" for n in range(6)]
STALE, REPEATED = THREADS[2], THREADS[4]


def _prepared(store: Store) -> dict[str, int]:
    """Every thread claimed, with the checkpoint c1 and event 1; their tokens."""
    tokens = {t: claim(store, t).token for t in THREADS}
    for t, token in tokens.items():
        chain(store.checkpoints, t, token, ["c1"])
    return tokens


def _next(t: str, token: int) -> Commit:
    made = ck("c1" if t == REPEATED else "c2", "c1", t=t)
    return Commit(token - 1 if t == STALE else token, checkpoint=made, events=[ev("x"), ev("y")])


def _queued(store: Store) -> int:
    group = store._transactions._group
    assert group is not None
    return len(group._queue)


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    begins = [0]
    begin = WriterConnection.begin_immediate

    def counting(self: WriterConnection, patience: float | None = None) -> None:
        begins[0] += 1
        begin(self, patience)

    monkeypatch.setattr(WriterConnection, "begin_immediate", counting)
    return begins


def _locked(harness: Harness) -> sqlite3.Connection:
    """Another writer of the file, in the middle of its transaction."""
    other = sqlite3.connect(harness.url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


def test_queued_commits_land_in_one_transaction_and_refusals_stay_their_own(
    sqlite_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = sqlite_harness.store
    tokens = _prepared(store)
    begins = _counted(monkeypatch)
    with closing(_locked(sqlite_harness)) as other:
        futures = {t: background(store.checkpoints.commit, t, _next(t, tokens[t])) for t in THREADS}
        until(lambda: _queued(store) == len(THREADS), "every commit queues")
        other.execute("COMMIT")
    errors = {t: future.exception(LIMIT) for t, future in futures.items()}

    assert type(errors.pop(STALE)) is StaleClaim
    assert type(errors.pop(REPEATED)) is InvalidCommit
    assert set(errors.values()) == {None}
    for t in THREADS:
        kept = t in errors
        assert latest_id(store.checkpoints, t) == ("c2" if kept else "c1")
        assert seqs(store.checkpoints, t) == ([1, 2, 3] if kept else [1])
        assert not kept or [record.seq for record in futures[t].result()] == [2, 3]
    # One for all of them; the two that were refused ask the ordinary form, and one refusal is counted.
    assert begins == [4]


def test_the_busy_timeout_counts_the_wait_for_company(sqlite_harness: Harness) -> None:
    store = sqlite_harness.open(busy_timeout=timedelta(milliseconds=300))
    tokens = _prepared(store)
    with closing(_locked(sqlite_harness)):
        began = time.monotonic()
        futures = [background(store.checkpoints.commit, t, _next(t, tokens[t])) for t in THREADS[:2]]
        errors = [future.exception(LIMIT) for future in futures]
        took = time.monotonic() - began

    assert [type(error) for error in errors] == [StoreFailure, StoreFailure]
    assert "busy timeout" in str(errors[0])
    assert 0.3 <= took < 0.9
    assert promptly(store.checkpoints.commit, "t0", _next("t0", tokens["t0"]))


class _Led:
    """A group whose first leader waits to be told what happens to it, with one companion in its transaction."""

    def __init__(self, ends_with: BaseException, *, before_the_verbs: bool) -> None:
        self.group = Group()
        self._ends_with, self._before = ends_with, before_the_verbs
        self.leader = self._submit(self._transact)
        until(lambda: self.group._leader is not None, "somebody leads")
        self.companion = self._submit(_never)
        until(lambda: len(self.group._queue) == 2, "the companion queues")

    def _submit(self, transact: Any) -> Future[Turn]:
        return background(self.group.submit, Ticket(lambda connection: None, LIMIT), transact)

    def _transact(self, together: Callable[[Any], None], left: float) -> None:
        until(lambda: len(self.group._queue) == 2, "the companion queues")
        together(_FakeConnection(self._ends_with if self._before else None))
        raise self._ends_with


class _FakeConnection:
    """A connection in a transaction whose driver takes every statement, or fails at the second part."""

    def __init__(self, failure: BaseException | None) -> None:
        self._failure, self._seats = failure, 0
        self.connection = self
        self.driver_connection = self

    def get_execution_options(self) -> dict[str, Mode]:
        return {MODE_OPTION: Mode.LEAN_WRITE}

    def in_transaction(self) -> bool:
        return True

    def execute(self, statement: str) -> None:
        self._seats += statement.startswith("SAVEPOINT")
        if self._failure is not None and self._seats > 1:
            raise self._failure


def _never(together: object, left: float) -> None:
    pytest.fail("the companion must not lead")


@pytest.mark.parametrize(
    ("before_the_verbs", "told"),
    [(True, Turn.ALONE), (False, Turn.UNKNOWN)],
    ids=["in a part", "at the commit"],
)
def test_an_interrupted_leader_tells_its_companions(before_the_verbs: bool, told: Turn) -> None:
    led = _Led(KeyboardInterrupt(), before_the_verbs=before_the_verbs)

    assert isinstance(led.leader.exception(LIMIT), KeyboardInterrupt)
    assert led.companion.result(LIMIT) is told
    assert led.group._leader is None


def test_after_a_failed_transaction_everybody_tries_alone() -> None:
    led = _Led(StoreFailure("commit", "disk full"), before_the_verbs=False)

    assert led.leader.result(LIMIT) is Turn.ALONE
    assert led.companion.result(LIMIT) is Turn.ALONE
    assert led.group._leader is None


def test_an_interrupted_waiter_leaves_no_gap() -> None:
    group = Group()
    first = Ticket(lambda connection: None, LIMIT)
    assert group._join(first) is Turn.LEAD
    second = Ticket(lambda connection: None, LIMIT)
    group._queue.append(second)
    group._leave(first)  # the second leads now, but is interrupted before it learns of it
    group._leave(second)

    assert group._leader is None
    assert not group._queue
