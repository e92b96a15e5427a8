"""What an operator may see and do, for the console and for scripts (api.md, `engine.desk`)."""

from engine.checkpoints.model import ANY, ThreadStatus
from engine.desk.desk import Desk
from engine.desk.filters import ThreadFilter
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
    "Capped",
    "CheckpointRow",
    "ClaimDetail",
    "Desk",
    "EffectRow",
    "EventPage",
    "EventRow",
    "Page",
    "RefusalDetail",
    "ThreadDetail",
    "ThreadFilter",
    "ThreadRow",
    "ThreadStatus",
    "TombstoneDetail",
    "WriteRow",
]
