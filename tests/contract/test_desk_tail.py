"""The desk's log as something that goes on: forward without skipping, places by time and number, hints."""

from __future__ import annotations

import itertools
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

import engine.desk.events
from engine.checkpoints import Commit
from engine.desk import event_places
from engine.errors import StoreClosed, ValidationError
from tests.contract.test_desk_events import FILTERS, expected, fill, ids
from tests.support.background import background, until
from tests.support.builders import T0, claim, emit, ev, fresh_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.desk.views import EventPage
    from engine.store import Store
    from tests.support.harness import Harness

SESSIONS = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tail'")


def start(store: Store, wanted: dict[str, Any]) -> str:
    """The position before everything."""
    return store.desk.event_position_at(T0 - timedelta(days=1), **wanted)


def forth(store: Store, limit: int, wanted: dict[str, Any]) -> Iterator[EventPage]:
    """Every page from the log's beginning to its end."""
    position = start(store, wanted)
    for _ in range(1000):
        page = store.desk.events_forward(position, limit=limit, **wanted)
        yield page
        if not page.behind and not page.rows:
            return
        position = page.position
    raise AssertionError("the log does not end")


@pytest.mark.parametrize(("limit", "searched"), [(2, 1), (1, 5), (3, 7), (2, 5_000), (500, 5_000)])
def test_ruling_58_forward_passes_over_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, limit: int, searched: int
) -> None:
    fill(harness)
    monkeypatch.setattr(engine.desk.events, "MAX_SEARCHED", searched)
    for wanted in FILTERS:
        pages = list(forth(harness.store, limit, wanted))
        assert [each for page in pages for each in ids(page)] == expected(harness, wanted), wanted
        assert all(len(page.rows) == page.received <= limit for page in pages)


def test_ruling_58_numbers_without_an_event_are_counted_as_gaps(harness: Harness) -> None:
    """Of what a deleted thread had, numbers are left: they are gaps, neither received nor dropped."""
    fill(harness)
    position = start(harness.store, {})
    page = harness.store.desk.events_forward(position)
    with harness.raw() as connection:
        low, high, count = connection.execute(
            text("SELECT min(position), max(position), count(*) FROM event")
        ).one()
    assert (page.gaps, page.received, page.behind) == (high - low + 1 - count, count, 0)
    assert page.gaps > 0
    assert harness.store.desk.events(position).gaps == page.gaps


def test_ruling_58_a_search_says_how_far_it_came(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(harness)
    monkeypatch.setattr(engine.desk.events, "MAX_SEARCHED", 5)
    wanted: dict[str, Any] = {"tenant": "acme"}
    desk = harness.store.desk
    page = desk.events(start(harness.store, wanted), **wanted)
    ahead = desk.events_ahead(page.position, **wanted)
    with harness.raw() as connection:
        numbers = list(connection.execute(text("SELECT position FROM event ORDER BY position")).scalars())
    assert page.searched == numbers[4]
    assert page.behind == ahead.number == numbers[-1] - numbers[4]


def test_ruling_58_what_waits_is_a_difference_of_positions(harness: Harness) -> None:
    t = fresh_id()
    token = claim(harness.store, t).token
    desk = harness.store.desk
    emit(harness.checkpoints, t, token, "a")
    here, of_thread = desk.events(None).position, desk.events(None, thread_id=t).position
    assert desk.events_ahead(here).number == 0
    emit(harness.checkpoints, t, token, *(f"e{n}" for n in range(7)))
    assert desk.events_ahead(here).number == 7
    assert desk.events_ahead(of_thread, thread_id=t).number == 7
    assert [row.seq for row in desk.events_forward(here, limit=3).rows] == [2, 3, 4]


def commits(harness: Harness, count: int) -> str:
    """One event a minute of one thread, every third of another's."""
    ours, other = "ours", "other"
    tokens = {t: claim(harness.store, t, ttl=timedelta(hours=9)).token for t in (ours, other)}
    for number in range(count):
        t = other if number % 3 == 2 else ours
        harness.checkpoints.commit(t, Commit(tokens[t], events=[ev("e", payload={"n": number})]))
        harness.clock.advance(timedelta(minutes=1))
    return ours


def test_ruling_58_an_instant_is_found_by_halving(harness: Harness) -> None:
    ours = commits(harness, 23)
    desk = harness.store.desk
    scopes: tuple[dict[str, Any], ...] = ({}, {"thread_id": ours})
    for wanted in scopes:
        rows = desk.events_forward(start(harness.store, wanted), **wanted).rows
        for goal, off in itertools.product(range(-1, 25), (0, 30)):
            instant = T0 + timedelta(minutes=goal, seconds=off)
            found = desk.events_forward(desk.event_position_at(instant, **wanted), limit=1, **wanted).rows
            assert list(found) == [row for row in rows if row.committed_at >= instant][:1], (goal, off)


def test_ruling_58_an_instant_costs_few_reads(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the numbers can be halved, one to find the first, and one more."""
    commits(harness, 40)
    desk = harness.store.desk
    desk.events(None)
    read = event_places._next
    steps: list[int] = []

    def counted(connection: Any, wanted: Any, low: int, high: int) -> Any:
        steps.append(low)
        return read(connection, wanted, low, high)

    monkeypatch.setattr(event_places, "_next", counted)
    desk.event_position_at(T0 + timedelta(minutes=17))
    assert 3 <= len(steps) <= 8


def test_a_number_of_a_thread_is_found(harness: Harness) -> None:
    ours = commits(harness, 12)
    desk = harness.store.desk
    for wanted in ({}, {"thread_id": ours}):
        position = desk.event_position_of(ours, 5, **wanted)
        assert position is not None
        row = desk.events_forward(position, limit=1, **wanted).rows[0]
        assert (row.thread_id, row.seq) == (ours, 5)
    assert desk.event_position_of(ours, 500) is None
    with pytest.raises(ValidationError):
        desk.event_position_of(ours, 0)


# Hints


def test_ruling_57_a_desk_hears_of_other_stores_commits(harness: Harness) -> None:
    t = fresh_id()
    token = claim(harness.store, t).token
    reader = harness.open(read_only=True, ensure_schema=False, wakeups=False)
    with reader.desk.hints() as hints:
        until(lambda: not hints.wait(0.1), "the greetings are over")
        waiting = background(hints.wait, 5.0)
        emit(harness.checkpoints, t, token, "a")
        assert waiting.result(5)


def test_ruling_57_listening_ends_with_its_context(postgres_harness: Harness) -> None:
    """The listening connection is there while somebody listens, and comes back with the next who does."""
    store = postgres_harness.open(application_name="tail", read_only=True, wakeups=False)
    store.desk.now()
    for _ in range(3):
        with store.desk.hints() as hints:
            until(lambda: sessions(postgres_harness) == 2, "the listener is connected")
            assert store._backend.signals.listener is not None  # type: ignore[attr-defined]
            hints.wait(0)
        until(lambda: sessions(postgres_harness) == 1, "the listener has let go")


def sessions(harness: Harness) -> int:
    """Connections of the store under test."""
    with harness.raw() as connection:
        return int(connection.execute(SESSIONS).scalar_one())


def test_ruling_57_one_listener_does_not_end_another(harness: Harness) -> None:
    t = fresh_id()
    token = claim(harness.store, t).token
    reader = harness.open(read_only=True, ensure_schema=False, wakeups=False)
    with reader.desk.hints() as kept:
        with reader.desk.hints() as other:
            other.wait(0.05)
        until(lambda: not kept.wait(0.1), "the greetings are over")
        waiting = background(kept.wait, 5.0)
        emit(harness.checkpoints, t, token, "a")
        assert waiting.result(5)


def test_ruling_57_a_cancelled_or_closed_listener_ends(harness: Harness) -> None:
    reader = harness.open(read_only=True, ensure_schema=False, wakeups=False)
    stop = threading.Event()
    with reader.desk.hints(stop) as hints:
        waiting = background(hints.wait, 60.0)
        stop.set()
        assert waiting.result(5)
        waiting = background(hints.wait, 60.0)
        reader.close()
        with pytest.raises(StoreClosed):
            waiting.result(5)
    with pytest.raises(StoreClosed), reader.desk.hints():
        pass
