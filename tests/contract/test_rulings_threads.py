"""Rulings 12 to 20: what may be stored, and the rules of threads (11 is in test_schema.py)."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, text

from engine.checkpoints import CheckpointStatus, ClaimRequest, Commit, EffectDraft
from engine.clock import to_ns
from engine.errors import InvalidCommit, StaleClaim, ThreadDeleted, ValidationError
from tests.support.background import until
from tests.support.builders import T0, TTL, chain, ck, claim, emit, ev, fresh_id, latest_id, seqs, wr
from tests.support.refusals import refused
from tests.support.tombs import deleted_at, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

DELETING, FAILED, RUNNING = CheckpointStatus.DELETING, CheckpointStatus.FAILED, CheckpointStatus.RUNNING


BAD_IDS = ["with \0 nul", "lone \ud800 surrogate", "x" * 513, "é" * 257]


@pytest.mark.parametrize("bad", BAD_IDS, ids=["nul", "surrogate", "513 bytes", "514 bytes of 257 letters"])
def test_ruling_12_ids_that_are_no_ids(harness: Harness, bad: str) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    calls: list[Callable[[], Any]] = [
        lambda: checkpoints.claim(bad, ClaimRequest("first", TTL)),
        lambda: ClaimRequest(bad, TTL),
        lambda: ClaimRequest("first", TTL, bad),
        lambda: checkpoints.latest(bad),
        lambda: checkpoints.checkpoint(t, bad),
        lambda: checkpoints.history(t, before=bad),
        lambda: checkpoints.events_after(bad, 0, 1),
        lambda: checkpoints.effect(t, bad),
        lambda: ck(bad, t=t),
        lambda: wr("c1", bad),
        lambda: ev("a", run_id=bad),
    ]
    for call in calls:
        with pytest.raises(ValidationError) as caught:
            call()
        assert isinstance(caught.value, ValueError)
        assert caught.value.problems


@pytest.mark.parametrize(
    "good", ["", " ", "x" * 512, "é" * 256, "'; DROP TABLE thread; --", "\n\t\u202e", "𝄞"]
)
def test_ruling_12_any_other_string_is_an_id(harness: Harness, good: str) -> None:
    checkpoints = harness.checkpoints
    granted = claim(checkpoints, good, good, tenant=good)
    made = ck(good, t=good, run_id=good, tenant=good)
    checkpoints.commit(
        good, Commit(granted.token, checkpoint=made, writes=[wr(good, good)], events=[ev(good)])
    )

    stored = checkpoints.latest(good)
    assert stored is not None
    assert (stored.checkpoint, list(stored.writes)) == (made, [wr(good, good)])
    assert checkpoints.events_after(good, 0, 1)[0].payload["name"] == good


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1, 2}, b"bytes", object], ids=repr)
def test_ruling_12_bodies_that_are_no_json(harness: Harness, bad: Any) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    calls: list[Callable[[], Any]] = [
        lambda: checkpoints.commit(t, Commit(token, checkpoint=ck("c1", t=t, snapshot={"deep": [bad]}))),
        lambda: checkpoints.commit(t, Commit(token, events=[ev("a", payload=bad)])),
        lambda: checkpoints.commit(t, Commit(token, effects=[EffectDraft("key", [bad])])),
    ]
    for call in calls:
        with pytest.raises(ValidationError):
            call()
    assert (latest_id(checkpoints, t), seqs(checkpoints, t)) == (None, [])


def test_ruling_12_bodies_are_ascii(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, body = fresh_id(), {"text": "ünïcode 𝄞 \u0000 \u2028", "n": 2**70, "f": 0.1}
    token = claim(checkpoints, t).token
    checkpoints.commit(t, Commit(token, checkpoint=ck("c1", t=t, snapshot=body)))

    stored = checkpoints.latest(t)
    assert stored is not None
    assert stored.checkpoint.snapshot == body
    with harness.raw() as connection:
        raw = connection.execute(
            text("SELECT body FROM checkpoint WHERE thread_id = :t"), {"t": t}
        ).scalar_one()
    assert raw.isascii()
    assert json.loads(raw) == body


@pytest.mark.parametrize(
    "bad",
    [
        datetime(1677, 12, 31, tzinfo=UTC),
        datetime(2262, 4, 12, tzinfo=UTC),
        datetime(2026, 10, 9, 12, 0),  # noqa: DTZ001 - unaware, which is the point
    ],
    ids=["too early", "too late", "unaware"],
)
def test_ruling_12_instants_that_cannot_be_stored(harness: Harness, bad: datetime) -> None:
    t = fresh_id()
    with pytest.raises(ValidationError):
        harness.checkpoints.commit(t, Commit(claim(harness.store, t).token, events=[ev("a", timestamp=bad)]))
    with pytest.raises(ValidationError):
        ck("c1", t=t, created_at=bad)


@pytest.mark.parametrize(
    "instant",
    [None, datetime(1678, 1, 2, tzinfo=UTC), datetime(2261, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)],
)
def test_ruling_12_instants_come_back_as_they_were(harness: Harness, instant: datetime | None) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    made = ck("c1", t=t, created_at=instant)
    checkpoints.commit(
        t, Commit(claim(checkpoints, t).token, checkpoint=made, events=[ev("a", timestamp=instant)])
    )

    assert checkpoints.checkpoint(t, "c1") == made
    assert checkpoints.events_after(t, 0, 1)[0].timestamp == instant


def test_ruling_12_another_zone_is_the_same_instant(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, there = fresh_id(), T0.astimezone(timezone(timedelta(hours=-5)))
    checkpoints.commit(t, Commit(claim(checkpoints, t).token, checkpoint=ck("c1", t=t, created_at=there)))

    stored = checkpoints.checkpoint(t, "c1")
    assert stored is not None
    assert stored.created_at == T0
    assert stored.created_at.utcoffset() == timedelta(0)


def test_ruling_15_a_checkpoint_keeps_the_number_its_commit_began_at(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    emit(checkpoints, t, token, "a", "b")
    chain(checkpoints, t, token, ["c1", "c2"])
    checkpoints.commit(t, Commit(token, checkpoint=ck("c3", "c2", t=t)))

    with harness.raw() as connection:
        rows = connection.execute(text("SELECT checkpoint_id, first_seq FROM checkpoint ORDER BY place"))
        assert [tuple(row) for row in rows] == [("c1", 3), ("c2", 4), ("c3", 5)]


def record_run(harness: Harness, t: str, run_id: str, state: str) -> None:
    """A queue entry of the thread that recorded the run."""
    entry = (
        "INSERT INTO queue_entry"
        " (id, thread_id, input, state, available_at, lease_token, attempts, max_attempts)"
        " VALUES (:id, :t, 'null', :state, 0, 0, 1, 3)"
    )
    run = "INSERT INTO queue_run (thread_id, entry_id, run_id, n) VALUES (:t, :id, :run, 1)"
    with harness.raw() as connection:
        connection.execute(text(entry), {"id": f"entry of {run_id}", "t": t, "state": state})
        connection.execute(text(run), {"id": f"entry of {run_id}", "t": t, "run": run_id})


def two_runs(checkpoints: Checkpointer) -> tuple[str, int]:
    """Nothing settled: two checkpoints of run A, one of run B."""
    t = fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["s0", "s1"], run_id="A")
    chain(checkpoints, t, token, ["b1"], run_id="B")
    return t, token


@pytest.mark.parametrize(
    ("state", "kept"), [("leased", ["failed", "s1"]), ("queued", ["failed", "s1"]), ("done", ["failed"])]
)
def test_ruling_16_a_retraction_keeps_what_an_open_entry_records(
    harness: Harness, state: str, kept: list[str]
) -> None:
    checkpoints = harness.checkpoints
    t, token = two_runs(checkpoints)
    record_run(harness, t, "A", state)
    record_run(harness, t, "B", "done" if state == "done" else "queued")

    failed = ck("failed", "b1", t=t, run_id="B", status=FAILED)
    checkpoints.commit(t, Commit(token, checkpoint=failed, retract_turn=True))

    # Ruling 71: of B, the commit's own checkpoint is the newest, so its older one goes.
    assert [each.id for each in checkpoints.history(t)] == kept


def test_ruling_17_a_thread_being_deleted_takes_no_other_checkpoint(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["c1"])
    chain(checkpoints, t, token, ["going"], status=DELETING)

    refused(ThreadDeleted(t), checkpoints.commit, t, Commit(token, checkpoint=ck("c3", "going", t=t)))
    known = Commit(token, checkpoint=ck("c1", "going", t=t))
    refused(ThreadDeleted(t), checkpoints.commit, t, known)
    assert latest_id(checkpoints, t) == "going"
    assert [record.seq for record in chain(checkpoints, t, token, ["going on"], status=DELETING)] == [3]
    assert emit(checkpoints, t, token, "event only") == [4]


def test_ruling_17_an_effect_is_recorded_once(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t, "holder").token
    first = EffectDraft("mail", {"to": "a", "n": 1})
    checkpoints.commit(t, Commit(token, effects=[first]))

    for effects in (
        [EffectDraft("mail", {"to": "b", "n": 1})],
        [EffectDraft("new", 1), EffectDraft("new", 1)],
    ):
        with pytest.raises(InvalidCommit) as caught:
            checkpoints.commit(t, Commit(token, effects=effects, events=[ev("lost")]))
        assert caught.value.thread_id == t
    checkpoints.commit(t, Commit(token, effects=[EffectDraft("mail", {"n": 1, "to": "a"})]))

    stored = checkpoints.effect(t, "mail")
    assert stored is not None
    assert (stored.key, stored.value) == ("mail", {"to": "a", "n": 1})
    assert (stored.run_id, stored.fencing_token, stored.committed_at) == ("holder", token, T0)
    assert checkpoints.effect(t, "new") is None
    assert seqs(checkpoints, t) == []


def test_ruling_17_a_repeated_effect_keeps_the_first_record(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    first = claim(checkpoints, t, "first").token
    checkpoints.commit(t, Commit(first, effects=[EffectDraft("mail", None)]))
    recorded = checkpoints.effect(t, "mail")
    harness.advance(TTL)
    second = claim(checkpoints, t, "second").token

    checkpoints.commit(t, Commit(second, effects=[EffectDraft("mail", None)]))

    assert recorded is not None
    assert checkpoints.effect(t, "mail") == recorded
    assert recorded.run_id == "first"


@pytest.mark.parametrize(
    "metadata",
    [
        {f"key-{n}": "v" for n in range(33)},
        {"k" * 65: "v"},
        {"key": "v" * 513},
        {"key": 5},
        {"key": "nul \0"},
    ],
    ids=["33 keys", "long key", "long value", "no string", "nul"],
)
def test_ruling_17_metadata_limits_are_checked_when_a_commit_is_built(metadata: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        Commit(1, metadata=metadata)
    assert caught.value.field.startswith("metadata")


def test_ruling_17_metadata_within_its_limits(harness: Harness) -> None:
    t = fresh_id()
    token = claim(harness.store, t).token
    full: dict[str, str | None] = {f"{n:064}": "v" * 512 for n in range(32)}
    harness.checkpoints.commit(t, Commit(token, checkpoint=ck("c1", t=t), metadata=full))
    harness.checkpoints.commit(
        t, Commit(token, metadata={f"{0:064}": None, f"{1:064}": "changed", "unknown": None})
    )

    with harness.raw() as connection:
        rows = connection.execute(
            text("SELECT key, value FROM thread_metadata WHERE thread_id = :t"), {"t": t}
        )
        stored = {row.key: row.value for row in rows}
    assert stored == {f"{1:064}": "changed"} | {f"{n:064}": "v" * 512 for n in range(2, 32)}


def transactions(harness: Harness, call: Callable[[], Any]) -> int:
    """How many transactions of the store the call commits."""
    ended: list[object] = []
    listener = partial(list.append, ended)
    engine = harness.store.engine
    event.listen(engine, "commit", listener)
    try:
        call()
    finally:
        event.remove(engine, "commit", listener)
    return len(ended)


def big_thread(checkpoints: Checkpointer) -> tuple[str, int]:
    """A thread with 12,000 events and a checkpoint."""
    t = fresh_id()
    token = claim(checkpoints, t).token
    for _ in range(4):
        checkpoints.commit(t, Commit(token, events=[ev("x") for _ in range(3000)]))
    checkpoints.commit(t, Commit(token, checkpoint=ck("c1", t=t)))
    return t, token


def test_ruling_18_a_big_log_is_deleted_in_steps(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = big_thread(checkpoints)

    steps = transactions(harness, lambda: checkpoints.delete_thread(t, token))

    assert steps >= 3
    assert checkpoints.latest(t) is None
    deleted_at(checkpoints, t, [1, 5000, 12_000])
    assert read(checkpoints, t, 12_001) == []
    token = claim(checkpoints, t).token
    assert emit(checkpoints, t, token, "next")[0] > 12_001


def test_ruling_18_a_big_delete_that_loses_its_claim_leaves_the_mark(harness: Harness) -> None:
    checkpoints, other = harness.checkpoints, harness.sibling().checkpoints
    t, token = big_thread(checkpoints)
    taken: list[int] = []

    def take_over(*_: object) -> None:
        """Between the delete's first transaction and its second."""
        if not taken:
            harness.advance(TTL)
            taken.append(claim(other, t, "successor").token)

    event.listen(harness.store.engine.pool, "checkin", take_over)
    with pytest.raises(StaleClaim) as caught:
        checkpoints.delete_thread(t, token)

    assert caught.value == StaleClaim(t, token, taken[0])
    stored = checkpoints.latest(t)
    assert stored is not None
    assert stored.checkpoint.status is DELETING
    other.delete_thread(t, taken[0])
    assert checkpoints.latest(t) is None
    deleted_at(checkpoints, t, [12_000])


def test_ruling_18_compaction_goes_in_steps(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = big_thread(checkpoints)

    steps = transactions(harness, lambda: checkpoints.compact_events(t, 11_999))

    assert steps >= 3
    assert read(checkpoints, t, 11_998) == [11_999, 12_000]
    assert emit(checkpoints, t, token, "next") == [12_001]


def refusals(harness: Harness, t: str) -> list[tuple[Any, ...]]:
    with harness.raw() as connection:
        query = "SELECT count, last_token, last_verb, last_at FROM refusal WHERE thread_id = :t"
        return [tuple(row) for row in connection.execute(text(query), {"t": t})]


def test_ruling_20_a_refusal_of_an_issued_token_is_observed(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    first = claim(checkpoints, t).token
    harness.advance(TTL)
    second = claim(checkpoints, t, "second").token

    refused(StaleClaim(t, first, second), checkpoints.commit, t, Commit(first, events=[ev("late")]))

    until(partial(refusals, harness, t), "the refusal is written down")
    [(count, token, verb, at)] = refusals(harness, t)
    assert (count, token, verb) == (1, first, "commit")
    assert at == to_ns(T0 + TTL)


def test_ruling_20_a_claim_keeps_when_it_was_granted_and_renewed(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    for _ in range(3):
        harness.advance(TTL / 3)
        checkpoints.renew(t, token, TTL)

    columns = "claim_granted_at, claim_renewed_at, claim_renewals, claim_expires_at"
    with harness.raw() as connection:
        row = connection.execute(text(f"SELECT {columns} FROM thread WHERE thread_id = :t"), {"t": t}).one()
    assert tuple(row) == (to_ns(T0), to_ns(T0 + TTL), 3, to_ns(T0 + 2 * TTL))


def test_ruling_20_every_refused_verb_is_named(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    calls: dict[str, Callable[[str, int], Any]] = {
        "commit": lambda t, token: checkpoints.commit(t, Commit(token)),
        "renew": lambda t, token: checkpoints.renew(t, token, TTL),
        "delete_thread": checkpoints.delete_thread,
    }
    for verb, call in calls.items():
        t = fresh_id()
        first = claim(checkpoints, t).token
        harness.advance(TTL)
        claim(checkpoints, t, "second")
        with pytest.raises(StaleClaim):
            call(t, first)
        until(partial(refusals, harness, t), f"the refused {verb} is written down")
        assert refusals(harness, t)[0][1:3] == (first, verb)


def test_ruling_20_a_token_never_issued_is_not_observed(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    for never in (token + 1000, 0, -1):
        refused(StaleClaim(t, never, token), checkpoints.commit, t, Commit(never))
    assert refusals(harness, t) == []


def test_ruling_20_at_most_one_a_second_is_written(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    first = claim(checkpoints, t).token
    harness.advance(TTL)
    claim(checkpoints, t, "second")

    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(StaleClaim):
            checkpoints.commit(t, Commit(first))
    seconds = time.monotonic() - began

    until(partial(refusals, harness, t), "the refusal is written down")
    assert refusals(harness, t)[0][0] <= 1 + seconds
