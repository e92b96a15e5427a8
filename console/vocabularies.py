"""What can be typed on each screen: the fields of its filter, and the values of those that are closed sets."""

from __future__ import annotations

from typing import Final

from console import audit_filters, filters, job_filters, money_filters, overview_filters
from console.acting.jobs import ItemOutcome, JobState
from console.claims_model import ClaimState, Stored
from console.completion import Vocabulary
from console.model import ThreadState
from console.money_words import HoldState, Kind
from console.queue_model import QueueState

_SPANS: Final = ("30s", "5m", "1h", "1d")
"""Examples of a span: any other is taken as well."""
_THREAD_STATES: Final = tuple(state.value.lower() for state in ThreadState)
_CLAIM_ONLY: Final = Stored.CLAIM_ONLY.value

BY_SCREEN: Final = {
    "overview": Vocabulary(overview_filters.FIELDS, {"since": _SPANS}),
    "threads": Vocabulary(
        tuple(dict.fromkeys(("state:", *filters.THREAD_FIELDS))),
        {
            "status": _THREAD_STATES,
            "state": (*_THREAD_STATES, filters.STUCK, "tombstone", _CLAIM_ONLY),
            "since": _SPANS,
        },
    ),
    "claims": Vocabulary(
        ("state:", *filters.CLAIM_FIELDS),
        {"state": (*(state.value for state in ClaimState), _CLAIM_ONLY), "by": ("holder",), "since": _SPANS},
    ),
    "reservations": Vocabulary(
        ("state:", *money_filters.RESERVATION_FIELDS),
        {"state": tuple(state.value for state in HoldState), "kind": tuple(kind.value for kind in Kind)},
    ),
    "fences": Vocabulary(
        ("state:", "deferred:", *money_filters.FENCE_FIELDS),
        {
            "state": (HoldState.DUE.value, HoldState.FENCED.value),
            "kind": (Kind.DAY.value, Kind.METER.value),
            "deferred": ("yes", "no"),
        },
    ),
    "events": Vocabulary(filters.EVENT_FIELDS),
    "audit": Vocabulary(audit_filters.FIELDS),
    "jobs": Vocabulary(job_filters.JOB_FIELDS, {"state": tuple(state.value for state in JobState)}),
    "job": Vocabulary(("outcome:",), {"outcome": tuple(outcome.value for outcome in ItemOutcome)}),
    "queue": Vocabulary(
        ("state:", *filters.QUEUE_FIELDS), {"state": tuple(state.value for state in QueueState)}
    ),
    "budgets": Vocabulary(money_filters.BUDGET_FIELDS),
}
"""By the screens' modes."""
NOTHING: Final = Vocabulary()


def of_screen(mode: str) -> Vocabulary:
    """What a screen's filter knows; nothing for a screen without one."""
    return BY_SCREEN.get(mode, NOTHING)
