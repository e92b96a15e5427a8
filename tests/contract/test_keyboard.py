"""KeyboardInterrupt inside a call: it is what the caller gets, and nothing else is harmed (invariant 19, ruling 22)."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from engine import open_store
from engine.checkpoints import Commit
from engine.database.group import Group, Ticket, Turn
from engine.database.statement import begun
from engine.errors import CommitUnknown
from tests.support.background import LIMIT, background, until
from tests.support.builders import chain, claim, emit, ev, fresh_id, seqs
from tests.support.processes import Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from engine.store import Store
    from tests.support.harness import Harness

SECONDS = 2.0
"""How long a program is interrupted again and again."""
COMPANIONS = 3


def _interrupted(connection: Connection) -> None:
    begun(connection).execute("SELECT count(*) FROM thread").fetchall()
    raise KeyboardInterrupt


def _ways(store: Store) -> list[Callable[[], object]]:
    """Every way of running a verb."""
    transactions = store._transactions
    return [
        lambda: transactions.read("x", _interrupted),
        lambda: transactions.snapshot("x", _interrupted),
        lambda: transactions.lean("x", _interrupted),
        lambda: transactions.single("x", _interrupted),
        lambda: transactions.read_until("x", threading.Event(), _interrupted),
        lambda: transactions.write("x", _interrupted),
        lambda: transactions.write_until("x", threading.Event(), _interrupted),
        lambda: transactions.write_shared("x", _interrupted),
    ]


def _check(store: Store) -> None:
    t = fresh_id()
    token = claim(store, t).token
    chain(store.checkpoints, t, token, ["c1"])
    for number, way in enumerate(_ways(store), 2):
        with pytest.raises(KeyboardInterrupt):
            way()
        assert emit(store.checkpoints, t, token, "after") == [number]
        assert len(seqs(store.checkpoints, t)) == number


def test_an_interrupt_stays_one_and_the_store_whole(harness: Harness) -> None:
    _check(harness.store)


def test_an_interrupt_does_not_end_a_store_in_memory() -> None:
    with open_store("memory:") as store:
        _check(store)


def interrupted_again_and_again(url: str) -> tuple[int, int]:
    """Commits that the main thread, interrupted all the time, and its companions made; then one more of each."""
    with open_store(url) as store:
        names = [fresh_id() for _ in range(COMPANIONS + 1)]
        tokens = {t: claim(store, t).token for t in names}
        stop = threading.Event()

        def commit(t: str) -> None:
            store.checkpoints.commit(t, Commit(tokens[t], events=[ev("x")]))

        def accompany(t: str) -> int:
            done = 0
            while not stop.is_set():
                with suppress(CommitUnknown):  # The leader was interrupted about the time of its commit.
                    commit(t)
                done += 1
            return done

        mine, *others = names
        commit(mine)
        futures = [background(accompany, t) for t in others]
        interrupts = _interrupt_for(SECONDS, lambda: commit(mine))
        stop.set()
        done = sum(future.result(LIMIT) for future in futures)
        for t in names:
            commit(t)
        return interrupts, done


def _interrupt_for(seconds: float, call: Callable[[], object]) -> int:
    """How often the call was interrupted, each time at another moment."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    end, interrupts = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0002 * (1 + interrupts % 20))
            call()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except (KeyboardInterrupt, AssertionError):  # An interrupt in the middle of SQLAlchemy's own commit.
            interrupts += 1
    return interrupts


@pytest.mark.parametrize("memory", [False, True], ids=["file", "memory"])
def test_interrupts_never_keep_the_writer_lock(sqlite_harness: Harness, memory: bool) -> None:
    interrupts, done = (
        Program(interrupted_again_and_again, "memory:" if memory else sqlite_harness.url).answer().value
    )
    assert interrupts > 10
    assert done > 10


def test_a_leader_interrupted_while_it_tells_its_companions_tells_them_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tell, told = Ticket.tell, []

    def interrupted_once(self: Ticket[Any], turn: Turn) -> None:
        told.append(turn)
        if len(told) == 1:
            raise KeyboardInterrupt
        tell(self, turn)

    group = Group()
    leader, companion = (Ticket(lambda connection: None, LIMIT) for _ in range(2))
    assert group._join(leader) is Turn.LEAD
    waiting = background(group._join, companion)
    until(lambda: len(group._queue) == 2, "the companion queues")
    group._take_along(leader.party)
    leader.verdict = Turn.ALONE

    monkeypatch.setattr(Ticket, "tell", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        group._leave(leader)
    group._leave(leader)

    assert waiting.result(LIMIT) is Turn.ALONE
    assert group._leader is None
