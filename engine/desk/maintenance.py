"""Housekeeping for a whole store under one lease, pass after pass (ruling 49, checkpoints-operations.md 5)."""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from engine.checkpoints import ClaimRequest
from engine.desk.chores import Chore, MeterChore, Pass, ReservedChore, RetentionChore, Shift
from engine.errors import EngineError, ThreadBusy, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.checkpoints import Checkpointer, RunClaim, SweepGuard, SweepPolicy
    from engine.store import Store

MAINTENANCE_THREAD: Final = "holdwatch/maintenance"
"""The id whose claim is the lease: whoever holds it sweeps, and an operator sees who that is."""
LEASE: Final = timedelta(seconds=60)
JITTER: Final = 0.1
"""Of the interval, so that many processes do not ask for the lease at the same moment."""
MAX_BACKOFF: Final = timedelta(minutes=10)
MAX_METER_AGE: Final = timedelta(days=36525)
MAX_DOUBLINGS: Final = 10

log = logging.getLogger(__name__)


def protect_nothing(_thread_ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """The guard without an opinion: only open queue entries keep evidence."""
    return {}


class Maintenance:
    """Does the chores of `store` every `interval`, in this process as long as it holds the lease.

    They are the sweep of lapsed reserved rows, where `meter_age` is given the purge of what meters settled longer
    ago (it must be longer than the longest rolling window), and the retention sweep by `policy`.

    A guard that raises stops the pass with its page untouched; the next pass goes on from there, after an
    interval that doubles with each failure. ValidationError for an interval that is not above zero,
    or a `meter_age` below it or above a hundred years.
    """

    def __init__(
        self,
        store: Store,
        *,
        interval: timedelta,
        policy: SweepPolicy,
        guard: SweepGuard | None = None,
        meter_age: timedelta | None = None,
    ) -> None:
        if interval <= timedelta(0):
            raise ValidationError("interval", ("must be above zero",))
        if meter_age is not None and not timedelta(0) <= meter_age <= MAX_METER_AGE:
            raise ValidationError("meter_age", ("must lie between nothing and a hundred years",))
        self._checkpoints: Checkpointer = store.checkpoints
        self._interval = interval
        self._retention = RetentionChore(store.checkpoints, policy, guard or protect_nothing)
        purges = () if meter_age is None else (MeterChore(store, meter_age),)
        # Retention comes last: it asks a guard of somebody else's, whose failure ends the pass.
        self._chores: tuple[Chore, ...] = (ReservedChore(store.reserved), *purges, self._retention)
        self._holder = f"maintenance/{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}"
        self._failures = 0

    def run(self, stop: threading.Event, *, report: Callable[[Pass], None] | None = None) -> None:
        """Pass after pass until `stop` is set; `report` is told of each one that was finished."""
        while not stop.is_set():
            done = self._guarded_pass(stop)
            if done is not None and report is not None:
                report(done)
            stop.wait(self._pause().total_seconds())

    def run_once(self, stop: threading.Event | None = None) -> Pass | None:
        """One pass from where the last one stopped; None while somebody else holds the lease."""
        try:
            claim = self._checkpoints.claim(MAINTENANCE_THREAD, ClaimRequest(self._holder, LEASE))
        except ThreadBusy:
            return None
        try:
            return self._done(claim, stop or threading.Event())
        finally:
            self._checkpoints.release(MAINTENANCE_THREAD, claim.token)

    def _done(self, claim: RunClaim, stop: threading.Event) -> Pass:
        shift = Shift(stop, lambda: self._checkpoints.renew(MAINTENANCE_THREAD, claim.token, LEASE))
        done = Pass()
        for chore in self._chores:
            if stop.is_set():
                break
            done = chore.run(done, shift)
        return done

    def _guarded_pass(self, stop: threading.Event) -> Pass | None:
        try:
            done = self.run_once(stop)
        except Exception as error:  # a guard may raise anything; the next pass goes on from the same page
            self._failures += 1
            log.warning(
                "maintenance stopped at %r: %s",
                self._retention.after,
                error,
                exc_info=not isinstance(error, EngineError),
            )
            return None
        self._failures = 0
        return done

    def _pause(self) -> timedelta:
        jittered: timedelta = self._interval * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - no secret
        doublings = min(self._failures, MAX_DOUBLINGS)
        return min(jittered * float(2**doublings), max(MAX_BACKOFF, jittered))
