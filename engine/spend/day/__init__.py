"""The day store: money, in whole micro-dollars, bounded per UTC day (spend.md 2A).

`DaySpend` opens transactions of its own. Whoever owns one uses the verbs, whose first argument is its Connection, or
`SqlDayStore`, which binds them to it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
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

_HOMES: Final = {
    "engine.spend.amounts": (
        "TokenPrice",
        "minute_price",
        "minutes_micro",
        "settled_tokens_micro",
        "to_micro",
        "token_price",
        "tokens_micro",
        "utc_day",
    ),
    "engine.spend.answers": (
        "Consumed",
        "Deferred",
        "Released",
    ),
    "engine.spend.day.admission": (
        "admit_operation",
        "release_spend",
        "reserve_spend",
    ),
    "engine.spend.day.day_spend": ("DaySpend",),
    "engine.spend.day.days": (
        "lock_day",
        "total",
    ),
    "engine.spend.day.defaults": (
        "settle_default",
        "settle_defaults",
    ),
    "engine.spend.day.expired": ("expired_reservations",),
    "engine.spend.day.model": (
        "Begun",
        "DaySweep",
        "DayTotal",
        "ExpiredReservation",
        "Gone",
        "InFlight",
        "OperationAdmission",
        "OperationRow",
    ),
    "engine.spend.day.operations": (
        "add_operation_reservation",
        "open_operation_reservation",
    ),
    "engine.spend.day.reservations": (
        "add_fenced_reservation",
        "add_reservation",
        "defer_reservation",
        "settle_reservation",
    ),
    "engine.spend.day.runs": (
        "begin_run",
        "end_run",
        "renew_run",
    ),
    "engine.spend.day.store": (
        "DayStore",
        "SqlDayStore",
    ),
    "engine.spend.day.sweep": ("release_expired_spend",),
}
_HOME: Final = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Each name is loaded when it is first asked for: who needs one module of these starts without the others.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
