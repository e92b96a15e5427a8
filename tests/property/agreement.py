"""Holding a store against the model: one call, everything readable of a thread, and the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.checkpoints import ThreadQuery
from engine.checkpoints.records import instant_of
from engine.clock import from_ns
from engine.errors import EngineError, InvalidCommit, ValidationError
from tests.property.audit import Tables, audit
from tests.property.plans import CHECKPOINT_IDS, EFFECT_KEYS, HOLDERS, TENANTS, THREADS, UNKNOWN
from tests.property.retained import Landed

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer
    from engine.store import Store
    from tests.property.model import Model, Thread
    from tests.property.operated import Operated

PAGE = 2
ALL = 1000
FAR = 1000
"""A cursor this far past the end is still only past the end."""


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """What the call returned, or the refusal it raised; anything else is a defect and passes through."""
    try:
        return call(*args)
    except EngineError as refused:
        return refused


def same(expected: Any, actual: Any) -> bool:
    """Equal by type and fields; of an InvalidCommit the model only names the offender."""
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, InvalidCommit):
        return bool(expected.thread_id == actual.thread_id and expected.reason in actual.reason)
    if isinstance(expected, ValidationError):
        return bool(expected.field == actual.field and actual.problems)
    return bool(expected == actual)


def check(expected: Any, actual: Any, what: object) -> None:
    """AssertionError unless the store's answer is the model's."""
    assert same(expected, actual), f"{what}:\n  the rules say {expected!r}\n  the store says {actual!r}"


def check_thread(model: Model, store: Checkpointer, t: str) -> None:
    """Compare everything that can be read of one thread."""
    check(outcome(model.latest, t), outcome(store.latest, t), ("latest", t))
    for name in (*CHECKPOINT_IDS[:3], model.thread(t).latest_id or UNKNOWN):
        check(model.checkpoint(t, name), outcome(store.checkpoint, t, name), ("checkpoint", t, name))
    for key in EFFECT_KEYS:
        check(model.effect(t, key), outcome(store.effect, t, key), ("effect", t, key))
    _check_pages(model, store, t)
    _check_cursors(model, store, t)


def _check_pages(model: Model, store: Checkpointer, t: str) -> None:
    ids = [each.id for each in model.thread(t).history]
    pages = [(None, ALL), (UNKNOWN, 0), *((before, PAGE) for before in (ids[-1:] + ids[:1]))]
    for before, limit in pages:
        actual = outcome(lambda b=before, n=limit: store.history(t, before=b, limit=n))
        check(outcome(model.history, t, before, limit), actual, ("history", t, before, limit))


def _check_cursors(model: Model, store: Checkpointer, t: str) -> None:
    for cursor in interesting_cursors(model, t):
        expected, actual = (outcome(each.events_after, t, cursor, ALL) for each in (model, store))
        check(expected, actual, ("events_after", t, cursor))
    first, _, floor = model.numbers(t)
    for cursor, limit in ((first - 1, PAGE), (0, 0), (floor, -1)):
        expected, actual = (outcome(each.events_after, t, cursor, limit) for each in (model, store))
        check(expected, actual, ("events_after", t, cursor, limit))


def interesting_cursors(model: Model, t: str) -> list[int]:
    """Around the first, the floor and the next number, inside a deleted log, past the end, and below zero."""
    first, following, floor = model.numbers(t)
    edges = {edge + by for edge in (first, floor, following) for by in (-2, -1, 0)}
    return sorted({-1, 0, 1, first // 2, following + FAR} | {edge for edge in edges if edge > 0})


def check_tables(model: Model, tables: Tables) -> None:
    """The invariants, then every stored thing against the model, the times among it that no call returns."""
    audit(tables)
    assert set(tables.threads) == set(model.stored), "the ids with a row"
    assert tables.meta["reclamation_mark"] == model.mark
    for t, thread in model.stored.items():
        _check_row(thread, tables.threads[t])
        _check_times(thread, tables, t)
        found = {row["key"]: row["value"] for row in tables.of("thread_metadata", t)}
        assert found == thread.metadata, (t, found)
        places = {row["parent_id"] for row in tables.of("child_place", t)}
        assert places == set(thread.parents), (t, places)
        seen = [
            (row["count"], row["last_token"], row["last_verb"], from_ns(row["last_at"]))
            for row in tables.of("refusal", t)
        ]
        late = thread.refusals
        assert seen == ([(late.count, late.token, late.verb, late.at)] if late else []), (t, seen)


def _check_row(thread: Thread, row: dict[str, Any]) -> None:
    lease, log = thread.lease, thread.log
    stored = (row["claim_token"], row["claim_holder"], row["claim_tenant"])
    assert stored == ((lease.token, lease.holder, lease.tenant) if lease else (None, None, None)), row
    if lease is not None:
        assert row["claim_tenant_recorded"], row
        assert from_ns(row["claim_expires_at"]) == lease.expires_at, row
    assert row["tomb_first"] == thread.tomb, row
    numbers = (row["first_seq"], row["next_seq"], row["floor_seq"])
    assert numbers == ((log.first, log.next, log.floor) if log else (None, None, None)), row
    times = tuple(instant_of(row[name]) for name in ("created_at", "updated_at", "deleted_at"))
    assert times == (thread.created_at, thread.updated_at, thread.buried_at), row


def _check_times(thread: Thread, tables: Tables, t: str) -> None:
    """What retention judges by: places are in order, times are the store's own."""
    history = [
        Landed(row["checkpoint_id"], row["run_id"], from_ns(row["committed_at"]), row["first_seq"])
        for row in tables.of("checkpoint", t)
    ]
    assert history == thread.story, (t, history)
    times = {row["seq"]: from_ns(row["committed_at"]) for row in tables.of("event", t)}
    assert times == (thread.log.times if thread.log else {}), (t, times)


def check_operated(model: Operated, store: Store, turn: int) -> None:
    """What operators see: the queue, children, evidence, listings. `turn` picks what is looked at this time."""
    assert store.queue.entries(limit=ALL) == model.queue.entries()
    t, cursor, run = THREADS[turn % 3], THREADS[turn // 3 % 3], HOLDERS[turn // 2 % 3]
    for after, most in ((None, ALL), (cursor, turn % PAGE)):
        actual = outcome(lambda a=after, m=most: store.checkpoints.children(t, after=a, limit=m))
        check(outcome(model.children, t, after, most), actual, ("children", t, after, most))
    found = store.checkpoints.latest_of_runs(t, [run])
    check(model.latest_of_runs(t, [run]), found, ("latest_of_runs", t, run))
    tenant, limit = TENANTS[turn // 2 % 3], (1, ALL)[turn % 2]
    page = store.checkpoints.threads(ThreadQuery(tenant, limit=limit))
    check(model.threads(tenant, limit), page, ("threads", tenant, limit))
    page = store.checkpoints.incomplete(tenant, limit=limit)
    check(model.incomplete(tenant, limit), page, ("incomplete", tenant, limit))
