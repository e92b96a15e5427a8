"""Releasing claims as they were shown: token and expiry (console.md F9; ruling 53)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine.checkpoints.claims import release_shown
from engine.desk.audit.model import ObjectKind
from engine.desk.jobs.executor import Executor
from engine.desk.jobs.executors.outcomes import GONE, Words, shown_instant

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.jobs.executor import Done
    from engine.desk.plans.model import Item

_SAY: Final = Words(ObjectKind.CLAIM)


class ReleaseExecutor(Executor):
    """Each claim goes in one statement under the row's lock; the next token is higher by itself."""

    def finish(self, connection: Connection, item: Item) -> Done:
        """The claim is given back, or the reason why it stays: whoever renewed it is alive."""
        token, expires_at = item.guard["token"], item.guard["expires_at"]
        row, released = release_shown(connection, item.object_id, token, expires_at)
        if not released:
            return _refused(row, token)
        before = {"holder": row.claim_holder, "token": token, "expires_at": expires_at}
        return _SAY.applied(before, {"holder": None, "token": None})


def _refused(row: Any, token: int) -> Done:
    if row is None or (row.claim_token is None and row.latest_id is None and row.deleted_at is not None):
        return _SAY.skipped(GONE)
    if row.claim_token is None:
        return _SAY.skipped("already released")
    now = {"holder": row.claim_holder, "token": row.claim_token, "expires_at": row.claim_expires_at}
    if row.claim_token != token:
        return _SAY.skipped(f"token is now {row.claim_token}", now=now)
    return _SAY.skipped(f"renewed until {shown_instant(row.claim_expires_at)}", now=now)
