"""The reader under `watch_all`: gaps, places, filters and bounds (rulings 23 and 58)."""

from __future__ import annotations

import logging
import random
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import Commit, commits
from engine.checkpoints.gaps import PATIENCE, Gaps
from engine.checkpoints.places import MAX_GAPS, Place, place_of, undecided_place
from engine.checkpoints.tail import PAGE
from engine.checkpoints.tail_rows import MAX_KINDS, WINDOW
from engine.errors import CheckpointConflict, StoreFailure, ValidationError, WaitCancelled
from engine.paging import encode_cursor
from tests.support.builders import ck, claim, emit, ev, fresh_id
from tests.support.follower import Follower
from tests.support.refusals import refused
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from engine.checkpoints import EventTail
    from engine.store import Store
    from tests.support.harness import Harness


def claimed(harness: Harness) -> tuple[str, int]:
    t = fresh_id()
    return t, claim(harness.store, t).token


def names(tail: EventTail, limit: int = PAGE) -> list[str]:
    """What one read brings."""
    return [record.payload["name"] for _, record in tail.read(limit)]


def everything(tail: EventTail, limit: int = PAGE) -> list[str]:
    """What reading brings until there is no more, in at most 100 reads."""
    found = names(tail, limit)
    for _ in range(100):
        if not tail.more:
            return found
        found += names(tail, limit)
    raise AssertionError("the tail never ends")


def add(connection: Connection, claimed_thread: tuple[str, int], *events: str) -> None:
    """Commit events inside the caller's transaction."""
    t, token = claimed_thread
    commits.commit(connection, t, Commit(token, events=[ev(name) for name in events]))


# Places.


@pytest.mark.parametrize(
    ("visible", "upto", "place"),
    [
        ([0, 1, 2, 3], 3, Place(3)),
        ([0, 2, 3], 3, Place(0, ((2, 3),))),
        ([0, 1, 2, 5, 6, 9], 9, Place(2, ((5, 6), (9, 9)))),
        ([0, 1, 2, 5, 6, 9], 6, Place(2, ((5, 6),))),
        ([7, 8], 8, Place(8)),
        ([0], 0, Place(0)),
    ],
)
def test_ruling_23_a_start_lies_below_the_gaps(visible: list[int], upto: int, place: Place) -> None:
    assert undecided_place(visible, upto) == place
    assert place_of(place.text) == place


def test_ruling_23_a_start_looks_at_a_bounded_number_of_gaps() -> None:
    place = undecided_place(list(range(0, 10_000, 2)), 9_998)
    assert len(place.known) == MAX_GAPS
    assert place.done == 9_998 - 2 * MAX_GAPS


def test_ruling_23_a_place_moves_past_what_it_knew() -> None:
    place = Place(2, ((5, 6), (9, 9)))
    assert [place.knows(n) for n in (4, 5, 6, 7, 9)] == [False, True, True, False, True]
    assert place.after(5) == Place(5, ((5, 6), (9, 9)))
    assert place.after(7) == Place(7, ((9, 9),))
    assert place.after(9) == Place(9)


@pytest.mark.parametrize(
    "position",
    ["", "x", "ä", encode_cursor(1), encode_cursor("1", ""), encode_cursor(-1, ""), encode_cursor(1, "2"),
     encode_cursor(1, "a-b"), encode_cursor(2**63, "")],
)  # fmt: skip
def test_ruling_23_a_made_up_position_is_refused(harness: Harness, position: str) -> None:
    with pytest.raises(ValidationError) as caught:
        harness.checkpoints.tail(after=position)
    assert caught.value.field == "after"


def test_ruling_23_horizons_settle_in_their_order() -> None:
    gaps = Gaps()
    gaps.remember(10, 100)
    gaps.remember(10, 150)  # Already known of; the older boundary is the earlier one to be reached.
    gaps.remember(20, 200)
    for oldest, settled in ((99, 0), (100, 10), (199, 10), (200, 20)):
        gaps.saw(oldest)
        assert gaps.settled == settled


# Gaps.


def test_ruling_23_a_running_transaction_above_every_ended_one_is_waited_for(
    postgres_harness: Harness,
) -> None:
    """Its id lies not below `pg_snapshot_xmax`, although it drew the earlier position."""
    tail = postgres_harness.sibling().checkpoints.tail()
    first, second = claimed(postgres_harness), claimed(postgres_harness)
    engine = postgres_harness.store.engine
    with engine.connect() as lower, engine.connect() as upper, lower.begin():
        lower.execute(text("SELECT pg_current_xact_id()"))
        with upper.begin():
            add(upper, second, "drawn first")
            add(lower, first, "landed first")
            lower.get_transaction().commit()  # type: ignore[union-attr]
            assert [names(tail) for _ in range(3)] == [[], [], []]
    assert everything(tail) == ["drawn first", "landed first"]


def test_ruling_23_a_gap_that_nobody_can_fill_is_passed_at_once(postgres_harness: Harness) -> None:
    tail = postgres_harness.checkpoints.tail()
    lost, kept = claimed(postgres_harness), claimed(postgres_harness)
    with postgres_harness.store.engine.connect() as connection:
        connection.begin()
        add(connection, lost, "lost")
        connection.rollback()
    emit(postgres_harness.checkpoints, *kept, "kept")
    assert names(tail) == ["kept"]
    assert tail.held is None


def test_ruling_23_what_stands_before_a_gap_is_not_held_back(postgres_harness: Harness) -> None:
    tail = postgres_harness.checkpoints.tail()
    threads = [claimed(postgres_harness) for _ in range(3)]
    emit(postgres_harness.checkpoints, *threads[0], "before")
    with postgres_harness.store.engine.connect() as connection, connection.begin():
        add(connection, threads[1], "in the gap")
        emit(postgres_harness.checkpoints, *threads[2], "after")
        assert names(tail) == ["before"]
        assert names(tail) == []
        assert not tail.more
        assert tail.held is not None
        assert tail.held.position == 2
    assert names(tail) == ["in the gap", "after"]
    assert tail.held is None


def test_ruling_23_a_long_gap_is_reported_with_its_process(
    postgres_harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    tail = postgres_harness.checkpoints.tail()
    slow, quick = claimed(postgres_harness), claimed(postgres_harness)
    with postgres_harness.store.engine.connect() as connection, connection.begin():
        pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        add(connection, slow, "slow")
        emit(postgres_harness.checkpoints, *quick, "quick")
        with caplog.at_level(logging.WARNING, "engine"):
            assert names(tail) == []
            assert caplog.records == []
            time.sleep(PATIENCE + 0.1)
            assert [names(tail) for _ in range(5)] == [[]] * 5
        assert tail.held is not None
        assert tail.held.pid == pid
        assert tail.held.seconds >= PATIENCE
    assert [str(pid) in record.getMessage() for record in caplog.records] == [True]


def test_ruling_23_a_start_in_the_middle_of_a_commit(postgres_harness: Harness) -> None:
    """What was committed before the start does not come; what lands after it does, wherever it was drawn."""
    threads = [claimed(postgres_harness) for _ in range(4)]
    checkpoints, other = postgres_harness.checkpoints, postgres_harness.sibling().checkpoints
    emit(checkpoints, *threads[0], "old")
    with postgres_harness.store.engine.connect() as connection, connection.begin():
        add(connection, threads[1], "landing", "landing too")
        emit(checkpoints, *threads[2], "just before")
        tail = checkpoints.tail()
        start = tail.position
        emit(checkpoints, *threads[3], "just after")
        assert names(tail) == []
    delivered = tail.read()
    assert [record.payload["name"] for _, record in delivered] == ["landing", "landing too", "just after"]
    assert everything(other.tail(after=start)) == ["landing", "landing too", "just after"]
    assert everything(other.tail(after=delivered[0][0])) == ["landing too", "just after"]
    assert everything(other.tail(after=delivered[1][0])) == ["just after"]
    assert everything(other.tail(after=tail.position)) == []


# Filters and bounds.


def test_ruling_58_a_filter_looks_at_a_bounded_number_of_positions(harness: Harness) -> None:
    t, token = claimed(harness)
    tail = harness.checkpoints.tail(kinds=["rare"])
    begin = tail.searched
    drafts = [ev("x") for _ in range(WINDOW + 500)]
    harness.checkpoints.commit(t, Commit(token, events=[*drafts, ev("found", kind="rare")]))

    assert names(tail) == []
    assert tail.more
    assert tail.searched == begin + WINDOW
    assert names(tail) == ["found"]
    assert not tail.more


def test_ruling_58_a_filter_and_a_limit_skip_nothing(harness: Harness) -> None:
    threads = [claimed(harness) for _ in range(2)]
    tail = harness.checkpoints.tail(kinds=["even", "fourth"])
    wanted = []
    for n in range(40):
        kind = "fourth" if n % 4 == 0 else "even" if n % 2 == 0 else "odd"
        t, token = threads[n % 3 % 2]
        harness.checkpoints.commit(t, Commit(token, events=[ev(f"e{n}", kind=kind)]))
        if n % 2 == 0:
            wanted.append(f"e{n}")
    assert everything(tail, 3) == wanted
    assert everything(harness.checkpoints.tail(kinds=[], recent=40)) == []


def test_ruling_23_a_tenants_tail_sees_threads_of_its_checkpoints(harness: Harness) -> None:
    tails = {who: harness.checkpoints.tail(tenant=who) for who in ("a", "b", "", None)}
    for who in ("a", "", None):
        t = fresh_id()
        token = claim(harness.store, t, tenant=who).token
        named = Commit(token, checkpoint=ck("c1", t=t, tenant=who), events=[ev(repr(who))])
        harness.checkpoints.commit(t, named)
    found = {who: everything(tail) for who, tail in tails.items()}
    assert found == {"a": ["'a'"], "b": [], "": ["''"], None: ["None"]}


def test_ruling_58_a_tail_may_begin_with_the_newest(harness: Harness) -> None:
    t, token = claimed(harness)
    assert everything(harness.checkpoints.tail(recent=3)) == []
    emit(harness.checkpoints, t, token, *"abcde")
    assert everything(harness.checkpoints.tail()) == []
    assert everything(harness.checkpoints.tail(recent=3)) == ["c", "d", "e"]
    assert everything(harness.checkpoints.tail(recent=10), 2) == ["a", "b", "c", "d", "e"]


def test_ruling_23_reads_are_bounded(harness: Harness) -> None:
    tail = harness.checkpoints.tail()
    for limit in (0, PAGE + 1):
        with pytest.raises(ValidationError):
            tail.read(limit)
    with pytest.raises(ValidationError):
        harness.checkpoints.tail(recent=PAGE)
    for kinds in ("one", [f"k{n}" for n in range(MAX_KINDS + 1)]):
        with pytest.raises(ValidationError):
            harness.checkpoints.tail(kinds=kinds)


def test_ruling_23_a_broken_row_is_met_after_those_before_it(harness: Harness) -> None:
    tail = harness.checkpoints.tail()
    t, token = claimed(harness)
    emit(harness.checkpoints, t, token, "a", "b", "c")
    with harness.raw() as connection:
        connection.execute(text("UPDATE event SET payload = 'broken' WHERE seq = 2"))
    assert names(tail) == ["a"]
    for _ in range(2):
        with pytest.raises(StoreFailure, match="watch_all"):
            tail.read()


def test_ruling_22_a_cancelled_read_takes_nothing_from_the_next(harness: Harness) -> None:
    tail = harness.checkpoints.tail()
    emit(harness.checkpoints, *claimed(harness), "a")
    cancel = threading.Event()
    cancel.set()
    for _ in range(20):
        try:
            page = tail.read(cancel=cancel)
        except WaitCancelled:
            continue  # The cancel came first; the next read starts anew.
        assert [record.payload["name"] for _, record in page] == ["a"]
        return
    assert names(tail) == ["a"]


# Everything at once.


def write_in_every_way(stores: list[Store], me: tuple[str, int], seed: int) -> None:
    """Commits, refusals, rollbacks and late commits of one writer."""
    t, token = me
    chance = random.Random(seed)
    for step in range(40):
        store = stores[(seed + step) % len(stores)]
        events = [ev("x") for _ in range(chance.randint(1, 3))]
        match chance.randrange(4):
            case 0:
                lost = Commit(token, checkpoint=ck("lost", "nothing", t=t), events=events)
                refused(CheckpointConflict(t, "nothing", None), store.checkpoints.commit, t, lost)
            case 1 | 2:
                store.checkpoints.commit(t, Commit(token, events=events))
            case _:
                _in_a_transaction(store, me, len(events), chance)


def _in_a_transaction(store: Store, me: tuple[str, int], events: int, chance: random.Random) -> None:
    with store.engine.connect() as connection:
        transaction = connection.begin()
        add(connection, me, *("x" for _ in range(events)))
        time.sleep(chance.random() * 0.01)
        if chance.random() < 0.6:
            transaction.commit()
        else:
            transaction.rollback()


@pytest.fixture
def followers(harness: Harness) -> Iterator[list[Follower]]:
    started = [Follower(harness.sibling()), Follower(harness.store)]
    yield started
    for each in started:
        each.cancel()


def test_ruling_23_exactly_once_and_in_order_whatever_the_writers_do(
    harness: Harness, followers: list[Follower]
) -> None:
    time.sleep(0.2)
    threads = [claimed(harness) for _ in range(8)]
    stores = [harness.store, harness.sibling()]
    all_succeeded(together(*[partial(write_in_every_way, stores, me, n) for n, me in enumerate(threads)]))
    logs = {t: [record.seq for record in harness.checkpoints.events_after(t, 0, 1000)] for t, _ in threads}
    total = sum(map(len, logs.values()))
    for follower in followers:
        follower.wait_for(total)
        assert follower.by_thread() == logs
    delivered = followers[0].delivered
    assert [record for _, record in delivered] == followers[1].records

    for resume in (0, total // 3, total - 2):
        again = harness.checkpoints.tail(after=delivered[resume][0])
        assert len(everything(again, 7)) == total - resume - 1
