"""What an operator may see and do, for the console and for scripts (api.md, `engine.desk`)."""

from engine.checkpoints.model import ANY, ThreadStatus
from engine.checkpoints.queue_model import QueueState
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
from engine.desk.maintenance import Maintenance, Pass
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
    "Capped",
    "CheckpointRow",
    "ClaimDetail",
    "ClaimFilter",
    "ClaimRow",
    "ClaimState",
    "ClaimStory",
    "ClaimTotals",
    "Desk",
    "EffectRow",
    "EventPage",
    "EventRow",
    "Finding",
    "Follower",
    "Gauges",
    "Health",
    "HolderRow",
    "Level",
    "Maintenance",
    "Page",
    "Pass",
    "QueueDepth",
    "QueueDetail",
    "QueueRow",
    "QueueState",
    "RefusalDetail",
    "Stored",
    "ThreadDetail",
    "ThreadFilter",
    "ThreadRow",
    "ThreadStatus",
    "TombstoneDetail",
    "TombstoneRow",
    "Verdict",
    "WriteRow",
]
