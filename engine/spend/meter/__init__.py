"""The meter: units per account, bounded per period or rolling window (spend.md 2B)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engine.database.retries import RetryPolicy
    from engine.spend.meter.ddl import SPEND_METER_DDL, spend_meter_ddl
    from engine.spend.meter.meter import SpendMeter
    from engine.spend.meter.model import (
        AfterLease,
        DenialReason,
        Denied,
        MeterPage,
        MeterReservation,
        MeterSnapshot,
        Outcome,
        PurgeReport,
        ReconcileReport,
        ReservationState,
        Reserved,
        SchemaWarning,
        Settlement,
        SettlementStatus,
    )
    from engine.spend.meter.operator import MeterOperator
    from engine.spend.meter.options import MeterOptions
    from engine.spend.meter.rows import Listed

__all__ = [
    "SPEND_METER_DDL",
    "AfterLease",
    "DenialReason",
    "Denied",
    "Listed",
    "MeterOperator",
    "MeterOptions",
    "MeterPage",
    "MeterReservation",
    "MeterSnapshot",
    "Outcome",
    "PurgeReport",
    "ReconcileReport",
    "ReservationState",
    "Reserved",
    "RetryPolicy",
    "SchemaWarning",
    "Settlement",
    "SettlementStatus",
    "SpendMeter",
    "spend_meter_ddl",
]

_HOMES: Final = {
    "engine.database.retries": ("RetryPolicy",),
    "engine.spend.meter.ddl": (
        "SPEND_METER_DDL",
        "spend_meter_ddl",
    ),
    "engine.spend.meter.meter": ("SpendMeter",),
    "engine.spend.meter.model": (
        "AfterLease",
        "DenialReason",
        "Denied",
        "MeterPage",
        "MeterReservation",
        "MeterSnapshot",
        "Outcome",
        "PurgeReport",
        "ReconcileReport",
        "ReservationState",
        "Reserved",
        "SchemaWarning",
        "Settlement",
        "SettlementStatus",
    ),
    "engine.spend.meter.operator": ("MeterOperator",),
    "engine.spend.meter.options": ("MeterOptions",),
    "engine.spend.meter.rows": ("Listed",),
}
_HOME: Final = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Each name is loaded when it is first asked for: who needs one module of these starts without the others.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
