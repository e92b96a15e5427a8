"""From the engine's records of claims to the console's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.claims_model import ClaimRow, ClaimStory, ClaimTotals, HolderRow, Verdict
from console.gateway.rows import counted, refusals
from console.model import Page, ThreadState

if TYPE_CHECKING:
    from datetime import datetime

    from engine import desk

_VERDICTS = {"SAFE_TO_RELEASE": Verdict.SAFE, "HOLDER_MAY_BE_ALIVE": Verdict.ALIVE}


def claims(found: desk.Page[desk.ClaimRow]) -> Page[ClaimRow]:
    """A page of claims, each of the page's moment."""
    return Page(tuple(claim_row(row, found.as_of) for row in found.rows), found.next, found.as_of)


def claim_row(row: desk.ClaimRow, as_of: datetime) -> ClaimRow:
    """A claim as it stood at `as_of`."""
    return ClaimRow(
        thread=row.thread_id,
        holder=row.holder,
        tenant=row.tenant,
        token=row.token,
        granted_at=row.granted_at,
        renewed_at=row.renewed_at,
        renewals=row.renewals,
        expires_at=row.expires_at,
        left=row.left,
        live=row.live,
        thread_state=None if row.status is None else ThreadState[row.status.name],
        silent=as_of - row.renewed_at,
        seen_at=row.last_seen_at,
        verdict=_VERDICTS[row.verdict.name],
        reason=row.reason,
        refused=row.refusals,
    )


def claim_story(found: desk.ClaimStory) -> ClaimStory:
    """A claim with what its list leaves out."""
    return ClaimStory(
        row=claim_row(found.row, found.as_of),
        refusals=None if found.refusal is None else refusals(found.refusal),
        checkpoint=found.latest_id,
        run=found.latest_run_id,
        next_token=found.next_token,
    )


def claim_totals(found: desk.ClaimTotals) -> ClaimTotals:
    """How many are live, and how many are over."""
    return ClaimTotals(counted(found.live), counted(found.expired))


def holders(found: desk.Page[desk.HolderRow]) -> Page[HolderRow]:
    """A page of those who hold claims."""
    rows = tuple(
        HolderRow(
            row.holder,
            row.live,
            row.expired,
            row.more,
            row.first_expiry,
            row.last_renewal,
            found.as_of - row.last_renewal,
        )
        for row in found.rows
    )
    return Page(rows, found.next, found.as_of)
