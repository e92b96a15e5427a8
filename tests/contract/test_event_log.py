"""Reading and compacting the event log: cases 51 to 58 of checkpoints.md 4.4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import Commit, EffectDraft
from engine.errors import ReplayUnavailable, ValidationError
from tests.support.builders import chain, claim, emit, fresh_id, latest_id, seqs, wr
from tests.support.refusals import busy, named, refused

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness


def numbers(store: Checkpointer, t: str, after_seq: int, limit: int) -> list[int]:
    """The numbers that a page holds."""
    return [record.seq for record in store.events_after(t, after_seq, limit)]


def five_events(store: Checkpointer, t: str) -> int:
    """A claimed thread at checkpoint c1 with events 1 to 5; the token."""
    token = claim(store, t).token
    chain(store, t, token, ["c1"])
    assert emit(store, t, token, "b", "c", "d", "e") == [2, 3, 4, 5]
    return token


def test_core_51_pages(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    five_events(store, t)
    assert numbers(store, t, 0, 2) == [1, 2]
    assert numbers(store, t, 2, 2) == [3, 4]
    assert numbers(store, t, 4, 2) == [5]
    assert numbers(store, t, 5, 2) == []
    assert numbers(store, fresh_id(), 0, 2) == []


def test_core_51_pages_of_one_thread_only(harness: Harness) -> None:
    store, t, other = harness.checkpoints, fresh_id(), fresh_id()
    token, other_token = claim(store, t).token, claim(store, other).token
    for name in ("a", "b"):
        emit(store, t, token, f"mine {name}")
        emit(store, other, other_token, f"theirs {name}")
    records = store.events_after(t, 0, 10)
    assert [(record.thread_id, record.seq) for record in records] == [(t, 1), (t, 2)]
    assert [record.payload["name"] for record in records] == ["mine a", "mine b"]


@pytest.mark.parametrize("limit", [0, -1, -1000])
def test_core_52_no_room_for_any(harness: Harness, limit: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    five_events(store, t)
    assert numbers(store, t, 0, limit) == []
    store.compact_events(t, 4)
    refused(ReplayUnavailable(t, 4), store.events_after, t, 0, limit)
    assert numbers(store, t, 3, limit) == []


def test_core_52_negative_cursor(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    five_events(store, t)
    with pytest.raises(ValidationError):
        store.events_after(t, -1, 10)


def test_core_53_compaction(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = five_events(store, t)
    store.compact_events(t, 4)
    refused(ReplayUnavailable(t, 4), store.events_after, t, 0, 10)
    refused(ReplayUnavailable(t, 4), store.events_after, t, 2, 10)
    assert numbers(store, t, 3, 10) == [4, 5]
    store.compact_events(t, 2)
    assert numbers(store, t, 3, 10) == [4, 5]
    store.compact_events(t, 100)
    assert numbers(store, t, 5, 10) == []
    assert emit(store, t, token, "f") == [6]
    assert latest_id(store, t) == "c1"


def test_core_53_compaction_leaves_checkpoint_and_writes(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = five_events(store, t)
    store.commit(t, Commit(token, writes=[wr("c1", "0.0")]))
    before = (store.latest(t), store.history(t))
    store.compact_events(t, 100)
    assert (store.latest(t), store.history(t)) == before


def test_core_54_compaction_stops_at_the_next_number(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    five_events(store, t)
    store.compact_events(t, 100)
    refused(ReplayUnavailable(t, 6), store.events_after, t, 4, 10)
    refused(ReplayUnavailable(t, 6), store.events_after, t, 0, 10)
    assert numbers(store, t, 5, 10) == []


def test_core_55_compaction_of_an_unknown_thread(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    store.compact_events(t, 4)
    assert seqs(store, t) == []
    token = claim(store, t).token
    busy(t, None, named("first"), claim, store, t, "second")
    assert emit(store, t, token, "a") == [1]


def test_core_56_compaction_outlives_the_store(harness: Harness) -> None:
    t = fresh_id()
    token = five_events(harness.checkpoints, t)
    harness.checkpoints.compact_events(t, 4)

    store = harness.reopen().checkpoints
    refused(ReplayUnavailable(t, 4), store.events_after, t, 0, 10)
    refused(ReplayUnavailable(t, 4), store.events_after, t, 2, 10)
    assert numbers(store, t, 3, 10) == [4, 5]
    assert event_rows(harness, t) == [4, 5]
    assert emit(store, t, token, "f") == [6]
    store.compact_events(t, 2)
    assert numbers(store, t, 3, 10) == [4, 5, 6]


def test_core_57_reading_needs_no_claim(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = five_events(store, t)
    more = Commit(token, writes=[wr("c1", "0.0")], effects=[EffectDraft("mail", {"sent": True})])
    store.commit(t, more)

    before = everything(store, t)
    store.release(t, token)
    assert everything(store, t) == before
    effect = store.effect(t, "mail")
    assert effect is not None
    assert (effect.value, effect.run_id, effect.fencing_token) == ({"sent": True}, "first", token)
    assert store.effect(t, "post") is None


def test_core_58_cursor_far_past_the_end(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    five_events(store, t)
    assert numbers(store, t, 1000, 10) == []
    assert numbers(store, fresh_id(), 1000, 10) == []


def everything(store: Checkpointer, t: str) -> list[object]:
    """What every reading verb answers about the thread."""
    return [
        store.events_after(t, 0, 10),
        store.latest(t),
        store.history(t, limit=10),
        store.checkpoint(t, "c1"),
        store.effect(t, "mail"),
    ]


def event_rows(harness: Harness, t: str) -> list[int]:
    """The numbers of the event rows that are really stored."""
    with harness.raw() as connection:
        found = connection.execute(text("SELECT seq FROM event WHERE thread_id = :t ORDER BY seq"), {"t": t})
        return list(found.scalars())
