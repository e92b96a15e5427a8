"""The meter: units per account, bounded per period or rolling window (spend.md 2B)."""

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
