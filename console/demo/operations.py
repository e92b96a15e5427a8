"""A wish as an operation: one reservation pays for all its attempts, and each attempt holds a unit (ruling 46)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console.demo import DAILY_CAP
from engine.spend.day import OperationAdmission

if TYPE_CHECKING:
    import random
    from datetime import datetime

    from console.demo.money import Money
    from console.demo.stage import Subject
    from engine.spend.day import Begun

RUN_MICRO: Final = 40_000
"""What one attempt may cost at most."""
RUNS: Final = 3
LEASE: Final = timedelta(seconds=10)
LASTS: Final = timedelta(minutes=6)
"""How long an operation may be taken up again."""
FENCED: Final = 0.2
"""How many units are held so that no default may settle them."""


class Operation:
    """One attempt under way: a run of the operation, and the unit it holds on the meter."""

    def __init__(self, money: Money, begun: Begun, unit: str, dice: random.Random) -> None:
        self._money = money
        self._begun = begun
        self._unit = unit
        self._dice = dice

    def extend(self) -> None:
        """The run goes on, and so do its lease and its unit's."""
        now = self._money.clock.now()
        if self._renewed(now):
            self._money.units.heartbeat(self._unit, now)

    def pause(self) -> None:
        """The attempt ended without a result: its unit goes back, the next attempt holds one of its own."""
        now = self._money.clock.now()
        if self._renewed(now):
            self._money.units.give_back(self._unit, now)
        self._end(now, over=False)

    def close(self) -> None:
        """The wish is fulfilled, or given up."""
        now = self._money.clock.now()
        if self._renewed(now):
            self._money.units.consume(self._unit, usage(self._dice), now)
            if self._dice.random() < 0.05:
                self._money.units.refund(self._unit, now)
        self._end(now, over=True)

    def _renewed(self, now: datetime) -> bool:
        """Whether the run still holds the operation; if not, the unit may be a successor's to decide about."""
        return self._money.days.renew_run(self._begun.reservation_id, self._begun.run, now, now + LEASE)

    def _end(self, now: datetime, *, over: bool) -> None:
        cost = self._dice.randint(RUN_MICRO // 8, RUN_MICRO)
        self._money.days.end_run(self._begun.reservation_id, self._begun.run, cost, now, close=over)


def begin(money: Money, operation_id: str, subject: Subject, dice: random.Random) -> Operation | None:
    """Begin the operation's next run; None while it may not, or where no unit is to be had."""
    now = money.clock.now()
    begun = money.admit(admission(operation_id, subject.thread_id, now, LEASE))
    if begun is None:
        return None
    unit = f"{operation_id}/{begun.run}"
    if money.units.hold(subject.tenant, unit, now, fenced=dice.random() < FENCED):
        return Operation(money, begun, unit, dice)
    money.days.end_run(begun.reservation_id, begun.run, 0, now)
    return None


def admission(operation_id: str, thread_id: str, now: datetime, lease: timedelta) -> OperationAdmission:
    """What the fleet asks for in the name of an operation that begins a run at `now`."""
    return OperationAdmission(
        operation_id=operation_id,
        kind="operation",
        micro=RUN_MICRO * RUNS,
        run_micro=RUN_MICRO,
        at=now,
        expires=now + LASTS,
        lease_until=now + lease,
        cap_micro=DAILY_CAP,
        max_runs=RUNS,
        thread_id=thread_id,
    )


def usage(dice: random.Random) -> dict[str, float]:
    """What a run says it used."""
    prompt, output = dice.randint(900, 24_000), dice.randint(120, 3_000)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "total_cost_usd": round(prompt * 4e-7 + output * 1.6e-6, 6),
    }
