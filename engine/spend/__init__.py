"""Spend: the day store bounds money in micro-dollars, the meter bounds units per account (spend.md)."""

from typing import TYPE_CHECKING, Any

from engine.spend.answers import Answer, Consumed, Deferred, Released

if TYPE_CHECKING:
    from engine.spend.day import (
        Begun,
        DaySpend,
        DaySweep,
        DayTotal,
        ExpiredReservation,
        Gone,
        InFlight,
        OperationAdmission,
        OperationRow,
    )
    from engine.spend.meter import (
        SPEND_METER_DDL,
        DenialReason,
        Denied,
        MeterOperator,
        MeterPage,
        MeterReservation,
        MeterSnapshot,
        Outcome,
        PurgeReport,
        ReconcileReport,
        ReservationState,
        Reserved,
        RetryPolicy,
        SchemaWarning,
        Settlement,
        SettlementStatus,
        SpendMeter,
        spend_meter_ddl,
    )

__all__ = [
    "SPEND_METER_DDL",
    "Answer",
    "Begun",
    "Consumed",
    "DaySpend",
    "DaySweep",
    "DayTotal",
    "Deferred",
    "DenialReason",
    "Denied",
    "ExpiredReservation",
    "Gone",
    "InFlight",
    "MeterOperator",
    "MeterPage",
    "MeterReservation",
    "MeterSnapshot",
    "OperationAdmission",
    "OperationRow",
    "Outcome",
    "PurgeReport",
    "ReconcileReport",
    "Released",
    "ReservationState",
    "Reserved",
    "RetryPolicy",
    "SchemaWarning",
    "Settlement",
    "SettlementStatus",
    "SpendMeter",
    "spend_meter_ddl",
]


def __getattr__(name: str) -> Any:
    # Who asks for an answer's record alone compiles no statement.
    if name in __all__:
        from engine.spend import day, meter

        return getattr(meter if hasattr(meter, name) else day, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
