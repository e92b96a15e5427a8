"""Jobs: a confirmed plan carried out in chunks, by one console at a time (console.md F10)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engine.desk.jobs.carrying import executors_for
    from engine.desk.jobs.execution import execute
    from engine.desk.jobs.executor import Done, Executor
    from engine.desk.jobs.lease import LOST, Held, held, renew, take, take_next
    from engine.desk.jobs.model import CHUNK, LEASE, OVER, ItemOutcome, Job, JobItem, JobState
    from engine.desk.jobs.pace import Pace
    from engine.desk.jobs.pages import job_items, jobs
    from engine.desk.jobs.rows import job_detail
    from engine.desk.jobs.runner import Passed, Runner
    from engine.desk.jobs.speed import Progress, progress
    from engine.desk.jobs.states import MOVES, Move, cancel, close_forsaken, hand_over, pause, resume
    from engine.desk.jobs.whole import item_operation

__all__ = [
    "CHUNK",
    "LEASE",
    "LOST",
    "MOVES",
    "OVER",
    "Done",
    "Executor",
    "Held",
    "ItemOutcome",
    "Job",
    "JobItem",
    "JobState",
    "Move",
    "Pace",
    "Passed",
    "Progress",
    "Runner",
    "cancel",
    "close_forsaken",
    "execute",
    "executors_for",
    "hand_over",
    "held",
    "item_operation",
    "job_detail",
    "job_items",
    "jobs",
    "pause",
    "progress",
    "renew",
    "resume",
    "take",
    "take_next",
]

_HOMES: Final = {
    "engine.desk.jobs.carrying": ("executors_for",),
    "engine.desk.jobs.execution": ("execute",),
    "engine.desk.jobs.executor": (
        "Done",
        "Executor",
    ),
    "engine.desk.jobs.lease": (
        "LOST",
        "Held",
        "held",
        "renew",
        "take",
        "take_next",
    ),
    "engine.desk.jobs.model": (
        "CHUNK",
        "LEASE",
        "OVER",
        "ItemOutcome",
        "Job",
        "JobItem",
        "JobState",
    ),
    "engine.desk.jobs.pace": ("Pace",),
    "engine.desk.jobs.pages": (
        "job_items",
        "jobs",
    ),
    "engine.desk.jobs.rows": ("job_detail",),
    "engine.desk.jobs.runner": ("Passed", "Runner"),
    "engine.desk.jobs.speed": (
        "Progress",
        "progress",
    ),
    "engine.desk.jobs.states": (
        "MOVES",
        "Move",
        "cancel",
        "close_forsaken",
        "hand_over",
        "pause",
        "resume",
    ),
    "engine.desk.jobs.whole": ("item_operation",),
}
_HOME: Final = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Each name is loaded when it is first asked for: who needs one module of these starts without the others.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
