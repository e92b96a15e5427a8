"""The filter lines of the jobs, of the stored plans, and of one job's items.

    state:running   state:interrupted   state:done        plans                 (jobs; plans is a list of its own)
    outcome:failed   outcome:skipped                                            (the items of one job)

The store keeps no state "interrupted": such a job is running there, with a lease that is over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from console.acting.jobs import ItemOutcome, JobQuery, JobState
from console.filter_words import FilterError, applied, verb, word_of, words_of

PLANS: Final = "plans"
JOB_FIELDS: Final = ("state:", PLANS)
ITEM_FIELDS: Final = tuple(f"outcome:{outcome.value}" for outcome in ItemOutcome)


@dataclass(frozen=True, slots=True)
class PlansQuery:
    """The stored plans: there is nothing to narrow them by."""


JobsQuestion = JobQuery | PlansQuery


def jobs(text: str) -> JobsQuestion:
    """What a line of text asks for on the jobs' screen."""
    words = words_of(text)
    if PLANS not in words:
        return applied(JobQuery(), words, _job_word)
    if len(words) > 1:
        raise FilterError(f"{PLANS} stands alone; !field:value and ~pattern search its window")
    return PlansQuery()


def items(text: str) -> ItemOutcome | None:
    """Which items of a job a line of text asks for; None for all."""
    outcome: ItemOutcome | None = None
    for word in words_of(text):
        found = verb({"outcome": _outcome}, "item", ITEM_FIELDS, word)(None)
        if outcome is not None:
            raise FilterError("one outcome at a time; without one all are listed")
        outcome = found
    return outcome


def _outcome(_before: ItemOutcome | None, value: str) -> ItemOutcome | None:
    return word_of("outcome", value, ItemOutcome)


def _job_word(query: JobQuery, word: str) -> JobQuery:
    return verb({"state": _state}, "job", JOB_FIELDS, word)(query)


def _state(query: JobQuery, value: str) -> JobQuery:
    return replace(query, state=word_of("state", value, JobState))
