"""Any JSON value comes back exactly as it was, or is refused before anything is stored: on both back ends."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.checkpoints import Checkpoint, CheckpointStatus, Commit, EffectDraft, EventDraft, PendingWrite
from engine.database.columns import MAX_NESTING, dump
from engine.errors import ValidationError
from tests.property.sameness import Exactly, on_each
from tests.property.values import ALMOST_JSON, HUGE, JSON, THOROUGHLY, nested
from tests.support.builders import MANY, claim, fresh_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer

RUNNING = CheckpointStatus.RUNNING


def commit_everywhere(t: str, token: int, parent: str | None, name: str, value: Any) -> Commit:
    """The value in every place that takes one."""
    return Commit(
        token,
        checkpoint=Checkpoint(name, t, "run", RUNNING, value, parent),
        writes=[PendingWrite(name, "task", "node", value)],
        events=[EventDraft("kind", value, "run")],
        effects=[EffectDraft(name, value)],
    )


def everywhere(store: Checkpointer, t: str, name: str) -> list[Any]:
    """The value as it is read from every place."""
    stored, effect = store.latest(t), store.effect(t, name)
    assert stored is not None
    assert effect is not None
    [*_, last] = store.events_after(t, 0, MANY)
    return [stored.checkpoint.snapshot, stored.writes[0].body, last.payload, effect.value]


def write_and_read(store: Checkpointer, value: Any) -> list[Any]:
    """Committed by both forms, each read back from every place, and from the commit's own answer."""
    t = fresh_id()
    token = claim(store, t).token
    [first] = store.commit(t, commit_everywhere(t, token, None, "ordinary", value))
    found = [first.payload, *everywhere(store, t, "ordinary")]
    plain = Commit(
        token,
        checkpoint=Checkpoint("plain", t, "run", RUNNING, value, "ordinary"),
        writes=[PendingWrite("plain", "task", "node", value)],
        events=[EventDraft("kind", value, "run")],
    )
    [second] = store.commit(t, plain)
    store.commit(t, Commit(token, effects=[EffectDraft("plain", value)]))
    return [*map(Exactly, (*found, second.payload, *everywhere(store, t, "plain")))]


@given(value=JSON)
@example(value={"\0": "\0", "": [-0.0, 5e-324, 1.7976931348623157e308, 10**400]})
@example(value=[True, 1, 1.0, "1", None, [], {}, ""])
def test_json_comes_back_as_it_was(both: list[Checkpointer], value: Any) -> None:
    for store in both:
        assert write_and_read(store, value) == [Exactly(value)] * 10


@given(value=ALMOST_JSON)
@example(value="\ud83d\ude00")  # Two halves of a letter are not that letter.
@example(value=[float("nan")])
@example(value={"\ud800": 1})
@example(value=10**4299)
@example(value=10**4300)
def test_what_is_nearly_json_comes_back_or_is_refused(both: list[Checkpointer], value: Any) -> None:
    found = on_each(both, lambda store: write_and_read(store, value))
    if isinstance(found, ValidationError):
        assert found.field == "checkpoint.snapshot"
    else:
        assert found == [Exactly(value)] * 10


PLACES: dict[str, Callable[[str, int, Any], Commit]] = {
    "checkpoint.snapshot": lambda t, k, value: Commit(k, checkpoint=Checkpoint("c", t, "r", RUNNING, value)),
    "write.body": lambda t, k, value: Commit(k, writes=[PendingWrite("c1", "task", "node", value)]),
    "event.payload": lambda t, k, value: Commit(k, events=[EventDraft("kind", value, "run")]),
    "effect.value": lambda t, k, value: Commit(k, effects=[EffectDraft("key", value)]),
}
FRAMES_OF_A_READ = 60
BAD = {
    "lone surrogate": "\udfff",
    "infinity": float("-inf"),
    "bytes": b"",
    "nesting": nested(MAX_NESTING + 1),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_refused_changes_nothing(both: list[Checkpointer], place: str, bad: str) -> None:
    for store in both:
        t = fresh_id()
        token = claim(store, t).token
        store.commit(t, Commit(token, checkpoint=Checkpoint("c1", t, "run", RUNNING, None)))
        before = store.latest(t)
        with pytest.raises(ValidationError) as caught:
            store.commit(t, PLACES[place](t, token, [BAD[bad]]))
        assert caught.value.field == place
        assert (store.latest(t), store.events_after(t, 0, 1), store.effect(t, "key")) == (before, [], None)


@THOROUGHLY
@given(depth=st.integers(1, MAX_NESTING * 3), inner=st.sampled_from([0, "[[", [], {}, [{}]]))
@example(depth=MAX_NESTING, inner=0)
@example(depth=MAX_NESTING + 1, inner=0)
@example(depth=MAX_NESTING, inner=[])
@example(depth=200_000, inner=0)
def test_nesting_has_one_limit(depth: int, inner: Any) -> None:
    value = nested(depth, inner)
    deepest = depth + {"[]": 1, "{}": 1, "[{}]": 2}.get(str(inner), 0)
    try:
        dump("field", value)
    except ValidationError:
        assert deepest > MAX_NESTING
    else:
        assert deepest <= MAX_NESTING


def descend(frames: int, call: Callable[[], Any]) -> Any:
    """The call's result, from so many frames further down."""
    return call() if frames == 0 else descend(frames - 1, call)


def test_what_was_stored_is_read_from_deep_in_a_stack(both: list[Checkpointer]) -> None:
    value = nested(MAX_NESTING - 1)
    for store in both:
        t = fresh_id()
        store.commit(t, commit_everywhere(t, claim(store, t).token, None, "c1", value))
        frames = sys.getrecursionlimit() - MAX_NESTING - _depth() - FRAMES_OF_A_READ
        assert frames > 100
        stored = descend(frames, partial(store.latest, t))
        assert json.dumps(stored.checkpoint.snapshot) == json.dumps(value)


def _depth() -> int:
    frame, found = sys._getframe(), 0
    while frame.f_back is not None:
        frame, found = frame.f_back, found + 1
    return found


@given(value=HUGE)
def test_numbers_of_thousands_of_digits(both: list[Checkpointer], value: int) -> None:
    found = on_each(both, lambda store: write_and_read(store, [value]))
    readable = value < 10 ** sys.get_int_max_str_digits()
    assert isinstance(found, ValidationError) is not readable
