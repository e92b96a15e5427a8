"""The day store: money, in whole micro-dollars, bounded per UTC day (spend.md 2A).

`DaySpend` opens transactions of its own. Whoever owns one uses the verbs, whose first argument is its Connection, or
`SqlDayStore`, which binds them to it.
"""

from engine.spend.amounts import (
    TokenPrice,
    minute_price,
    minutes_micro,
    settled_tokens_micro,
    to_micro,
    token_price,
    tokens_micro,
    utc_day,
)
from engine.spend.answers import Consumed, Deferred, Released
from engine.spend.day.admission import admit_operation, release_spend, reserve_spend
from engine.spend.day.day_spend import DaySpend
from engine.spend.day.days import lock_day, total
from engine.spend.day.defaults import settle_default, settle_defaults
from engine.spend.day.expired import expired_reservations
from engine.spend.day.model import (
    Begun,
    DaySweep,
    DayTotal,
    ExpiredReservation,
    Gone,
    InFlight,
    OperationAdmission,
    OperationRow,
)
from engine.spend.day.operations import add_operation_reservation, open_operation_reservation
from engine.spend.day.reservations import (
    add_fenced_reservation,
    add_reservation,
    defer_reservation,
    settle_reservation,
)
from engine.spend.day.runs import begin_run, end_run, renew_run
from engine.spend.day.store import DayStore, SqlDayStore
from engine.spend.day.sweep import release_expired_spend

__all__ = [
    "Begun",
    "Consumed",
    "DaySpend",
    "DayStore",
    "DaySweep",
    "DayTotal",
    "Deferred",
    "ExpiredReservation",
    "Gone",
    "InFlight",
    "OperationAdmission",
    "OperationRow",
    "Released",
    "SqlDayStore",
    "TokenPrice",
    "add_fenced_reservation",
    "add_operation_reservation",
    "add_reservation",
    "admit_operation",
    "begin_run",
    "defer_reservation",
    "end_run",
    "expired_reservations",
    "lock_day",
    "minute_price",
    "minutes_micro",
    "open_operation_reservation",
    "release_expired_spend",
    "release_spend",
    "renew_run",
    "reserve_spend",
    "settle_default",
    "settle_defaults",
    "settle_reservation",
    "settled_tokens_micro",
    "to_micro",
    "token_price",
    "tokens_micro",
    "total",
    "utc_day",
]
