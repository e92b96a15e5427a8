"""Arguments of the wrong kind: a ValidationError on both back ends, with nothing written (api.md, `engine.errors`)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import create_engine

from engine.checkpoints import (
    ClaimRequest,
    Commit,
    EffectDraft,
    Fence,
    PendingWrite,
    RetentionPolicy,
    SweepPolicy,
    ThreadQuery,
    claims,
    set_metadata,
    watch,
)
from engine.errors import StaleClaim, ValidationError
from tests.support.builders import TTL, chain, ck, claim, emit, ev, fresh_id, latest_id, seqs

if TYPE_CHECKING:
    from tests.support.harness import Harness

NOT_WHOLE: tuple[Any, ...] = (True, 1.5, "1", None, b"1", [], {})
NOT_A_SPAN: tuple[Any, ...] = (1, 1.5, "1", None)
NO_RECORD: tuple[Any, ...] = (1, "x", [], {})

WHOLE: dict[str, Any] = {
    "commit.token": lambda c, t, token, value: c.commit(t, Commit(value, events=[ev("x")])),
    "fence.token": lambda c, t, token, value: c.commit(t, Commit(token, fence=Fence("other", value))),
    "renew.token": lambda c, t, token, value: c.renew(t, value, TTL),
    "release.token": lambda c, t, token, value: c.release(t, value),
    "delete.token": lambda c, t, token, value: c.delete_thread(t, value),
    "events.after": lambda c, t, token, value: c.events_after(t, value, 10),
    "events.limit": lambda c, t, token, value: c.events_after(t, 0, value),
    "await.after": lambda c, t, token, value: c.await_events_after(t, value, 10, timedelta(0)),
    "await.limit": lambda c, t, token, value: c.await_events_after(t, 0, value, timedelta(0)),
    "history.limit": lambda c, t, token, value: c.history(t, limit=value),
    "compact.before": lambda c, t, token, value: c.compact_events(t, value),
    "children.limit": lambda c, t, token, value: c.children(t, limit=value),
    "threads.limit": lambda c, t, token, value: c.threads(ThreadQuery(None, limit=value)),
    "incomplete.limit": lambda c, t, token, value: c.incomplete(None, limit=value),
    "find.limit": lambda c, t, token, value: c.find_threads(None, "", limit=value),
    "tombstones.limit": lambda c, t, token, value: c.tombstones(limit=value),
    "format": lambda c, t, token, value: c.commit(
        t, Commit(token, ck("c2", "c1", t=t, format_version=value))
    ),
    "sweep.batch": lambda c, t, token, value: SweepPolicy(batch_size=value),
}
SPANS: dict[str, Any] = {
    "claim.ttl": lambda c, t, token, value: ClaimRequest("h", value),
    "renew.ttl": lambda c, t, token, value: c.renew(t, token, value),
    "await.timeout": lambda c, t, token, value: c.await_events_after(t, 0, 10, value),
    "watch.poll": lambda c, t, token, value: next(watch(c, t, poll_interval=value)),
}
RECORDS: dict[str, Any] = {
    "claim": lambda c, t, token, value: c.claim(fresh_id(), value),
    "commit": lambda c, t, token, value: c.commit(t, value),
    "checkpoint": lambda c, t, token, value: c.commit(t, Commit(token, value)),
    "writes": lambda c, t, token, value: c.commit(t, Commit(token, writes=[value])),
    "events": lambda c, t, token, value: c.commit(t, Commit(token, events=[value])),
    "effects": lambda c, t, token, value: c.commit(t, Commit(token, effects=[value])),
    "fence": lambda c, t, token, value: c.commit(t, Commit(token, fence=value)),
    "origin": lambda c, t, token, value: c.commit(t, Commit(token, ck("c2", "c1", t=t, origin=value))),
    "created_at": lambda c, t, token, value: ck("c2", "c1", t=t, created_at=value),
    "timestamp": lambda c, t, token, value: ev("x", timestamp=value),
    "prune": lambda c, t, token, value: c.prune(t, value),
    "sweep": lambda c, t, token, value: c.sweep(value, lambda ids: {}),
    "retention": lambda c, t, token, value: SweepPolicy(retention=value),
    "max_age": lambda c, t, token, value: RetentionPolicy(max_age=value),
}


def _check(harness: Harness, call: Any, values: tuple[Any, ...]) -> None:
    checkpoints, t = harness.checkpoints, fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["c1"])
    for value in values:
        with pytest.raises(ValidationError):
            call(checkpoints, t, token, value)
    assert (latest_id(checkpoints, t), seqs(checkpoints, t)) == ("c1", [1])
    assert emit(checkpoints, t, token, "after") == [2]


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_no_whole_number_is_refused(harness: Harness, name: str) -> None:
    _check(harness, WHOLE[name], NOT_WHOLE)


@pytest.mark.parametrize("name", SPANS)
def test_what_is_no_duration_is_refused(harness: Harness, name: str) -> None:
    _check(harness, SPANS[name], NOT_A_SPAN)


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_no_record_is_refused(harness: Harness, name: str) -> None:
    _check(harness, RECORDS[name], NO_RECORD)


def test_no_token_is_not_the_token_of_an_unclaimed_thread(harness: Harness) -> None:
    """None equals what is stored when nobody holds the thread: it must neither delete nor fence."""
    checkpoints, t, other = harness.checkpoints, fresh_id(), fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["c1"])
    checkpoints.release(t, token)
    nothing: Any = None

    with pytest.raises(ValidationError):
        checkpoints.delete_thread(t, nothing)
    with pytest.raises(ValidationError):
        checkpoints.commit(t, Commit(nothing, metadata={"a": "b"}))
    with pytest.raises(ValidationError):
        checkpoints.delete_thread(other, claim(checkpoints, other).token, Fence(t, nothing))

    assert (latest_id(checkpoints, t), seqs(checkpoints, t)) == ("c1", [1])


def test_a_number_of_another_class_is_the_number(harness: Harness) -> None:
    class Number(int):
        pass

    checkpoints, t = harness.checkpoints, fresh_id()
    token = Number(claim(checkpoints, t).token)
    assert emit(checkpoints, t, token, "a") == [1]
    assert [record.seq for record in checkpoints.events_after(t, Number(0), Number(5))] == [1]
    with pytest.raises(StaleClaim):
        checkpoints.renew(t, Number(2**63), TTL)


def test_a_commit_takes_its_parts_from_iterators(harness: Harness) -> None:
    checkpoints, t = harness.checkpoints, fresh_id()
    token = claim(checkpoints, t).token
    emit(checkpoints, t, token, "first")
    parts: Any = {
        "writes": (PendingWrite("c1", task, "n", None) for task in "ab"),
        "events": (ev(name) for name in "ab"),
        "effects": (EffectDraft(key, 1) for key in "ab"),
    }

    records = checkpoints.commit(t, Commit(token, ck("c1", t=t), **parts))

    stored = checkpoints.latest(t)
    assert stored is not None
    assert [record.seq for record in records] == [2, 3]
    assert [write.task_id for write in stored.writes] == ["a", "b"]
    assert checkpoints.effect(t, "b") is not None


@pytest.mark.parametrize("metadata", [1, "ab", [("a", "b")], b"ab"])
def test_metadata_that_is_no_mapping_is_refused(harness: Harness, metadata: Any) -> None:
    with pytest.raises(ValidationError):
        set_metadata(harness.checkpoints, fresh_id(), 1, metadata)


@pytest.mark.parametrize(
    "options",
    [
        {"application_name": "a\0b"},
        {"application_name": None},
        {"busy_timeout": 5},
        {"pool_size": "5"},
        {"pool_size": True},
        {"statement_timeout": 5},
        {"statement_timeout": timedelta(days=30)},
    ],
    ids=str,
)
def test_an_option_of_the_wrong_kind_opens_nothing(harness: Harness, options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        harness.open(**options)


def test_a_connection_of_another_engine_is_refused(harness: Harness) -> None:
    with harness.raw() as connection, pytest.raises(ValidationError, match=r"store\.engine"):
        claims.claim(connection, fresh_id(), ClaimRequest("h", TTL))
    with create_engine("sqlite://").connect() as idle, pytest.raises(ValidationError, match=r"store\.engine"):
        claims.claim(idle, fresh_id(), ClaimRequest("h", TTL))
