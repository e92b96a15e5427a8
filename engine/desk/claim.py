"""One claim, with what a person needs to know before releasing it (console.md F9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.listing import CLOCK
from engine.checkpoints.refusals import last_token
from engine.checkpoints.tables import CLAIMED, thread
from engine.clock import from_ns
from engine.database.columns import check_id
from engine.database.statement import Statement
from engine.desk.claim_rows import claim_row, shown_of_claim
from engine.desk.claim_views import ClaimStory
from engine.desk.refused import refusal_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

_CLAIM: Final = Statement(
    select(CLOCK.c.now, *shown_of_claim(thread.c)).where(thread.c.thread_id == bindparam("id"), CLAIMED)
)


def claim_story(connection: Connection, thread_id: str) -> ClaimStory | None:
    """The claim stored on the id, live or over; None when nobody holds it. Wants a SNAPSHOT."""
    row = _CLAIM.one(connection, id=check_id("thread_id", thread_id))
    if row is None:
        return None
    return ClaimStory(
        row=claim_row(row, row.now),
        refusal=refusal_of(connection, thread_id),
        latest_id=row.latest_id,
        latest_run_id=row.latest_run_id,
        next_token=last_token(connection) + 1,
        as_of=from_ns(row.now),
    )
