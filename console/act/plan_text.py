"""A plan on standard output: what goes, what stands in the way, what is left out, and how it is confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console import present
from console.acting.deeds import WORDS
from console.present import Safe, own, safe, several
from console.read import table
from console.read.documents import document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.acting.plans import PlanView

LONG: Final = 2_000
"""Cells of one remark."""
LINES: Final = (
    table.name("kind"),
    table.number("rows"),
    table.Column("BYTES", lambda row: _bytes(row["bytes"]), right=True),
    table.name("note"),
)
PLANS: Final = (
    table.name("id", "PLAN"),
    table.name("deed"),
    table.name("environment"),
    table.name("state"),
    table.number("items"),
    table.number("rows"),
    table.name("actor", "MADE BY"),
    table.moment("made_at", "MADE"),
    table.moment("expires_at", "ENDS"),
    table.name("job"),
)
ITEMS: Final = (
    table.number("n", "#"),
    table.name("kind"),
    table.name("id"),
    table.Column("AS SEEN", lambda row: _pairs(row["guard"])),
    table.Column("NOTE", lambda row: _pairs(row["note"])),
)


def lines(view: PlanView, command: str | None, rate: int = 0) -> Iterator[Safe]:
    """All of it; `command` is what executes it, None where nothing does; `rate` the limit of its job, if any."""
    yield own(f"{WORDS[view.deed].title} on {safe(view.environment)}")
    shown = list(map(document, view.lines))
    if shown:
        yield from table.lines(LINES, shown)
    pace = [("its job", own(f"{rate:,} items a second at most"))] if rate else []
    yield from table.facts([*_facts(view), *pace])
    yield own(f"-- as of {table.at(view.as_of)}")
    if command is not None:
        yield own(f"next: {command}") if command.isprintable() else safe(f"next: {command}", LONG)


def _facts(view: PlanView) -> Iterator[tuple[str, Safe]]:
    yield "in all", _total(view)
    if view.micro or view.units:
        yield "at stake", own(f"{present.usd(view.micro)} USD, {several(view.units, 'unit')}")
    for label, told in (("stays", view.kept), ("BLOCKED", view.blockers), ("warning", view.warnings)):
        for each in told:
            yield label, safe(each, LONG)
    for row in view.apart:
        yield "left out", own(f"{safe(row.id)}: {safe(row.reason)}")
    if view.apart_count > len(view.apart):
        yield "left out", own(f"{view.apart_count - len(view.apart):,} more")
    if view.items:
        yield "phrase", safe(view.phrase)
    yield from _identity(view)


def _total(view: PlanView) -> Safe:
    low, high = view.seconds
    time = "under a second" if high < 1 else f"{low:,.0f} to {high:,.0f} s"
    return own(f"{several(view.rows, 'row')}, {_bytes(view.bytes)}, in {several(view.items, 'item')}; {time}")


def _identity(view: PlanView) -> Iterator[tuple[str, Safe]]:
    if view.id is None:
        why = "a dry run stores nothing, and cannot be executed" if view.items else "nothing would be changed"
        yield "plan", own(f"none: {why}")
        return
    approved = "" if view.approved_by is None else f", approved by {safe(view.approved_by)}"
    yield "plan", own(f"{safe(view.id)}, {view.state.value}{approved}")
    yield "made by", safe(view.actor)
    yield "ends", table.at(view.expires_at)
    if view.job is not None:
        yield "job", safe(view.job)


def _bytes(count: int | None) -> Safe:
    return present.NOTHING if count is None else present.size(count)


def _pairs(found: Any) -> Safe:
    return safe(" ".join(f"{key}={value}" for key, value in found.items()), LONG)
