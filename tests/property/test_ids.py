"""Any text is an id wherever an id is taken, or is refused everywhere, on both back ends alike (ruling 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.checkpoints import (
    MAX_LIMIT,
    BusyHolder,
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    EffectDraft,
    EventDraft,
    Fence,
    HolderKind,
    Origin,
    PendingWrite,
    RetentionPolicy,
    ThreadQuery,
)
from engine.errors import (
    CheckpointNotFound,
    ReplayUnavailable,
    StaleClaim,
    ThreadBusy,
    ThreadDeleted,
    ValidationError,
)
from tests.property.values import INVALID_IDS, THOROUGHLY, VALID_IDS
from tests.support.builders import T0, TTL, ck
from tests.support.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer

RUNNING = CheckpointStatus.RUNNING


def written(name: str, token: int, parent: str | None, target: str) -> Commit:
    """A plain commit of checkpoint `target` that has the name in every other place for text."""
    made_by = Origin(name)
    return Commit(
        token,
        checkpoint=Checkpoint(target, name, name, RUNNING, {name: name}, parent, T0, name, None, made_by),
        writes=[PendingWrite(target, name, name, name), PendingWrite(target, "", name, name)],
        events=[EventDraft(name, name, name, name, name, name, T0), EventDraft(name, name, name)],
    )


@given(name=VALID_IDS)
@example(name="")
@example(name="NULL")
@example(name='\\"{},')
@example(name="x" * 512)
def test_any_valid_text_works_in_every_verb(both: list[Checkpointer], name: str) -> None:
    other = f"{name[:80]}*" if name[:80].isascii() else "*"
    for store in both:
        token = store.claim(name, ClaimRequest(name, TTL, name)).token
        busy = ThreadBusy(name, None, BusyHolder(HolderKind.RUN, name))
        refused(busy, store.claim, name, ClaimRequest("other", TTL, name))
        assert store.renew(name, token, TTL).holder == name

        first = written(name, token, None, other)
        records = store.commit(name, first)
        second = written(name, token, other, name)
        records += store.commit(name, second)
        plus = Commit(
            token,
            effects=[EffectDraft(name, name)],
            metadata={name[:64]: name},
            fence=Fence(name, token),
        )
        assert store.commit(name, plus) == []
        check_reads(store, name, token, first, second)
        assert store.events_after(name, 0, 10) == records
        end(store, name, token)


def check_reads(store: Checkpointer, name: str, token: int, first: Commit, second: Commit) -> None:
    """Everything comes back as it was given."""
    assert first.checkpoint is not None
    assert second.checkpoint is not None
    stored = store.latest(name)
    assert stored is not None
    assert (stored.checkpoint, stored.writes) == (second.checkpoint, list(second.writes))
    assert store.checkpoint(name, first.checkpoint.id) == first.checkpoint
    assert store.history(name, before=name) == [first.checkpoint]
    refused(CheckpointNotFound(name, "not there"), store.history, name, before="not there")
    effect = store.effect(name, name)
    assert effect is not None
    assert (effect.key, effect.value, effect.run_id) == (name, name, name)
    drafts = [*first.events, *second.events]
    for record, draft in zip(store.events_after(name, 0, 10), drafts, strict=True):
        assert (record.thread_id, record.fencing_token) == (name, token)
        for field in ("kind", "payload", "run_id", "checkpoint_id", "task_id", "node_id", "timestamp"):
            assert getattr(record, field) == getattr(draft, field)


def end(store: Checkpointer, name: str, token: int) -> None:
    """Compact, delete, and forget the numbers for the next run with the same name."""
    [*_, last] = store.events_after(name, 0, 10)
    store.compact_events(name, last.seq)
    refused(ReplayUnavailable(name, last.seq), store.events_after, name, 0, 10)
    refused(StaleClaim(name, token + 1, token), store.delete_thread, name, token + 1)
    store.delete_thread(name, token, Fence(name, token))
    refused(ThreadDeleted(name), store.events_after, name, last.seq, 10)
    assert store.latest(name) is None
    store.release(name, token)


@given(name=VALID_IDS, cut=st.integers(0, 12))
@example(name="", cut=0)
@example(name="\U0010ffff", cut=1)
@example(name="a\ud7ff", cut=2)
def test_any_valid_text_is_found_again(both: list[Checkpointer], name: str, cut: int) -> None:
    """By its owner, by a pair of its metadata, by how it begins, by its parent and by its runs."""
    pair = {name[:64]: name}
    for store in both:
        token = store.claim(name, ClaimRequest(name, TTL, name)).token
        made = Checkpoint(name, name, name, RUNNING, None, tenant=name)
        store.commit(
            name, Commit(token, checkpoint=made, events=[EventDraft(name, None, name)], metadata=pair)
        )
        for query in (ThreadQuery(name), ThreadQuery(name, metadata=pair)):
            [found] = store.threads(query).threads
            assert (found.thread_id, found.tenant, found.metadata, found.held) == (name, name, pair, True)
        assert store.incomplete(name).threads == ()
        assert store.find_threads(name, name[:cut]) == [name]
        assert store.find_threads(name, name[:cut], after=name) == []
        assert store.latest_of_runs(name, [name, "other"]) == made
        store.prune(name, RetentionPolicy.KEEP_ALL)

        moved = Checkpoint("child", name, name, RUNNING, None, name, tenant=name, origin=Origin(name))
        store.commit(name, Commit(token, checkpoint=moved))
        assert store.children(name) == [name]
        assert store.children(name, after=name) == []
        assert store.threads(ThreadQuery(name)).threads == ()
        store.delete_thread(name, token)
        assert name in [tomb.thread_id for tomb in store.tombstones(limit=MAX_LIMIT)]


TAKING = {
    "claim": lambda store, bad: store.claim(bad, ClaimRequest("run", TTL)),
    "renew": lambda store, bad: store.renew(bad, 1, TTL),
    "release": lambda store, bad: store.release(bad, 1),
    "commit": lambda store, bad: store.commit(bad, Commit(1)),
    "latest": lambda store, bad: store.latest(bad),
    "checkpoint": lambda store, bad: store.checkpoint(bad, "c1"),
    "checkpoint id": lambda store, bad: store.checkpoint("t", bad),
    "history": lambda store, bad: store.history(bad),
    "history before": lambda store, bad: store.history("t", before=bad),
    "events_after": lambda store, bad: store.events_after(bad, 0, 1),
    "await_events_after": lambda store, bad: store.await_events_after(bad, 0, 1, TTL),
    "compact_events": lambda store, bad: store.compact_events(bad, 1),
    "delete_thread": lambda store, bad: store.delete_thread(bad, 1),
    "prune": lambda store, bad: store.prune(bad, RetentionPolicy.KEEP_ALL),
    "children": lambda store, bad: store.children(bad),
    "children after": lambda store, bad: store.children("t", after=bad),
    "latest_of_runs": lambda store, bad: store.latest_of_runs(bad, ["run"]),
    "latest_of_runs run": lambda store, bad: store.latest_of_runs("t", ["run", bad]),
    "find_threads": lambda store, bad: store.find_threads("tenant", bad),
    "find_threads tenant": lambda store, bad: store.find_threads(bad, ""),
    "find_threads after": lambda store, bad: store.find_threads(None, "", after=bad),
    "incomplete": lambda store, bad: store.incomplete(bad),
    "incomplete after": lambda store, bad: store.incomplete(None, after=bad),
    "tombstones after": lambda store, bad: store.tombstones(after=bad),
    "effect": lambda store, bad: store.effect(bad, "key"),
    "effect key": lambda store, bad: store.effect("t", bad),
}


@given(bad=INVALID_IDS)
def test_any_other_text_is_refused_by_every_verb(both: list[Checkpointer], bad: str) -> None:
    for store in both:
        for verb, call in TAKING.items():
            with pytest.raises(ValidationError) as caught:
                call(store, bad)  # type: ignore[no-untyped-call]
            assert caught.value.problems, verb


BUILT: list[Callable[[str], Any]] = [
    lambda bad: ClaimRequest(bad, TTL),
    lambda bad: ClaimRequest("run", TTL, bad),
    lambda bad: Fence(bad, 1),
    Origin,
    lambda bad: ck(bad, t="t"),
    lambda bad: ck("c", bad, t="t"),
    lambda bad: ck("c", t=bad),
    lambda bad: ck("c", t="t", run_id=bad),
    lambda bad: ck("c", t="t", tenant=bad),
    lambda bad: PendingWrite(bad, "task", "node", None),
    lambda bad: PendingWrite("c", bad, "node", None),
    lambda bad: PendingWrite("c", "task", bad, None),
    lambda bad: EventDraft(bad, None, "run"),
    lambda bad: EventDraft("kind", None, bad),
    lambda bad: EventDraft("kind", None, "run", bad),
    lambda bad: EventDraft("kind", None, "run", None, bad),
    lambda bad: EventDraft("kind", None, "run", None, None, bad),
    lambda bad: EffectDraft(bad, None),
    lambda bad: Commit(1, metadata={bad: "value"}),
    ThreadQuery,
    lambda bad: ThreadQuery(None, metadata={bad: "value"}),
]


@THOROUGHLY
@given(bad=INVALID_IDS, build=st.sampled_from(BUILT))
def test_a_record_with_such_text_is_never_made(bad: str, build: Callable[[str], Any]) -> None:
    with pytest.raises(ValidationError):
        build(bad)


@THOROUGHLY
@given(good=VALID_IDS, build=st.sampled_from(BUILT))
def test_a_record_with_valid_text_is_made(good: str, build: Callable[[str], Any]) -> None:
    build(good[:64])
