"""What an operator may see and do, for the console and for scripts (api.md, `engine.desk`)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engine.checkpoints.model import ANY, ThreadStatus
    from engine.checkpoints.queue_model import QueueState
    from engine.database.cancel import cancelling
    from engine.database.identity import Identity
    from engine.database.locks import TableLock
    from engine.desk.changes import Changes
    from engine.desk.chores import Pass
    from engine.desk.claim_filter import ClaimFilter, Stored
    from engine.desk.claim_views import (
        ClaimRow,
        ClaimState,
        ClaimStory,
        ClaimTotals,
        HolderRow,
        Verdict,
    )
    from engine.desk.desk import Desk
    from engine.desk.filters import ThreadFilter
    from engine.desk.follow import Follower
    from engine.desk.gauges import Gauges
    from engine.desk.graves import TombstoneRow
    from engine.desk.health import Finding, Health, Level
    from engine.desk.held import HeldMoney
    from engine.desk.maintenance import Maintenance
    from engine.desk.money_filter import FenceFilter, ReservationFilter
    from engine.desk.money_views import (
        AccountDetail,
        AccountRow,
        AdopterRow,
        AdopterTotals,
        DayDetail,
        DayGuard,
        DayRow,
        DefaultFate,
        FenceRow,
        MeterGuard,
        MeterRow,
        ReservationDetail,
        ReservationKind,
        ReservationRow,
        ReservationState,
        ReservationTotals,
        RunRow,
        StateCounts,
    )
    from engine.desk.overview_views import (
        CascadesNow,
        ClaimsNow,
        EventsNow,
        Failed,
        FencesNow,
        IncompleteNow,
        MoneyNow,
        OldestClaim,
        OldestThread,
        Overview,
        QueueNow,
        SweepLease,
        SweepNow,
        ThreadTotals,
        TombstonesNow,
    )
    from engine.desk.queue_views import QueueDepth, QueueDetail, QueueRow
    from engine.desk.views import (
        MAX_COUNT,
        MAX_EVENTS,
        MAX_PAGE,
        PREVIEW,
        Capped,
        CheckpointRow,
        ClaimDetail,
        EffectRow,
        EventPage,
        EventRow,
        Page,
        RefusalDetail,
        ThreadDetail,
        ThreadRow,
        TombstoneDetail,
        WriteRow,
    )

__all__ = [
    "ANY",
    "MAX_COUNT",
    "MAX_EVENTS",
    "MAX_PAGE",
    "PREVIEW",
    "AccountDetail",
    "AccountRow",
    "AdopterRow",
    "AdopterTotals",
    "Capped",
    "CascadesNow",
    "Changes",
    "CheckpointRow",
    "ClaimDetail",
    "ClaimFilter",
    "ClaimRow",
    "ClaimState",
    "ClaimStory",
    "ClaimTotals",
    "ClaimsNow",
    "DayDetail",
    "DayGuard",
    "DayRow",
    "DefaultFate",
    "Desk",
    "EffectRow",
    "EventPage",
    "EventRow",
    "EventsNow",
    "Failed",
    "FenceFilter",
    "FenceRow",
    "FencesNow",
    "Finding",
    "Follower",
    "Gauges",
    "Health",
    "HeldMoney",
    "HolderRow",
    "Identity",
    "IncompleteNow",
    "Level",
    "Maintenance",
    "MeterGuard",
    "MeterRow",
    "MoneyNow",
    "OldestClaim",
    "OldestThread",
    "Overview",
    "Page",
    "Pass",
    "QueueDepth",
    "QueueDetail",
    "QueueNow",
    "QueueRow",
    "QueueState",
    "RefusalDetail",
    "ReservationDetail",
    "ReservationFilter",
    "ReservationKind",
    "ReservationRow",
    "ReservationState",
    "ReservationTotals",
    "RunRow",
    "StateCounts",
    "Stored",
    "SweepLease",
    "SweepNow",
    "TableLock",
    "ThreadDetail",
    "ThreadFilter",
    "ThreadRow",
    "ThreadStatus",
    "ThreadTotals",
    "TombstoneDetail",
    "TombstoneRow",
    "TombstonesNow",
    "Verdict",
    "WriteRow",
    "cancelling",
]

_HOMES: Final = {
    "engine.checkpoints.model": (
        "ANY",
        "ThreadStatus",
    ),
    "engine.checkpoints.queue_model": ("QueueState",),
    "engine.database.cancel": ("cancelling",),
    "engine.database.identity": ("Identity",),
    "engine.desk.changes": ("Changes",),
    "engine.desk.chores": ("Pass",),
    "engine.desk.claim_filter": (
        "ClaimFilter",
        "Stored",
    ),
    "engine.desk.claim_views": (
        "ClaimRow",
        "ClaimState",
        "ClaimStory",
        "ClaimTotals",
        "HolderRow",
        "Verdict",
    ),
    "engine.desk.desk": ("Desk",),
    "engine.desk.filters": ("ThreadFilter",),
    "engine.desk.follow": ("Follower",),
    "engine.desk.gauges": ("Gauges",),
    "engine.desk.graves": ("TombstoneRow",),
    "engine.desk.health": (
        "Finding",
        "Health",
        "Level",
    ),
    "engine.desk.held": ("HeldMoney",),
    "engine.database.locks": ("TableLock",),
    "engine.desk.maintenance": ("Maintenance",),
    "engine.desk.money_filter": (
        "FenceFilter",
        "ReservationFilter",
    ),
    "engine.desk.money_views": (
        "AccountDetail",
        "AccountRow",
        "AdopterRow",
        "AdopterTotals",
        "DayDetail",
        "DayGuard",
        "DayRow",
        "DefaultFate",
        "FenceRow",
        "MeterGuard",
        "MeterRow",
        "ReservationDetail",
        "ReservationKind",
        "ReservationRow",
        "ReservationState",
        "ReservationTotals",
        "RunRow",
        "StateCounts",
    ),
    "engine.desk.overview_views": (
        "CascadesNow",
        "ClaimsNow",
        "EventsNow",
        "Failed",
        "FencesNow",
        "IncompleteNow",
        "MoneyNow",
        "OldestClaim",
        "OldestThread",
        "Overview",
        "QueueNow",
        "SweepLease",
        "SweepNow",
        "ThreadTotals",
        "TombstonesNow",
    ),
    "engine.desk.queue_views": (
        "QueueDepth",
        "QueueDetail",
        "QueueRow",
    ),
    "engine.desk.views": (
        "MAX_COUNT",
        "MAX_EVENTS",
        "MAX_PAGE",
        "PREVIEW",
        "Capped",
        "CheckpointRow",
        "ClaimDetail",
        "EffectRow",
        "EventPage",
        "EventRow",
        "Page",
        "RefusalDetail",
        "ThreadDetail",
        "ThreadRow",
        "TombstoneDetail",
        "WriteRow",
    ),
}
_HOME: Final = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Each name is loaded when it is first asked for: who needs one module of these starts without the others.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
