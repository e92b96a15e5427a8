"""Which claims a release would take away, each with its verdict (console.md F9, ruling 53)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine.database.columns import check_id
from engine.desk.audit.model import Deed
from engine.desk.claim_rows import claim_row
from engine.desk.moment import moment
from engine.desk.plans.budget import Budget
from engine.desk.plans.claims import claims_on, doubt
from engine.desk.plans.draft import Draft
from engine.desk.plans.model import ItemKind, Line, Totals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from engine.desk.plans.model import Preview

UNCLAIMED: Final = "nobody holds it"
_KEPT: Final = ("the thread with all its rows", "the reservations of its run")


def preview_release(
    connection: Connection, environment: str, thread_ids: Iterable[str], budget: Budget | None = None
) -> Preview:
    """The claims on these threads, each guarded by its token and expiry. Wants a SNAPSHOT.

    PlanRefused, why "too wide", beyond the budget.
    """
    budget = Budget() if budget is None else budget
    ids = list(dict.fromkeys(check_id("thread_ids", each) for each in thread_ids))
    draft, at = Draft(budget), moment(connection)
    for batch in budget.batches(ids):
        found = claims_on(connection, batch)
        for thread_id in batch:
            if thread_id not in found:
                draft.apart(thread_id, UNCLAIMED)
                continue
            _add(draft, found[thread_id], at)
    items = draft.items
    only = f"RELEASE {items[0].guard['token']}" if len(items) == 1 else None
    lines = (Line("claim", len(items), 0, "the next token is higher by itself"),)
    totals = Totals(rows=len(items), lines=lines, kept=_KEPT, phrase=only)
    return draft.preview(Deed.RELEASE, environment, {"asked": len(ids)}, at, totals)


def _add(draft: Draft, row: Any, at: int) -> None:
    claim = claim_row(row, at)
    guard = {"token": row.claim_token, "expires_at": row.claim_expires_at}
    note = {
        "holder": claim.holder,
        "verdict": claim.verdict.value,
        "reason": claim.reason,
        "live": claim.live,
    }
    draft.add(ItemKind.CLAIM, claim.thread_id, guard, note)
    doubted = doubt(row, at)
    if doubted is not None:
        draft.warn(doubted)
