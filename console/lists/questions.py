"""Which list a screen's filter asks for: what of it the store answers, and what leaves rows out of the window.

Each list is imported by the first filter that asks for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from console import filters, sieve
from console.claims_model import ClaimQuery, HolderQuery
from console.model import IncompleteQuery, ThreadQuery, TombstoneQuery

if TYPE_CHECKING:
    from console.lists.view import Question
    from console.model import EventQuery
    from console.sieve import Sieve, Values


def of_threads(text: str) -> Question[Any]:
    """The list that a filter of the threads' screen asks for; raises FilterError."""
    from console.lists import fields
    from console.lists.threads import incomplete, threads

    stored, window = sieve.parted(text, filters.THREADS_NOT)
    match filters.threads(stored):
        case ThreadQuery() as query:
            return _over(threads(query), window, fields.THREADS)
        case IncompleteQuery() as query:
            return _over(incomplete(query), window, fields.THREADS)
        case ClaimQuery() as query:
            from console.lists.claims import claims

            return _over(claims(query), window, fields.CLAIMS)
        case TombstoneQuery() as query:
            from console.lists.tombstones import tombstones

            return _over(tombstones(query), window, fields.TOMBSTONES)


def of_claims(text: str) -> Question[Any]:
    """The list that a filter of the claims' screen asks for; raises FilterError."""
    from console.lists import fields
    from console.lists.claims import claims
    from console.lists.holders import holders

    stored, window = sieve.parted(text, filters.CLAIMS_NOT)
    match filters.claims(stored):
        case ClaimQuery() as query:
            return _over(claims(query), window, fields.CLAIMS)
        case HolderQuery():
            return _over(holders(), window, fields.HOLDERS)


def of_queue(text: str) -> Question[Any]:
    """The list that a filter of the run queue's screen asks for; raises FilterError."""
    from console.lists import fields
    from console.lists.queue import queue

    stored, window = sieve.parted(text, ())
    return _over(queue(filters.queue(stored)), window, fields.QUEUE)


def of_reservations(text: str) -> Question[Any]:
    """The list that a filter of the reservations' screen asks for; raises FilterError."""
    from console import money_filters
    from console.lists import fields
    from console.lists.reservations import reservations

    stored, window = sieve.parted(text, ())
    return _over(reservations(money_filters.reservations(stored)), window, fields.MONEY)


def of_fences(text: str) -> Question[Any]:
    """The list that a filter of the fences' screen asks for; raises FilterError."""
    from console import money_filters
    from console.lists import fields
    from console.lists.fences import fences

    stored, window = sieve.parted(text, money_filters.FENCES_NOT)
    return _over(fences(money_filters.fences(stored)), window, fields.MONEY)


def of_budgets(text: str, cap: int | None) -> Question[Any]:
    """The list that a filter of the budgets' screen asks for, against the operator's cap; raises FilterError."""
    from console import money_filters
    from console.lists import fields
    from console.lists.budgets import accounts, days
    from console.money_model import AccountQuery, DayQuery

    stored, window = sieve.parted(text, ())
    match money_filters.budgets(stored):
        case AccountQuery() as query:
            return _over(accounts(query, cap), window, fields.ACCOUNTS)
        case DayQuery():
            return _over(days(cap), window, fields.DAYS)


def of_jobs(text: str) -> Question[Any]:
    """The list that a filter of the jobs' screen asks for: jobs, or stored plans; raises FilterError."""
    from console import job_filters
    from console.acting.jobs import JobQuery
    from console.lists import fields
    from console.lists.jobs import jobs
    from console.lists.plans import plans

    stored, window = sieve.parted(text, ())
    match job_filters.jobs(stored):
        case JobQuery() as query:
            return _over(jobs(query), window, fields.JOBS)
        case _:
            return _over(plans(), window, fields.PLANS)


def of_job(job: str, text: str) -> Question[Any]:
    """The items of a job that a filter of its screen asks for; raises FilterError."""
    from console import job_filters
    from console.lists import fields
    from console.lists.job_items import items

    stored, window = sieve.parted(text, ())
    return _over(items(job, job_filters.items(stored)), window, fields.ITEMS)


def of_audit(text: str, me: str) -> Question[Any]:
    """The entries that a filter of the audit's screen asks for, `mine` being `me`; raises FilterError."""
    from console import audit_filters
    from console.lists import audit

    stored, window = sieve.parted(text, ())
    return _over(audit.audit(audit_filters.audit(stored, me)), window, audit.FIELDS)


def of_events(text: str) -> tuple[EventQuery, Sieve]:
    """What a tail asks the store for, and what it keeps of that; raises FilterError."""
    from console import tables
    from console.lists import fields

    stored, window = sieve.parted(text, ())
    return filters.events(stored), sieve.sieve_of(window, tables.EVENTS, fields.EVENTS)


def _over(question: Question[Any], window: tuple[str, ...], values: Values) -> Question[Any]:
    """The question with the words for its window; how many rows the store has is then no number of this list."""
    known = replace(question, values=values)
    if not window:
        return known
    made, tally = sieve.sieve_of(window, question.view.columns, values), question.tally
    return replace(known, sieve=made, tally=lambda gateway: replace(tally(gateway), total=None))
