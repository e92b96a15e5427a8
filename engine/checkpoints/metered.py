"""A checkpointer that counts what it does for Prometheus and is otherwise the one it wraps (4.10).

Label sets are fixed: method names and outcomes, never an id. A metrics library that fails is logged and forgotten.
"""

from __future__ import annotations

import functools
import inspect
import logging
import threading
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from prometheus_client import REGISTRY, Counter, Histogram

from engine import errors
from engine.checkpoints.checkpointer import Checkpointer

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry

    from engine.checkpoints.retention import SweepResult

log = logging.getLogger(__name__)

OUTCOMES: Final[dict[type[BaseException], str]] = {
    errors.ThreadBusy: "busy",
    errors.StaleClaim: "stale",
    errors.CheckpointConflict: "conflict",
    errors.InvalidCommit: "invalid",
    errors.ValidationError: "invalid",
    errors.CheckpointNotFound: "not_found",
    errors.ReplayUnavailable: "replay_unavailable",
    errors.ThreadDeleted: "deleted",
    errors.WaitCancelled: "cancelled",
}
"""Refusals are no failures: alert on `error`, which is everything else."""
UNMETERED: Final = frozenset({"tail", "changes"})
"""Not operations: they hand out something that is used later."""
OPERATIONS: Final = tuple(
    name
    for name, member in inspect.getmembers(Checkpointer, inspect.isfunction)
    if not name.startswith("_") and name not in UNMETERED
)
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of one registry, shared by every wrapper that reports to it."""

    operations: Counter
    seconds: Histogram
    waits: Histogram
    swept: Counter
    reclaimed: Counter
    checkpoints: Counter
    events: Counter

    @classmethod
    def of(cls, registry: CollectorRegistry) -> Self:
        """Register them."""
        name = "checkpointer"
        return cls(
            Counter(
                f"{name}_operations", "Calls, by method and outcome.", ("op", "outcome"), registry=registry
            ),
            Histogram(
                f"{name}_operation_seconds",
                "Duration of calls.",
                ("op",),
                buckets=_SECONDS,
                registry=registry,
            ),
            Histogram(
                f"{name}_await_seconds",
                "Duration of waits for events.",
                ("outcome",),
                buckets=_SECONDS,
                registry=registry,
            ),
            Counter(f"{name}_swept_threads", "Threads visited by sweeps.", registry=registry),
            Counter(f"{name}_reclaimed_tombstones", "Tombstones reclaimed by sweeps.", registry=registry),
            Counter(f"{name}_removed_checkpoints", "Checkpoints removed by sweeps.", registry=registry),
            Counter(f"{name}_removed_events", "Events removed by sweeps.", registry=registry),
        )

    def note(self, operation: str, seconds: float, result: Any, error: BaseException | None) -> None:
        """Count one call."""
        self.operations.labels(operation, outcome_of(error)).inc()
        self.seconds.labels(operation).observe(seconds)
        if operation == "await_events_after":
            answer = "error" if error is not None else "events" if result else "empty"
            self.waits.labels(answer).observe(seconds)
        if operation == "sweep" and error is None:
            self._note_sweep(result)

    def _note_sweep(self, result: SweepResult) -> None:
        self.swept.inc(result.visited)
        self.reclaimed.inc(result.tombstones_reclaimed)
        self.checkpoints.inc(result.checkpoints_removed)
        self.events.inc(result.events_removed)


_REGISTERED: weakref.WeakKeyDictionary[CollectorRegistry, Metrics] = weakref.WeakKeyDictionary()
_REGISTERING: Final = threading.Lock()


def metrics_of(registry: CollectorRegistry) -> Metrics | None:
    """The registry's metrics, registered once; None, with a warning, where it takes none."""
    with _REGISTERING:
        known = _REGISTERED.get(registry)
        if known is not None:
            return known
        try:
            return _REGISTERED.setdefault(registry, Metrics.of(registry))
        except Exception:
            log.warning("the registry takes no metrics: nothing will be counted", exc_info=True)
            return None


class MeteredCheckpointer(Checkpointer):
    """The same interface over `inner`, reporting to `registry` (the process's own by default)."""

    def __init__(self, inner: Checkpointer, registry: CollectorRegistry | None = None) -> None:
        self.inner = inner
        self.metrics = metrics_of(REGISTRY if registry is None else registry)

    def __getattr__(self, name: str) -> Any:
        # What a wrapped verb needs of its store is the inner one's; without this test a copy being made would
        # ask itself for `inner` for ever.
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)


def outcome_of(error: BaseException | None) -> str:
    """The label of a call that ended with this error, or without one."""
    return "ok" if error is None else OUTCOMES.get(type(error), "error")


def _metered(name: str) -> Callable[..., Any]:
    @functools.wraps(getattr(Checkpointer, name))
    def call(self: MeteredCheckpointer, *args: Any, **options: Any) -> Any:
        began, result, failed = time.perf_counter(), None, None
        try:
            result = getattr(self.inner, name)(*args, **options)
        except BaseException as error:
            failed = error
            raise
        else:
            return result
        finally:
            _report(self.metrics, name, time.perf_counter() - began, result, failed)

    return call


def _forwarded(name: str) -> Callable[..., Any]:
    @functools.wraps(getattr(Checkpointer, name))
    def call(self: MeteredCheckpointer, *args: Any, **options: Any) -> Any:
        return getattr(self.inner, name)(*args, **options)

    return call


def _report(
    metrics: Metrics | None, name: str, seconds: float, result: Any, error: BaseException | None
) -> None:
    if metrics is None:
        return
    try:
        metrics.note(name, seconds, result, error)
    except Exception:
        log.warning("metrics of %s could not be reported", name, exc_info=True)


for _name in OPERATIONS:
    setattr(MeteredCheckpointer, _name, _metered(_name))
for _name in UNMETERED:
    setattr(MeteredCheckpointer, _name, _forwarded(_name))
