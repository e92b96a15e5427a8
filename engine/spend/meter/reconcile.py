"""One pass over what has expired: who is asked, and what is made of the answers (spend.md 4; rulings 35, 43, 66)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from engine.arguments import whole
from engine.spend.meter.asked import Reach, Written, due_page, write_answer
from engine.spend.meter.asking import DEFAULTS, ask_expired, ask_unknown
from engine.spend.meter.calls import unavailable
from engine.spend.meter.defaults import settle_page
from engine.spend.meter.model import Outcome, ReconcileReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.database.transaction import Transactions
    from engine.spend.meter.asking import Verdict
    from engine.spend.meter.model import AfterLease, MeterReservation
    from engine.spend.meter.options import Resolver
    from engine.spend.meter.schema import MeterSchema

NAME: Final = "reconcile"
MAX_PAGE: Final = 10_000
"""Rows of one pass; a larger limit is held to it."""


@dataclass(frozen=True, slots=True)
class Authority:
    """Who decides about expired rows: `resolve_expired` alone if there is one; `lease` in milliseconds."""

    lease: int
    after_lease: AfterLease
    resolve_unknown: Resolver | None = None
    resolve_expired: Resolver | None = None


def reconcile(
    transactions: Transactions, schema: MeterSchema, authority: Authority, at: int, limit: int
) -> ReconcileReport:
    """Settle or postpone one page; SpendMeterUnavailable in the middle leaves the rows before it settled."""
    most = min(max(1, whole("limit", limit)), MAX_PAGE)
    default = DEFAULTS[authority.after_lease]
    if authority.resolve_expired is not None:
        ask = partial(ask_expired, authority.resolve_expired, at=at, lease=authority.lease)
        return _ask_each(transactions, schema, Reach.EVERY, ask, at, most)
    if authority.resolve_unknown is not None:
        ask = partial(ask_unknown, authority.resolve_unknown, default=default)
        return _ask_each(transactions, schema, Reach.UNFENCED, ask, at, most)
    with unavailable(NAME):
        count = transactions.write(NAME, settle_page, schema.current(), default, at, most)
    return ReconcileReport(consumed=count) if default is Outcome.CONSUMED else ReconcileReport(released=count)


def _ask_each(
    transactions: Transactions,
    schema: MeterSchema,
    reach: Reach,
    ask: Callable[[MeterReservation], Verdict],
    at: int,
    most: int,
) -> ReconcileReport:
    """Each row is asked about outside any transaction, and its answer written in one of its own."""
    with unavailable(NAME):
        tables = schema.fenced(NAME)
        page = transactions.read(NAME, due_page, tables, reach, at, most)
    done: Counter[Written] = Counter()
    for held in page:
        verdict = ask(held)
        with unavailable(NAME):
            done[transactions.write(NAME, write_answer, tables, reach, held, verdict, at)] += 1
    return ReconcileReport(
        done[Written.CONSUMED], done[Written.RELEASED], done[Written.DEFERRED], done[Written.PENDING]
    )
