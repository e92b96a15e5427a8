"""A plan with all its items as JSON lines, and the items page by page."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console.model import Page
from console.read.documents import as_json, document

if TYPE_CHECKING:
    from console.acting.plans import PlanItem, PlanView
    from console.read.documents import Document
    from console.reading import Gateway

PAGE: Final = 200
MOST_PAGES: Final = 51
"""A plan holds at most 10,000 items (ruling 55); one page more ends a loop that should have ended."""


def document_of(view: PlanView) -> Document:
    """A plan; a preview brings its items."""
    made = document(view)
    least, most = made.pop("seconds")
    made["least_seconds"], made["most_seconds"] = timedelta(seconds=least), timedelta(seconds=most)
    items = made.pop("preview_items")
    if not view.items:
        made["phrase"] = None  # nothing that could be confirmed
    return made | {"preview_items": items} if view.id is None else made


def text_of(gateway: Gateway, view: PlanView) -> tuple[str, int]:
    """The plan in the first line, an item in each of the others, and how many; blocks, GatewayError."""
    items = all_items(gateway, view)
    header = document_of(view)
    header.pop("preview_items", None)
    lines = [header, *map(document, items)]
    return "".join(f"{as_json(line)}\n" for line in lines), len(items)


def all_items(gateway: Gateway, view: PlanView) -> tuple[PlanItem, ...]:
    """Every item, in the order in which it will be changed; blocks, GatewayError."""
    return view.preview_items if view.id is None else items_of(gateway, view.id)


def items_of(gateway: Gateway, plan: str) -> tuple[PlanItem, ...]:
    """The same of a stored plan."""
    found: list[PlanItem] = []
    after: str | None = None
    for _ in range(MOST_PAGES):
        page = gateway.plan_items(plan, after, PAGE)
        found += page.rows
        after = page.next
        if after is None:
            break
    return tuple(found)


def page_of(gateway: Gateway, view: PlanView, after: str | None, limit: int) -> Page[PlanItem]:
    """A page of a stored plan's items, or of those that a preview was shown with."""
    if view.id is not None:
        return gateway.plan_items(view.id, after, limit)
    start = int(after or 0)
    end = start + limit
    more = str(end) if end < len(view.preview_items) else None
    return Page(view.preview_items[start:end], more, view.as_of)
