"""What an operator sees of claims: frozen rows, and whether a holder can still be at work (console.md F9)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from engine.checkpoints.model import ThreadStatus
    from engine.desk.views import Capped, RefusalDetail

LEAST_GRACE: Final = timedelta(seconds=30)
MOST_GRACE: Final = timedelta(minutes=10)
"""However long a lease was: a holder that renews at a third of it has missed two renewals when it ends."""


class ClaimState(StrEnum):
    """Whether a claim's lease is over by the store's clock."""

    LIVE = "live"
    EXPIRED = "expired"


class Verdict(StrEnum):
    """What may be said of the holder of a claim."""

    SAFE_TO_RELEASE = "safe_to_release"
    HOLDER_MAY_BE_ALIVE = "holder_may_be_alive"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and the facts that led to it, as one sentence for an operator."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim that is stored on a thread, live or over.

    `left`: zero or below once the lease is over. `status` is the thread's, None for an id without a
    checkpoint. `last_seen_at` is the last renewal or commit by the holder that left a time behind. `refusals`
    counts the late writers of the thread that were turned away (ruling 20). Releasing never lets an old writer
    in - its token stays behind the next one - so `verdict` speaks of work outside the store only.
    """

    thread_id: str
    holder: str
    tenant: str | None
    token: int
    granted_at: datetime
    renewed_at: datetime
    renewals: int
    expires_at: datetime
    left: timedelta
    live: bool
    status: ThreadStatus | None
    last_seen_at: datetime
    verdict: Verdict
    reason: str
    refusals: int


@dataclass(frozen=True, slots=True)
class ClaimStory:
    """Everything about one claim: its row, the last late writer, and what a new holder would get.

    `next_token`: the next claim in this store gets at least this token, which fences out all before it.
    """

    row: ClaimRow
    refusal: RefusalDetail | None
    latest_id: str | None
    latest_run_id: str | None
    next_token: int
    as_of: datetime


@dataclass(frozen=True, slots=True)
class ClaimTotals:
    """How many claims are live, and how many are over but not released; each count stops at 10,000."""

    live: Capped
    expired: Capped
    as_of: datetime


@dataclass(frozen=True, slots=True)
class HolderRow:
    """The claims of one holder; `more` says that it has more than were looked at."""

    holder: str
    live: int
    expired: int
    more: bool
    first_expiry: datetime
    last_renewal: datetime


def judge_holder(*, left: timedelta, lease: timedelta, silent: timedelta) -> Judgement:
    """Whether a holder may still be at work, from what the store knows of it.

    `lease` is the span that it asked for last, `silent` the time since the lease's end or since the holder's
    last sign of life, whichever came later. Once silent for as long as it had asked for - at least thirty
    seconds, at most ten minutes - it is taken to be gone.
    """
    if left > timedelta(0):
        return Judgement(Verdict.HOLDER_MAY_BE_ALIVE, f"the lease runs for another {_span(left)}")
    grace = min(max(lease, LEAST_GRACE), MOST_GRACE)
    over = f"the lease ended {_span(-left)} ago"
    if silent < -left:
        over = f"{over}, but the holder has written since, {_span(silent)} ago"
    if silent < grace:
        rest = f"a holder of such a lease is waited for {_span(grace)}"
        return Judgement(Verdict.HOLDER_MAY_BE_ALIVE, f"{over}; {rest}")
    return Judgement(
        Verdict.SAFE_TO_RELEASE, f"{over} and nothing was heard of the holder for {_span(grace)}"
    )


def _span(span: timedelta) -> str:
    """Whole seconds below two minutes, whole minutes above."""
    seconds = int(span.total_seconds())
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
