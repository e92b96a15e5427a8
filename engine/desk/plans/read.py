"""Reading plans back, and whether one may be executed now (console.md F1, ruling 55)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, select, tuple_

from engine.clock import from_ns
from engine.database.columns import Identifier, check_id
from engine.database.statement import Statement
from engine.desk.moment import moment
from engine.desk.plans.approval import check_approved
from engine.desk.plans.model import MOST_ITEMS, PlanState
from engine.desk.plans.rows import headers, plan_of
from engine.desk.plans.sealed import Header, hash_of, item_of
from engine.desk.tables import plan, plan_item
from engine.desk.views import MAX_PAGE, Page
from engine.errors import PlanRefused
from engine.paging import check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection

    from engine.desk.plans.model import Item, Plan

MOST_AT_ONCE: Final = 1_000
"""Items of one read."""
_ID: Final = bindparam("id", type_=Identifier)
_NEWEST: Final = (plan.c.created_at.desc(), plan.c.plan_id.desc())
_BEFORE: Final = tuple_(plan.c.created_at, plan.c.plan_id) < tuple_(
    bindparam("since", type_=BigInteger), bindparam("name", type_=Identifier)
)
_MOST: Final[BindParameter[int]] = bindparam("most", type_=BigInteger)
_ONE: Final = Statement(headers().where(plan.c.plan_id == _ID))
_LOCK: Final = Statement(select(plan.c.plan_id).where(plan.c.plan_id == _ID).with_for_update())
_FIRST: Final = Statement(headers().order_by(*_NEWEST).limit(_MOST))
_NEXT: Final = Statement(headers().where(_BEFORE).order_by(*_NEWEST).limit(_MOST))
_ITEMS: Final = Statement(
    select(*(plan_item.c[name] for name in ("n", "kind", "object_id", "guard", "note")))
    .where(plan_item.c.plan_id == _ID, plan_item.c.n > bindparam("after"))
    .order_by(plan_item.c.n)
    .limit(_MOST)
)

_WHY: Final = {
    PlanState.EXECUTED: ("executed", "it was executed already: look at its job"),
    PlanState.CANCELLED: ("cancelled", "it was cancelled; plan again"),
    PlanState.EXPIRED: ("expired", "it is past its time, and what it saw may have changed; plan again"),
    PlanState.BLOCKED: ("blocked", "something stands in its way; remove that, then plan again"),
    PlanState.AWAITING: ("unapproved", "it waits for another person's approval"),
}


def plan_detail(connection: Connection, plan_id: str) -> Plan | None:
    """One plan as it stands now; None when there is none of that id."""
    row = _ONE.one(connection, id=check_id("plan_id", plan_id))
    return None if row is None else plan_of(row)


def plans(connection: Connection, after: str | None = None, limit: int = 100) -> Page[Plan]:
    """One keyset page of at most 200 plans, newest first. One statement."""
    size = check_limit(limit, MAX_PAGE)
    if after is None:
        rows = _FIRST.all(connection, most=size + 1)
    else:
        since, name = decode_cursor(after, int, str)
        rows = _NEXT.all(connection, since=since, name=name, most=size + 1)
    kept: list[Any] = rows[:size]
    following = encode_cursor(kept[-1].created_at, kept[-1].plan_id) if len(rows) > size else None
    return Page(tuple(map(plan_of, kept)), following, from_ns(kept[0].now if kept else moment(connection)))


def items_of(connection: Connection, plan_id: str, after_n: int, limit: int) -> list[Item]:
    """At most `limit` (1 to 1,000) items behind the number `after_n` (0: from the first), in their order."""
    size = check_limit(limit, MOST_AT_ONCE)
    return [
        item_of(row)
        for row in _ITEMS.all(connection, id=check_id("plan_id", plan_id), after=after_n, most=size)
    ]


def item_page(connection: Connection, plan_id: str, after: str | None, limit: int = 100) -> Page[Item]:
    """One page of at most 200 items, in the order in which they will be changed; none once they were released."""
    size = check_limit(limit, MAX_PAGE)
    number = 0 if after is None else int(decode_cursor(after, int)[0])
    found = items_of(connection, plan_id, number, size + 1)
    following = encode_cursor(found[size - 1].n) if len(found) > size else None
    return Page(tuple(found[:size]), following, from_ns(moment(connection)))


def locked(connection: Connection, plan_id: str) -> Plan:
    """The plan, its header's row locked to the transaction's end: one approval, cancel or execution at a time.

    PlanRefused, why "unknown", without one. Judged by the store's clock behind the lock.
    """
    _LOCK.one(connection, id=check_id("plan_id", plan_id))
    row = _ONE.one(connection, id=plan_id)
    if row is None:
        raise PlanRefused(plan_id, "unknown", f"there is no plan {plan_id!r} in this store; list the plans")
    return plan_of(row)


def checked_for_execution(connection: Connection, plan_id: str, confirmation: str) -> Plan:
    """The plan, locked, with every stored item as it was sealed and the phrase typed as it must be.

    Wants a writing transaction: the caller confirms the items in it. PlanRefused with `why` one of: unknown,
    executed, cancelled, expired, empty, blocked, unapproved, changed, wrong confirmation.
    """
    found = locked(connection, plan_id)
    if found.state is not PlanState.READY:
        raise refused_by_state(found)
    check_approved(connection, found)
    if hash_stored(connection, plan_id) != found.hash:
        raise PlanRefused(plan_id, "changed", "what is stored of it is not what was planned; plan again")
    if confirmation != found.phrase:
        raise PlanRefused(plan_id, "wrong confirmation", f"to execute it type exactly: {found.phrase}")
    return found


def refused_by_state(found: Plan) -> PlanRefused:
    """Why a plan in this state cannot go on."""
    if found.state is PlanState.BLOCKED and not found.items:
        return PlanRefused(
            found.plan_id, "empty", "it has no item that could be changed; plan something else"
        )
    why, message = _WHY[found.state]
    if found.state is PlanState.BLOCKED:
        message = f"{message}: {found.totals.blockers[0]}"
    return PlanRefused(found.plan_id, why, f"plan {found.plan_id!r}: {message}")


def hash_stored(connection: Connection, plan_id: str) -> str | None:
    """The seal of what is stored of a plan; None without a header."""
    row: Any = _ONE.one(connection, id=plan_id)
    if row is None:
        return None
    items = _ITEMS.all(connection, id=plan_id, after=-(2**31), most=MOST_ITEMS + 1)
    header = Header(
        kind=row.kind,
        environment=row.environment,
        params=row.params,
        totals=row.totals,
        actor=row.actor,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )
    return hash_of(header, (tuple(each) for each in items))
