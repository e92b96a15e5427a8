"""What a pass of maintenance does, one chore after the other, each under the lease that the pass holds (ruling 49)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol

from engine.errors import SpendMeterUnavailable

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from engine.checkpoints import Checkpointer, SweepGuard, SweepPolicy, SweepResult
    from engine.reserved import ReservedRows
    from engine.store import Store

PAUSE: Final = timedelta(milliseconds=50)
"""Between two steps, so that workers get their turn."""
METER_BATCH: Final = 5_000
"""Settled reservations of a meter to a transaction."""
MAX_STEPS: Final = 10_000
"""Transactions on one meter in one pass; what is left goes in the next."""
MINUTE: Final = timedelta(minutes=1)
RESERVED_BATCH: Final = 10_000
"""Lapsed rows to a transaction."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass over the store did, all pages together.

    `next` is set where the retention sweep ended early: the pass after it goes on from there. `reserved_errors`
    counts tables whose lapsed rows could not be collected, `meter_errors` meters that could not be purged; the log
    names them. `units_purged` are settled reservations of meters, `accounts_purged` idle accounts of windows.
    """

    pages: int = 0
    visited: int = 0
    checkpoints_removed: int = 0
    events_removed: int = 0
    tombstones_reclaimed: int = 0
    next: str | None = None
    reserved_examined: int = 0
    reserved_collected: int = 0
    reserved_errors: int = 0
    units_purged: int = 0
    accounts_purged: int = 0
    meter_errors: int = 0

    def plus(self, page: SweepResult) -> Pass:
        """This and one page of the retention sweep more."""
        return replace(
            self,
            pages=self.pages + 1,
            visited=self.visited + page.visited,
            checkpoints_removed=self.checkpoints_removed + page.checkpoints_removed,
            events_removed=self.events_removed + page.events_removed,
            tombstones_reclaimed=self.tombstones_reclaimed + page.tombstones_reclaimed,
            next=page.next,
        )


class Shift:
    """The time between claiming the lease and releasing it, as a chore sees it."""

    def __init__(self, stop: threading.Event, renew: Callable[[], object]) -> None:
        self._stop = stop
        self._renew = renew

    def goes_on(self) -> bool:
        """To be asked between two steps: a pause, then the lease renewed; False once told to stop.

        Raises StaleClaim where the lease is another's by now.
        """
        if self._stop.wait(PAUSE.total_seconds()):
            return False
        self._renew()
        return True


class Chore(Protocol):
    """One kind of work over the whole store, in bounded steps."""

    def run(self, done: Pass, shift: Shift) -> Pass:
        """Do it until nothing is left or the shift ends: the pass so far, with this work added."""
        ...


class ReservedChore:
    """Lapsed rows of every adopting table go."""

    def __init__(self, rows: ReservedRows) -> None:
        self._rows = rows

    def run(self, done: Pass, shift: Shift) -> Pass:
        """See `Chore`; tables that fail are logged, and tried again in the next pass."""
        report = self._rows.sweep(batch=RESERVED_BATCH, go_on=shift.goes_on)
        for failure in report.failures:
            log.warning("reserved rows of %r were not swept: %s", failure.table, failure.error)
        return replace(
            done,
            reserved_examined=done.reserved_examined + report.examined,
            reserved_collected=done.reserved_collected + report.collected,
            reserved_errors=done.reserved_errors + report.errors,
        )


class MeterChore:
    """Reservations of every meter that were settled longer ago than `age` go."""

    def __init__(self, store: Store, age: timedelta) -> None:
        self._store = store
        self._age = age

    def run(self, done: Pass, shift: Shift) -> Pass:
        """See `Chore`; meters that fail are logged, and tried again in the next pass."""
        before = self._store.clock.now() - self._age
        for prefix in self._prefixes():
            done, goes_on = self._purge(prefix, before, done, shift)
            if not goes_on:
                break
        return done

    def _prefixes(self) -> Iterator[str]:
        after: str | None = ""
        while after is not None:
            prefixes, after = self._store.desk.prefixes(after)
            yield from prefixes

    def _purge(self, prefix: str, before: datetime, done: Pass, shift: Shift) -> tuple[Pass, bool]:
        """The pass with one meter purged, and whether to go on: asked behind each step, between two meters too."""
        meter = self._store.meter_operator(prefix, lease=MINUTE, unknown_after_lease="release")
        for _ in range(MAX_STEPS):
            try:
                gone = meter.purge(before, limit=METER_BATCH)
            except SpendMeterUnavailable as error:
                log.warning("the meter %r was not purged: %s", prefix, error)
                return replace(done, meter_errors=done.meter_errors + 1), shift.goes_on()
            done = replace(
                done,
                units_purged=done.units_purged + gone.reservations,
                accounts_purged=done.accounts_purged + gone.periods,
            )
            if not shift.goes_on():
                return done, False
            if max(gone.reservations, gone.periods) < METER_BATCH:
                break
        return done, True


class RetentionChore:
    """Histories, event logs and tombstones past the policy go, page by page, from where the last run stopped."""

    def __init__(self, checkpoints: Checkpointer, policy: SweepPolicy, guard: SweepGuard) -> None:
        self._checkpoints = checkpoints
        self._policy = policy
        self._guard = guard
        self.after: str | None = None

    def run(self, done: Pass, shift: Shift) -> Pass:
        """See `Chore`; a guard that raises ends it with its page untouched."""
        while True:
            page = self._checkpoints.sweep(self._policy, self._guard, after=self.after)
            done, self.after = done.plus(page), page.next
            if self.after is None or not shift.goes_on():
                return done
