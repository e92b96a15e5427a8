"""What the fleet's books show before the first agent works: some days gone by, and something of every sort today.

Written at the instants it tells of, which every verb of the money is given by its caller.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console.demo import fences, operations
from console.demo.ledger import CENT, HELD, SETTLED, UNDECIDED, Held
from console.demo.units import ALLOWANCES, LEASE
from engine.errors import SpendMeterUnavailable, UnsupportedStore
from engine.spend import Outcome, Reserved
from engine.spend.day import utc_day

if TYPE_CHECKING:
    from datetime import datetime

    from console.demo.agents import Fleet

DAYS: Final = 5
"""Days before today that have totals."""
ENTRIES: Final = 4
"""Reservations of each of those."""
MINUTE: Final = timedelta(minutes=1)


class Opening:
    """Writes it all, once."""

    def __init__(self, fleet: Fleet, now: datetime) -> None:
        self._money = fleet.money
        self._dice = fleet.dice("opening")
        self._subjects = fleet.subjects
        self._now = now

    def write(self) -> None:
        """A meter that cannot answer is left out."""
        for number in range(DAYS, 0, -1):
            self._day(self._now - timedelta(days=number))
        for kind, cents, minutes in SETTLED:
            self._settled(kind, cents * CENT, self._now - minutes * MINUTE)
        for held in HELD:
            self._held(held)
        self._operations()
        self._seats()
        try:
            for account in ALLOWANCES:
                self._units(account)
        except (SpendMeterUnavailable, UnsupportedStore):
            return  # no right to create tables, or foreign ones of these names: the rest is shown without a meter

    def _day(self, at: datetime) -> None:
        """A day gone by; one that has totals already was a day of somebody's, and stays as it is."""
        if self._money.days.total(utc_day(at)).committed_micro:
            return
        for _ in range(ENTRIES):
            self._settled(
                self._dice.choice(("batch", "session", "charge")), self._dice.randint(900, 11_000) * CENT, at
            )

    def _settled(self, kind: str, micro: int, at: datetime) -> None:
        """In time at what it cost, or now and then late and whole, as a default does it."""
        lasts = self._dice.randint(1, 6) * MINUTE
        held = self._reserve(kind, micro, at, lasts)
        if held is None:
            return
        spent = self._dice.randint(micro // 3, micro)
        late = self._dice.random() < 0.3
        self._money.days.release(held, micro if late else spent, at + lasts * (1.5 if late else 0.6))

    def _held(self, held: Held) -> None:
        at = self._now - held.ago * MINUTE
        row = self._reserve(held.kind, held.cents * CENT, at, (held.ago + held.left) * MINUTE)
        if row is not None and held.check is not None:
            self._money.days.defer(row, self._now + held.check * MINUTE, fences.evidence(self._dice))

    def _reserve(self, kind: str, micro: int, at: datetime, lasts: timedelta) -> str | None:
        thread_id = self._dice.choice(self._subjects).thread_id
        return self._money.hold(kind, micro, lasts, thread_id, at=at, fenced=kind == "charge")

    def _operations(self) -> None:
        """One at its third attempt, one that expired while nobody worked on it, one that an operator must decide."""
        self._operation("nightly-report", ago=4, attempts=3)
        self._operation("reindex-tickets", ago=22, attempts=2)
        row = self._operation("refund-batch", ago=35, attempts=1)
        if row is not None:
            self._money.days.defer(row, self._now + 25 * MINUTE, fences.evidence(self._dice))

    def _operation(self, name: str, *, ago: float, attempts: int) -> str | None:
        """Attempts a minute apart: the first died, later ones ended, the last is under way or died as well."""
        thread_id, began = self._dice.choice(self._subjects).thread_id, self._now - ago * MINUTE
        reservation_id = None
        for number in range(attempts):
            at = began + number * MINUTE
            lease = operations.LEASE if number + 1 < attempts else 3 * MINUTE
            done = self._money.admit(operations.admission(f"{name}-{began:%m%d}", thread_id, at, lease))
            if done is None:
                return None
            reservation_id = done.reservation_id
            if 0 < number < attempts - 1:
                cost = self._dice.randint(operations.RUN_MICRO // 5, operations.RUN_MICRO)
                self._money.days.end_run(done.reservation_id, done.run, cost, at + 0.1 * MINUTE)
        return reservation_id

    def _units(self, account: str) -> None:
        """The hour before and this one: consumed in batches, given back, run out, and fenced."""
        some = ALLOWANCES[account] // 10
        for minutes, units, outcome in (
            (75, 4 * some, Outcome.CONSUMED),
            (61, 3 * some, Outcome.RELEASED),
            (2, self._dice.randint(2, 5) * some, Outcome.CONSUMED),
            (1, 1, None),
            (0, 1, None),
        ):
            self._unit(account, minutes, units, outcome)
        for number, check in enumerate(UNDECIDED.get(account, ())):
            self._fenced_unit(account, 14 + number * 9, check)

    def _unit(self, account: str, minutes: int, units: int, outcome: Outcome | None) -> None:
        at, unit = self._now - minutes * MINUTE, self._name()
        held = self._money.units.meter.reserve(account, unit, units=units, now=at)
        if isinstance(held, Reserved) and outcome is not None:
            told = operations.usage(self._dice) if outcome is Outcome.CONSUMED else None
            self._money.units.meter.settle(unit, outcome, usage=told, now=at + LEASE / 2)

    def _fenced_unit(self, account: str, minutes: int, check: float | None) -> None:
        unit = self._name()
        held = self._money.units.meter.reserve(
            account, unit, require_fence=True, now=self._now - minutes * MINUTE
        )
        if isinstance(held, Reserved) and check is not None:
            again = self._now + check * MINUTE
            evidence = fences.evidence(self._dice)
            self._money.units.operator.defer(
                unit, again, evidence, attempt=held.attempt, expires_at=held.expires_at
            )

    def _name(self) -> str:
        return f"run-{self._dice.randrange(16**8):08x}/1"

    def _seats(self) -> None:
        """Some confirmed, two that lapsed a moment ago, two still tentative."""
        for number, lasts in enumerate((600, 600, 600, 5, 11, 240, 420)):
            txn, at = f"worker-{number + 1:02}/0", self._now - 0.5 * MINUTE
            guest = self._dice.choice(self._subjects).thread_id
            self._money.seats.hold(txn, guest, self._dice, at, timedelta(seconds=lasts))
            if lasts == 600:
                self._money.seats.confirm(txn, at)
