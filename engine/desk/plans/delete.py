"""What a delete would take away: threads, and the trees below them, children first (console.md F1, F9)."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from engine.checkpoints.tables import tenant_of
from engine.clock import span_ns
from engine.database.columns import check_id
from engine.desk.audit.model import Deed
from engine.desk.held import MAX_HELD, HeldMoney, held
from engine.desk.jobs.executors.outcomes import GONE, shown_instant
from engine.desk.moment import moment
from engine.desk.plans.budget import Budget
from engine.desk.plans.claims import claims_on, doubt
from engine.desk.plans.delete_lines import bytes_of, lines_of, rows_of
from engine.desk.plans.draft import Draft, dollars
from engine.desk.plans.model import ItemKind, Reach, Totals
from engine.desk.plans.tree import Forest, children, named, with_descendants
from engine.desk.plans.weight import COUNTED, weigh
from engine.desk.views import MAX_PAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from engine.desk.plans.model import Preview
    from engine.desk.plans.tree import Node
    from engine.desk.plans.weight import Weight

CIRCLE: Final = "is its own ancestor: commit a checkpoint with another origin first"
RECENT: Final = timedelta(minutes=10)
"""A child that was updated within it is worth a second look."""
_KEPT: Final = ("audit rows", "a tombstone of each thread that numbered events", "the spend ledger")


def preview_delete(
    connection: Connection,
    environment: str,
    thread_ids: Iterable[str],
    reach: Reach = Reach.TREE,
    budget: Budget | None = None,
) -> Preview:
    """These threads, each guarded by its token, latest checkpoint and next event. Wants a SNAPSHOT.

    A live claim on any of them blocks the plan; one that is over, whose holder may still be at work, is a warning as
    on a release, and so is money that is held for them, as the spend ledger stays. PlanRefused, why "too wide",
    beyond the budget.
    """
    budget = Budget() if budget is None else budget
    ids = list(dict.fromkeys(check_id("thread_ids", each) for each in thread_ids))
    at, draft = moment(connection), Draft(budget)
    planned = _planned(connection, ids, Reach(reach), draft, budget)
    weight = weigh(connection, {node.thread_id: _events(node) for node in planned}, budget)
    money = _held(connection, planned, budget)
    for node in planned:
        _add(draft, node, weight, money)
    _judge(draft, planned, money, at)
    doubted = _doubt(connection, draft, planned, at, budget)
    for kind in sorted(weight.unknown):
        draft.warn(f"rows of kind {kind} could not be counted in time; they go too, and no number names them")
    asked = {"reach": Reach(reach).value, "asked": len(ids)}
    return draft.preview(Deed.DELETE, environment, asked, at, _totals(planned, weight, money, at, doubted))


def _planned(
    connection: Connection, ids: Sequence[str], reach: Reach, draft: Draft, budget: Budget
) -> list[Node]:
    """What can be deleted, descendants first; the rest goes apart."""
    found = named(connection, ids, budget)
    for thread_id in ids:
        if thread_id not in found or found[thread_id].empty:
            found.pop(thread_id, None)
            draft.apart(thread_id, GONE)
    if reach is Reach.TREE:
        forest, left = with_descendants(connection, found, budget), dict[str, str]()
    else:
        forest = Forest(found)
        left = _left_below(connection, forest, list(found), budget)
    for thread_id in forest.circles():
        draft.apart(thread_id, CIRCLE)
    planned: list[Node] = []
    for node in forest.below_first():
        child = left.get(node.thread_id)
        if child is None:
            planned.append(node)
            continue
        draft.apart(node.thread_id, f"has a child that stays, {child}: plan the tree")
        left.setdefault(str(node.row.parent_id), node.thread_id)
    return planned


def _left_below(connection: Connection, forest: Forest, ids: Sequence[str], budget: Budget) -> dict[str, str]:
    """For each thread with a child outside of the plan, that child."""
    return {
        row.parent_id: row.thread_id
        for row in children(connection, ids, budget)
        if row.thread_id not in forest
    }


def _events(node: Node) -> int:
    return 0 if node.row.first_seq is None else int(node.row.next_seq - node.row.floor_seq)


def _held(connection: Connection, planned: Sequence[Node], budget: Budget) -> dict[str, HeldMoney]:
    """The open day reservations of those threads that have any."""
    found: dict[str, HeldMoney] = {}
    ids = [node.thread_id for node in planned]
    for start in range(0, len(ids), MAX_PAGE):
        budget.check()
        page = held(connection, ids[start : start + MAX_PAGE])
        found |= {thread_id: money for thread_id, money in page.items() if money.open}
    return found


def _add(draft: Draft, node: Node, weight: Weight, money: dict[str, HeldMoney]) -> None:
    row, thread_id = node.row, node.thread_id
    guard = {"token": row.claim_token, "checkpoint": row.latest_id, "next_seq": row.next_seq}
    guard |= {"next_write": row.next_write}
    note: dict[str, Any] = {"depth": node.depth, "parent": row.parent_id, "event": _events(node)}
    note |= {kind: weight.of(kind, thread_id) for kind in COUNTED}
    note |= {"tenant": tenant_of(row.tenant_key), "status": row.latest_status}
    if thread_id in money:
        note["micro"] = money[thread_id].micro
    draft.add(ItemKind.THREAD, thread_id, guard, note)


def _judge(draft: Draft, planned: Sequence[Node], money: dict[str, HeldMoney], at: int) -> None:
    for node in planned:
        row = node.row
        if _live(node, at):
            until = shown_instant(row.claim_expires_at)
            draft.block(
                f"{node.thread_id}: {row.claim_holder} holds it, token {row.claim_token}, until {until}"
            )
        if node.depth and row.updated_at is not None and at - row.updated_at < span_ns(RECENT):
            minutes = max(at - row.updated_at, 0) // 60_000_000_000
            told = f"{minutes} min ago" if minutes else "less than a minute ago"
            draft.warn(f"{node.thread_id}: a child, updated {told}")
    for thread_id, each in money.items():
        more = f"more than {MAX_HELD}" if each.more else str(each.open)
        draft.warn(f"{thread_id}: {more} open reservations stay, {dollars(each.micro)} USD held")


def _doubt(connection: Connection, draft: Draft, planned: Sequence[Node], at: int, budget: Budget) -> int:
    """Warn of claims that are over, but whose holder wrote or renewed shortly before; how many they are."""
    over = [node.thread_id for node in planned if node.row.claim_token is not None and not _live(node, at)]
    doubted = 0
    for batch in budget.batches(over):
        found = claims_on(connection, batch)
        told = [doubt(found[thread_id], at) for thread_id in batch if thread_id in found]
        for text in filter(None, told):
            draft.warn(text)
            doubted += 1
    return doubted


def _live(node: Node, at: int) -> bool:
    return node.row.claim_token is not None and node.row.claim_expires_at > at


def _totals(
    planned: Sequence[Node], weight: Weight, money: dict[str, HeldMoney], at: int, doubted: int
) -> Totals:
    micro = sum(each.micro for each in money.values())
    claims = Counter(_live(node, at) for node in planned if node.row.claim_token is not None)
    lines = lines_of(
        weight,
        len(planned),
        sum(node.row.metadata_keys for node in planned),
        (sum(each.open for each in money.values()), f"{dollars(micro)} USD"),
        (claims.total(), claims[True], doubted),
    )
    return Totals(rows=rows_of(lines), bytes=bytes_of(lines), lines=lines, kept=_KEPT, micro=micro)
