"""Claims as plans look at them: a holder in doubt is told alike, whether it is released or its thread deleted (F9)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.tables import CLAIMED, thread
from engine.database.constructs import Each
from engine.database.statement import Statement
from engine.desk.claim_rows import judgement_of, shown_of_claim
from engine.desk.claim_views import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

_ASKED: Final = Each(bindparam("ids")).table_valued("value").alias("asked")
_CLAIMS: Final = Statement(
    select(*shown_of_claim(thread.c)).where(
        thread.c.thread_id.in_(select(_ASKED.c.value).select_from(_ASKED)), CLAIMED
    )
)


def claims_on(connection: Connection, ids: Sequence[str]) -> dict[str, Any]:
    """By thread the `shown_of_claim` columns of its claim, live or over; threads that nobody holds are left out."""
    return {row.thread_id: row for row in _CLAIMS.all(connection, ids=json.dumps(ids))}


def doubt(row: Any, at: int) -> str | None:
    """Why the holder of such a row may still be at work at `at` (ns), for a warning; None where it is gone."""
    found = judgement_of(row, at)
    if found.verdict is Verdict.SAFE_TO_RELEASE:
        return None
    return f"{row.thread_id}: {found.verdict.value.replace('_', ' ')}: {found.reason} ({row.claim_holder})"
