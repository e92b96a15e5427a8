"""Claims: a lease on a thread with a fencing token (checkpoints.md 2.1 to 2.3).

The thread's row is locked first and the clock is read after the lock; a zero-row UPDATE is the refusal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, delete, exists, null, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from engine.arguments import of_kind, whole
from engine.checkpoints.model import BusyHolder, ClaimRequest, HolderKind, RunClaim, check_ttl
from engine.checkpoints.tables import child_place, effect, refusal, thread, thread_metadata
from engine.clock import from_ns, span_ns
from engine.database.backend import backend_of
from engine.database.columns import MAX_NUMBER, check_id
from engine.database.constructs import Counter, Next, Now
from engine.database.statement import Statement
from engine.errors import StaleClaim, StoreFailure, ThreadBusy

if TYPE_CHECKING:
    from datetime import timedelta

    from sqlalchemy import BindParameter, Connection

MAX_REPEATS = 5  # of insert-then-lock, when another release drops the row in between (ruling 6)

_SHOWN = 1_000  # nanoseconds in the smallest step of an instant that people are shown

_ID: BindParameter[str] = bindparam("id")
_TOKEN: BindParameter[int] = bindparam("token")
_TTL = bindparam("ttl", type_=thread.c.claim_expires_at.type)


class _BareRow:
    """INSERT of a row that holds nothing yet, unless there is one; each dialect spells it its own way."""

    def __init__(self) -> None:
        bare: dict[str, postgresql.Insert | sqlite.Insert] = {
            "postgresql": postgresql.insert(thread).values(thread_id=_ID),
            "sqlite": sqlite.insert(thread).values(thread_id=_ID),
        }
        same = {"metadata_keys": thread.c.metadata_keys}
        self._ensure = {name: Statement(insert.on_conflict_do_nothing()) for name, insert in bare.items()}
        self._seize = {
            name: Statement(insert.on_conflict_do_update(index_elements=["thread_id"], set_=same))
            for name, insert in bare.items()
        }

    def ensure(self, connection: Connection, thread_id: str) -> None:
        """There is a row, at this moment."""
        self._ensure[connection.dialect.name].count(connection, id=thread_id)

    def seize(self, connection: Connection, thread_id: str) -> None:
        """There is a row and it is locked; it costs a write of an old row, so it is not the first thing tried."""
        self._seize[connection.dialect.name].count(connection, id=thread_id)


BARE_ROW = _BareRow()
LOCK = Statement(select(thread).where(thread.c.thread_id == _ID).with_for_update())
_CURRENT = Statement(select(thread.c.claim_token).where(thread.c.thread_id == _ID))
_SHARE = Statement(select(thread.c.claim_token).where(thread.c.thread_id == _ID).with_for_update(read=True))
_GRANT = Statement(
    update(thread)
    .where(thread.c.thread_id == _ID)
    .where(or_(thread.c.claim_token.is_(None), thread.c.claim_expires_at <= Now()))
    .values(
        claim_token=Next(Counter.TOKEN),
        claim_holder=bindparam("holder"),
        claim_tenant=bindparam("tenant"),
        claim_tenant_recorded=True,
        claim_granted_at=Now(),
        claim_renewed_at=Now(),
        claim_renewals=0,
        claim_expires_at=Now() + _TTL,
    )
    .returning(thread.c.claim_token, thread.c.claim_expires_at)
)
_RENEW = Statement(
    update(thread)
    .where(thread.c.thread_id == _ID, thread.c.claim_token == _TOKEN)
    .values(
        claim_renewed_at=Now(),
        claim_renewals=thread.c.claim_renewals + 1,
        claim_expires_at=Now() + _TTL,
    )
    .returning(thread.c.claim_holder, thread.c.claim_token, thread.c.claim_expires_at)
)
_UNCLAIMED: dict[str, Any] = {
    "claim_token": null(),
    "claim_holder": null(),
    "claim_tenant": null(),
    "claim_tenant_recorded": False,
    "claim_granted_at": null(),
    "claim_renewed_at": null(),
    "claim_renewals": null(),
    "claim_expires_at": null(),
}
# An id with nothing left but its tombstone goes back to being just that (checkpoints.md 2.3).
_ONLY_A_TOMBSTONE = (
    thread.c.tomb_first.is_not(None)
    & thread.c.latest_id.is_(None)
    & thread.c.first_seq.is_(None)
    & (thread.c.metadata_keys == 0)
    & ~exists().where(effect.c.thread_id == thread.c.thread_id)
)
_RELEASE = Statement(
    update(thread)
    .where(thread.c.thread_id == _ID, thread.c.claim_token == _TOKEN)
    .values(
        **_UNCLAIMED,
        created_at=case((_ONLY_A_TOMBSTONE, null()), else_=thread.c.created_at),
        updated_at=case((_ONLY_A_TOMBSTONE, null()), else_=thread.c.updated_at),
    )
)
# Nothing of the id is stored: no checkpoint, number, effect, metadata, tombstone or child place (ruling 75).
HOLDS_NOTHING = (
    thread.c.claim_token.is_(None)
    & thread.c.latest_id.is_(None)
    & thread.c.first_seq.is_(None)
    & thread.c.tomb_first.is_(None)
    & ~exists().where(effect.c.thread_id == thread.c.thread_id)
    & ~exists().where(thread_metadata.c.thread_id == thread.c.thread_id)
    & ~exists().where(child_place.c.child_id == thread.c.thread_id)
)
_DROP_EMPTY = Statement(delete(thread).where(thread.c.thread_id == _ID, HOLDS_NOTHING))
DROP_REFUSALS = Statement(delete(refusal).where(refusal.c.thread_id == _ID))


def claim(connection: Connection, thread_id: str, request: ClaimRequest) -> RunClaim:
    """Take the thread for `request.ttl`; ThreadBusy while a live claim stands (checkpoints.md 2.1)."""
    check_id("thread_id", thread_id)
    of_kind("request", request, ClaimRequest)
    before = _locked(connection, thread_id)
    granted = _GRANT.one(
        connection, id=thread_id, holder=request.holder, tenant=request.tenant, ttl=span_ns(request.ttl)
    )
    if granted is None:
        raise ThreadBusy(thread_id, before.latest_id, _holder(before, request.tenant))
    backend_of(connection).advance(connection, Counter.TOKEN)
    lapsed = before.claim_holder if _same_tenant(before, request.tenant) else None
    return RunClaim(thread_id, request.holder, granted.claim_token, from_ns(granted.claim_expires_at), lapsed)


def _locked(connection: Connection, thread_id: str) -> Any:
    for repeat in range(MAX_REPEATS):
        make = BARE_ROW.seize if repeat else BARE_ROW.ensure
        make(connection, thread_id)
        row = LOCK.one(connection, id=thread_id)
        if row is not None:
            return row
    raise StoreFailure("claim", f"the row of {thread_id!r} vanished {MAX_REPEATS} times in a row; try again")


def _same_tenant(row: Any, tenant: str | None) -> bool:
    return bool(row.claim_tenant_recorded) and row.claim_tenant == tenant


def _holder(row: Any, tenant: str | None) -> BusyHolder:
    if _same_tenant(row, tenant):
        return BusyHolder(HolderKind.RUN, row.claim_holder)
    return BusyHolder(HolderKind.UNNAMED)


def renew(connection: Connection, thread_id: str, token: int, ttl: timedelta) -> RunClaim:
    """Move the lease's end to `ttl` from now, later or earlier; StaleClaim for another token (2.2)."""
    check_id("thread_id", thread_id)
    check_ttl(ttl)
    row = _RENEW.one(connection, id=thread_id, token=_stored(token), ttl=span_ns(ttl))
    if row is None:
        raise StaleClaim(thread_id, token, current_token(connection, thread_id))
    return RunClaim(thread_id, row.claim_holder, row.claim_token, from_ns(row.claim_expires_at))


def release(connection: Connection, thread_id: str, token: int) -> None:
    """Give the claim back; any other token changes nothing and is no error (2.3)."""
    check_id("thread_id", thread_id)
    _give_back(connection, thread_id, _stored(token))


def release_shown(connection: Connection, thread_id: str, token: int, expires_at: int) -> tuple[Any, bool]:
    """Take the claim from its holder, if it still has this token and ends at this instant (ns; ruling 53).

    The thread's row as it stood under its lock, None where there is none, and whether the claim was released.
    """
    check_id("thread_id", thread_id)
    row: Any = LOCK.one(connection, id=thread_id)
    if row is None or row.claim_token is None or row.claim_token != whole("token", token):
        return row, False
    if row.claim_expires_at // _SHOWN != expires_at // _SHOWN:
        return row, False
    return row, _give_back(connection, thread_id, token)


def _give_back(connection: Connection, thread_id: str, token: int) -> bool:
    released = _RELEASE.count(connection, id=thread_id, token=token)
    if released and _DROP_EMPTY.count(connection, id=thread_id):
        DROP_REFUSALS.count(connection, id=thread_id)
    return bool(released)


def _stored(token: int) -> int:
    """The token as a column may hold it; one that no column can hold was never issued, and neither was 0."""
    return token if abs(whole("token", token)) <= MAX_NUMBER else 0


def current_token(connection: Connection, thread_id: str) -> int | None:
    """The token now stored for the thread, or None."""
    row = _CURRENT.one(connection, id=thread_id)
    return None if row is None else row.claim_token


def hold_current(connection: Connection, thread_id: str, token: int) -> None:
    """Lock a fence's row in share mode; StaleClaim unless `token` is the one stored (2.4, check 2)."""
    row = _SHARE.one(connection, id=thread_id)
    current = None if row is None else row.claim_token
    if current != token:
        raise StaleClaim(thread_id, token, current)
