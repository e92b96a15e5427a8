"""What can be said to a job that is not over: word, shell line and call, for the console and for scripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.acting import equivalent

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.acting.equivalent import Aim
    from console.acting.jobs import JobRow, JobsActing
    from console.acting.model import Order


@dataclass(frozen=True, slots=True)
class Move:
    """One of the three; `deed` is the audit's word for it."""

    deed: str
    line: Callable[[Aim, str, str], str]
    call: Callable[[JobsActing, str, Order], JobRow]


PAUSE: Final = Move("pause", equivalent.pausing, lambda acting, job, order: acting.pause_job(job, order))
RESUME: Final = Move("resume", equivalent.resuming, lambda acting, job, order: acting.resume_job(job, order))
CANCEL: Final = Move("cancel", equivalent.ending, lambda acting, job, order: acting.cancel_job(job, order))
