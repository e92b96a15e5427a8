"""Who holds claims, by name: how many live ones each has, and how many that are over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console import present
from console.facts import Fact, fact, grid
from console.lists.claims import renewal
from console.lists.sorting import Served
from console.lists.view import Question, View, claims_of
from console.present import Cell, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.claims_model import HolderRow
    from console.jsontext import Line
    from console.widgets.columns import Scene


def _number(count: int, tone: Tone, *, more: bool) -> Cell:
    return Cell(own(f"{count:,}{'+' if more else ''}"), tone if count else Tone.MUTED)


COLUMNS: Final[tuple[Column[HolderRow], ...]] = (
    Column(
        own("HOLDER"), 24, lambda row, _: Cell(present.safe(row.holder), Tone.STRONG), most=60, shorten=middle
    ),
    Column(
        own("LIVE"),
        7,
        lambda row, _: _number(row.live, Tone.GOOD, more=row.more),
        right=True,
        by=lambda row: row.live,
    ),
    Column(
        own("EXPIRED"),
        7,
        lambda row, _: _number(row.expired, Tone.BAD, more=row.more),
        right=True,
        by=lambda row: row.expired,
    ),
    Column(
        own("FIRST EXPIRY"),
        12,
        lambda row, scene: Cell(present.clock(row.first_expiry, scene.as_of)),
        right=True,
        by=lambda row: row.first_expiry,
    ),
    Column(
        own("LAST RENEWED"),
        13,
        lambda row, scene: renewal(row.silent + scene.elapsed),
        right=True,
        by=lambda row: row.silent,
    ),
)


def _facts(row: HolderRow, _extra: Any, scene: Scene, room: int) -> tuple[Line, ...]:
    told = (
        fact("holder", present.safe(row.holder), Tone.STRONG),
        Fact(own("live claims"), _number(row.live, Tone.GOOD, more=row.more)),
        fact("no renewal for", present.span(row.silent + scene.elapsed)),
        Fact(own("expired, not released"), _number(row.expired, Tone.BAD, more=row.more)),
        fact("first expiry", present.instant(row.first_expiry)),
        fact("last renewal", present.instant(row.last_renewal)),
    )
    return grid(told, room, most=2)


HOLDERS: Final[View[HolderRow]] = View(
    title=own("Claims by holder"),
    order=own("by name"),
    none=own("nobody holds a thread"),
    columns=COLUMNS,
    key=lambda row: row.holder,
    facts=_facts,
    opens=lambda row: claims_of(row.holder),
    owner=lambda row: claims_of(row.holder),
    ids="holders",
    served=Served("HOLDER"),
)


def holders() -> Question[HolderRow]:
    """All of them; the store keeps no count."""
    return Question(HOLDERS, lambda gateway, after, limit: gateway.holders(after, limit))
