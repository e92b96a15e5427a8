"""Comparing what two stores do with one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engine.checkpoints import Checkpointer


@dataclass(frozen=True)
class Exactly:
    """A value that is equal only to one of the same type all through: not 1 to True, nor 0.0 to -0.0."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exactly) and _exactly(self.value, other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


def _exactly(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(_exactly(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_exactly, left, right))
    return bool(left == right and repr(left) == repr(right))


def on_each(stores: Iterable[Checkpointer], call: Callable[[Checkpointer], Any]) -> Any:
    """The one result of the call on every store, or the one refusal; AssertionError where two differ.

    Anything but an EngineError passes through: no other exception may leave a store.
    """
    results = [_result(call, store) for store in stores]
    for each in results[1:]:
        assert type(each) is type(results[0]), results
        assert each == results[0], results
    return results[0]


def _result(call: Callable[[Checkpointer], Any], store: Checkpointer) -> Any:
    try:
        return call(store)
    except EngineError as refused:
        return refused
