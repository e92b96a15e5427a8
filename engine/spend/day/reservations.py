"""Reserving, settling and deferring: verbs on one reservation (spend.md 2A.3, 2A.4, 2A.7, 3.1).

Every change is one guarded statement on the reservation's own row, which it thereby locks; the day follows.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Integer,
    bindparam,
    case,
    func,
    insert,
    null,
    true,
    update,
)

from engine.arguments import whole
from engine.clock import to_ns
from engine.database.columns import Instant, check_id, check_optional_id
from engine.database.statement import Statement
from engine.spend.amounts import utc_day
from engine.spend.answers import evidence_text
from engine.spend.counts import MAX_COUNT, whole_count
from engine.spend.day import days
from engine.spend.day.model import check_guard
from engine.spend.day.tables import OPEN, reservation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

_R = reservation.c
ID: BindParameter[str] = bindparam("which")
AT: BindParameter[int] = bindparam("moment", type_=Instant)
_FIGURE: BindParameter[int] = bindparam("figure", type_=BigInteger)
_NEXT: BindParameter[int] = bindparam("next_check", type_=Instant)
_EXPECTED: BindParameter[int | None] = bindparam("expected", type_=Integer)
_AS_SHOWN = _R.deferrals == func.coalesce(_EXPECTED, _R.deferrals)


def later(one: ColumnElement[int], other: ColumnElement[int]) -> ColumnElement[int]:
    """The later of two instants that both are there."""
    return case((one >= other, one), else_=other)


CHECKED = later(_R.expires_at, func.coalesce(_R.next_check_at, _R.expires_at))
"""When a row without a lease is due (ruling 41)."""
NO_LEASE = {"lease_run": null(), "lease_until": null(), "due_at": CHECKED}

_ADD = Statement(
    insert(reservation).values(
        id=ID,
        day=bindparam("on_day"),
        kind=bindparam("what"),
        micro=bindparam("amount"),
        created_at=AT,
        expires_at=bindparam("until"),
        due_at=bindparam("until"),
        require_fence=bindparam("fenced"),
        thread_id=bindparam("thread"),
    )
)
_SETTLE = Statement(
    update(reservation)
    .where(_R.id == ID, OPEN, _AS_SHOWN)
    .values(settled_micro=case((_R.micro > _FIGURE, _FIGURE), else_=_R.micro), settled_at=AT, **NO_LEASE)
    .returning(_R.day, _R.micro, _R.settled_micro)
)
_DEFER = Statement(
    update(reservation)
    .where(_R.id == ID, OPEN, _AS_SHOWN)
    .values(
        require_fence=true(),
        next_check_at=_NEXT,
        evidence=bindparam("why"),
        deferrals=_R.deferrals + 1,
        due_at=later(later(_R.expires_at, _NEXT), func.coalesce(_R.lease_until, _R.expires_at)),
    )
)


def add_reservation(
    connection: Connection,
    kind: str,
    micro: int,
    at: datetime,
    expires: datetime,
    thread_id: str | None = None,
) -> str:
    """Hold `micro` of the day of `at`, which the caller has locked, until settled; the new id."""
    return _add(connection, kind, micro, at, expires, thread_id, fenced=False)


def add_fenced_reservation(
    connection: Connection,
    kind: str,
    micro: int,
    at: datetime,
    expires: datetime,
    thread_id: str | None = None,
) -> str:
    """`add_reservation` of one that no default may ever settle."""
    return _add(connection, kind, micro, at, expires, thread_id, fenced=True)


def _add(
    connection: Connection,
    kind: str,
    micro: int,
    at: datetime,
    expires: datetime,
    thread_id: str | None,
    *,
    fenced: bool,
) -> str:
    row: dict[str, Any] = {
        "which": str(uuid.uuid4()),
        "on_day": utc_day(at),
        "what": check_id("kind", kind),
        "amount": whole_count("micro", micro),
        "moment": to_ns(at),
        "until": to_ns(expires),
        "fenced": fenced,
        "thread": check_optional_id("thread_id", thread_id),
    }
    # The day first: it says whether the caller has locked one at all.
    days.hold(connection, row["on_day"], micro)
    _ADD.count(connection, **row)
    return str(row["which"])


def settle_reservation(
    connection: Connection,
    reservation_id: str,
    settled_micro: int,
    at: datetime,
    *,
    expected_deferrals: int | None = None,
) -> bool:
    """Settle an open reservation of any kind at a figure held to 0 and its amount, on its own day.

    False, and no change, when it is settled, unknown, or deferred another number of times than expected.
    """
    settled = _SETTLE.one(
        connection,
        which=check_id("reservation_id", reservation_id),
        figure=min(max(whole("settled_micro", settled_micro), 0), MAX_COUNT),
        moment=to_ns(at),
        expected=check_guard(expected_deferrals),
    )
    if settled is not None:
        days.settle(connection, settled.day, settled.micro, settled.settled_micro)
    return settled is not None


def defer_reservation(
    connection: Connection,
    reservation_id: str,
    next_check: datetime,
    evidence: Mapping[str, Any],
    *,
    expected_deferrals: int | None = None,
) -> bool:
    """Fence an open reservation for good and look at it again at `next_check`; it stays counted.

    `evidence`, a JSON object of at most 16 KiB, takes the place of the last. False as for `settle_reservation`.
    """
    changed = _DEFER.count(
        connection,
        which=check_id("reservation_id", reservation_id),
        next_check=to_ns(next_check),
        why=evidence_text(evidence),
        expected=check_guard(expected_deferrals),
    )
    return changed == 1
