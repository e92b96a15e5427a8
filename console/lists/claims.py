"""The claims of the store: who holds what, until when, and whether he can still be at work (console.md F9)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from console import audit_filters, claim_facts, present, tables
from console.claims_model import ClaimQuery, ClaimRow, Stored
from console.commands import OpenThread
from console.lists.sorting import Served
from console.lists.view import Extra, Question, Tally, View, claims_of
from console.model import Counted
from console.present import Cell, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.reading import Gateway
    from console.widgets.columns import Scene

MOST_COUNTED: Final = 10_000
"""Where a count stops, as the store's own do."""
RECENT: Final = timedelta(seconds=10)
"""A renewal that is younger is told as one, an older one as the silence since (console.md, row 76)."""


def renewal(silent: timedelta) -> Cell:
    """When the holder was last heard of, as a fact and not as a verdict."""
    if timedelta(0) <= silent < RECENT:
        return Cell(own(f"{present.age(silent)} ago"))
    return Cell(own(f"none for {present.age(silent)}"), Tone.WARN)


def _state(row: ClaimRow, scene: Scene) -> Cell:
    cell = present.claim_state(live=row.live)
    return cell if scene.fresh else Cell(own(f"{cell.text}?"), Tone.MUTED)


def _renewal(row: ClaimRow, scene: Scene) -> Cell:
    return renewal(row.silent + scene.elapsed) if scene.fresh else tables.STALE_CELL


COLUMNS: Final[tuple[Column[ClaimRow], ...]] = (
    Column(
        own("THREAD"), 18, lambda row, _: Cell(present.safe(row.thread), Tone.STRONG), most=44, shorten=middle
    ),
    Column(own("STATE"), 10, _state),
    Column(own("HOLDER"), 10, lambda row, _: Cell(present.safe(row.holder)), most=24, shorten=middle),
    Column(own("TENANT"), 7, lambda row, _: tables.maybe(row.tenant), most=12, leaves=4),
    Column(
        own("TOKEN"),
        7,
        lambda row, _: Cell(present.number(row.token)),
        most=9,
        right=True,
        leaves=5,
        by=lambda row: row.token,
    ),
    Column(
        own("LEASE LEFT"),
        10,
        lambda row, scene: tables.lease(row.left, scene),
        right=True,
        by=lambda row: row.left,
    ),
    Column(
        own("GRANTED"),
        10,
        lambda row, scene: Cell(present.clock(row.granted_at, scene.as_of)),
        right=True,
        leaves=2,
        by=lambda row: row.granted_at,
    ),
    Column(own("LAST RENEWED"), 12, _renewal, right=True, by=lambda row: row.silent),
    Column(
        own("RENEWALS"),
        8,
        lambda row, _: Cell(present.number(row.renewals)),
        right=True,
        leaves=1,
        by=lambda row: row.renewals,
    ),
    Column(
        own("REFUSED"),
        7,
        lambda row, _: tables.refused(row.refused),
        right=True,
        leaves=3,
        by=lambda row: row.refused,
    ),
)

CLAIMS: Final[View[ClaimRow]] = View(
    title=own("Claims"),
    order=own("first expiry first"),
    none=own("nobody holds a thread"),
    columns=COLUMNS,
    key=lambda row: row.thread,
    facts=claim_facts.of_row,
    opens=lambda row: OpenThread(row.thread),
    owner=lambda row: claims_of(row.holder),
    extra=Extra(
        lambda gateway, row: gateway.claim(row.thread), lambda row: (row.token, row.live, row.refused)
    ),
    ids="claims",
    history=lambda row: audit_filters.of_thread(row.thread),
    served=Served("LEASE LEFT"),
)
BY_THREAD: Final = replace(CLAIMS, order=own("of one holder, by thread"), served=Served("THREAD"))
CLAIM_ONLY: Final = replace(
    CLAIMS, title=own("Claim-only ids"), none=own("every claimed id has a checkpoint")
)


def claims(query: ClaimQuery) -> Question[ClaimRow]:
    """The claims that match; those of one holder by thread. Ids without a checkpoint have a title of their own."""
    view = CLAIMS if query.holder is None else BY_THREAD
    if query.stored is Stored.CLAIM_ONLY:
        view = replace(CLAIM_ONLY, order=view.order, served=view.served)
    return Question(
        view,
        lambda gateway, after, limit: gateway.claims(query, after, limit),
        partial(_tally, query=query),
    )


def _tally(gateway: Gateway, query: ClaimQuery) -> Tally:
    if query != ClaimQuery():
        return Tally(gateway.count_claims(query))
    totals = gateway.claim_totals()
    live, expired = present.counted(totals.live), present.counted(totals.expired)
    said = (
        Cell(own(f"  {live} live"), Tone.GOOD if totals.live.count else Tone.MUTED),
        Cell(own(f"  {expired} expired, not released"), Tone.BAD if totals.expired.count else Tone.MUTED),
    )
    count = totals.live.count + totals.expired.count
    more = totals.live.more or totals.expired.more or count > MOST_COUNTED
    return Tally(Counted(min(count, MOST_COUNTED), more), said)
