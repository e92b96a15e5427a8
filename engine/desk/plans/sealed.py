"""A plan's stored text, and the hash that finds every later change of it (ruling 55)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any

from engine.checkpoints.records import Undecodable
from engine.database.columns import dump
from engine.desk.plans.model import Item, ItemKind, Line, NotApplicable, Totals

if TYPE_CHECKING:
    from collections.abc import Iterable

ItemText = tuple[int, str, str, str, str]
"""n, kind, object_id, then guard and note as they are stored."""


def item_text(item: Item) -> ItemText:
    """An item as its row holds it."""
    guard, note = dump("guard", item.guard), dump("note", item.note)
    return item.n, item.kind.value, item.object_id, guard, note


def item_of(row: Any) -> Item:
    """A `plan_item` row; Undecodable for one that was not written as such."""
    try:
        note = {} if row.note is None else json.loads(row.note)
        return Item(row.n, ItemKind(row.kind), row.object_id, json.loads(row.guard), note)
    except (ValueError, TypeError) as error:
        raise Undecodable(f"item {row.n} of a plan: {error}") from error


def totals_text(totals: Totals, *, needs_approval: bool) -> str:
    """Both as one JSON object; `totals_of` reads it back."""
    return dump("totals", {"totals": asdict(totals), "needs_approval": needs_approval})


def totals_of(text: str) -> tuple[Totals, bool]:
    """The totals, and whether another actor's approval is needed."""
    body = json.loads(text)
    facts = body["totals"]
    least, most = facts.pop("seconds")
    facts["lines"] = tuple(Line(**each) for each in facts["lines"])
    facts["not_applicable"] = tuple(NotApplicable(**each) for each in facts["not_applicable"])
    for name in ("blockers", "warnings", "kept"):
        facts[name] = tuple(facts[name])
    return Totals(**facts, seconds=(least, most)), bool(body["needs_approval"])


@dataclass(frozen=True, slots=True)
class Header:
    """What a plan's header seals, as its row holds it: texts, and its two instants in nanoseconds.

    The instants, for a plan must not outlive its time; the actor, for whoever made a plan must not approve it.
    """

    kind: str
    environment: str
    params: str
    totals: str
    actor: str
    created_at: int
    expires_at: int


def hash_of(header: Header, items: Iterable[ItemText]) -> str:
    """SHA-256, in hexadecimal, over the header and the items: what was confirmed cannot change unseen."""
    digest = hashlib.sha256(dump("plan", list(astuple(header))).encode())
    for item in items:
        digest.update(b"\n")
        digest.update(dump("plan", item).encode())
    return digest.hexdigest()
