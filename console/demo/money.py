"""What a run of an agent holds while it works: money of the day for each paid call, and now and then a seat.

Before a call its largest cost is reserved, afterwards it settles at what the call came to (spend.md 2A). An agent
that dies leaves behind whatever it held.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console.demo import DAILY_CAP, fences
from console.demo.seats import Seats
from console.demo.units import Units
from engine.errors import CostCapExceeded
from engine.spend.day import Begun, TokenPrice, minutes_micro, tokens_micro

if TYPE_CHECKING:
    import random
    from datetime import datetime

    from engine import Store
    from engine.spend.day import OperationAdmission

CALL_LASTS: Final = timedelta(seconds=20)
SESSION_LASTS: Final = timedelta(seconds=75)
SESSION_RATE: Final = 3_000
"""Micro-dollars for a minute of a session."""
PRICES: Final = (TokenPrice(0.0001, 0.0004), TokenPrice(0.0006, 0.0024))
"""Of the small model and the large one, in dollars for 1,000 tokens."""
MOST_OUTPUT: Final = 900
"""Tokens that a call may answer with: what it reserves for."""
FENCED: Final = 0.06
"""How many calls are charges of somebody else's: no default may settle those."""
UNANSWERED: Final = 0.25
"""How many of the fenced calls end without a word from the provider."""
SEATED: Final = 0.25
"""How many runs take a seat for the customer they work for."""


class Money:
    """Where the fleet keeps what it holds: the day store, a meter and a table of seats."""

    def __init__(self, store: Store) -> None:
        self.days = store.days
        self.clock = store.clock
        self.units = Units(store)
        self.seats = Seats(store.engine)

    def hold(
        self, kind: str, micro: int, lasts: timedelta, thread_id: str, *, at: datetime, fenced: bool = False
    ) -> str | None:
        """Reserve on the day of `at`; None once its cap is reached: then the call is not made."""
        try:
            return self.days.reserve(
                kind=kind,
                micro=micro,
                at=at,
                expires=at + lasts,
                cap_micro=DAILY_CAP,
                require_fence=fenced,
                thread_id=thread_id,
            )
        except CostCapExceeded:
            return None

    def admit(self, admission: OperationAdmission) -> Begun | None:
        """Begin a run of an operation; None where another is under way, nothing is left, or the cap is reached."""
        try:
            admitted = self.days.admit_operation(admission)
        except CostCapExceeded:
            return None
        return admitted if isinstance(admitted, Begun) else None


@dataclass(frozen=True, slots=True)
class Call:
    """A paid call under way, and what it will have cost."""

    reservation_id: str
    cost: int
    fenced: bool


class Purse:
    """What one run holds. `txn` names the owner of its seat."""

    def __init__(self, money: Money, thread_id: str, txn: str, dice: random.Random) -> None:
        self._money = money
        self._thread_id = thread_id
        self._txn = txn
        self._dice = dice
        self._session: str | None = None
        self._call: Call | None = None

    def open(self) -> None:
        """Hold a session for the run, and perhaps a seat."""
        most = minutes_micro(SESSION_LASTS.total_seconds(), SESSION_RATE)
        now = self._money.clock.now()
        self._session = self._money.hold("session", most, SESSION_LASTS, self._thread_id, at=now)
        if self._dice.random() < SEATED:
            self._money.seats.hold(self._txn, self._thread_id, self._dice, now)

    def order(self) -> None:
        """Hold what the next call may cost; it is under way until `pay`."""
        price = self._dice.choice(PRICES)
        prompt, output = self._dice.randint(300, 6000), self._dice.randint(40, MOST_OUTPUT)
        fenced = self._dice.random() < FENCED
        most, cost = tokens_micro(prompt, MOST_OUTPUT, price), tokens_micro(prompt, output, price)
        kind = "charge" if fenced else "call"
        now = self._money.clock.now()
        held = self._money.hold(kind, most, CALL_LASTS, self._thread_id, at=now, fenced=fenced)
        self._call = None if held is None else Call(held, cost, fenced)

    def pay(self) -> None:
        """Settle the call under way at what it cost; a charge whose outcome is unknown is deferred."""
        call, self._call = self._call, None
        if call is None:
            return
        now = self._money.clock.now()
        if call.fenced and self._dice.random() < UNANSWERED:
            self._money.days.defer(
                call.reservation_id, now + fences.wait(self._dice), fences.evidence(self._dice)
            )
        else:
            self._money.days.release(call.reservation_id, call.cost, now)

    def confirm(self) -> None:
        """The run came to a good end: the customer has the seat, unless its time was over."""
        self._money.seats.confirm(self._txn, self._money.clock.now())

    def close(self) -> None:
        """Pay what is due, and give back a seat that was not confirmed."""
        self.pay()
        if self._session is not None:
            spent = self._dice.randint(800, minutes_micro(SESSION_LASTS.total_seconds(), SESSION_RATE))
            self._money.days.release(self._session, spent, self._money.clock.now())
        self._money.seats.release(self._txn)
