"""Holding a store against the model: one call, everything readable of a thread, and the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.clock import from_ns
from engine.errors import EngineError, InvalidCommit, ValidationError
from tests.property.audit import Tables, audit
from tests.property.plans import CHECKPOINT_IDS, EFFECT_KEYS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer
    from tests.property.model import Model, Thread

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
        found = {row["key"]: row["value"] for row in tables.of("thread_metadata", t)}
        assert found == thread.metadata, (t, found)
        places = {row["parent_id"] for row in tables.of("child_place", t)}
        assert places == thread.parents, (t, places)
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
