"""What deleted threads left behind: where their numbering continues, and who still writes to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console import audit_filters, present, tables
from console.commands import OpenThread
from console.facts import Fact, fact, grid
from console.lists.sorting import Served
from console.lists.view import Question, View
from console.present import Cell, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.jsontext import Line
    from console.model import TombstoneQuery, TombstoneRow
    from console.widgets.columns import Scene


def _reused(row: TombstoneRow) -> Cell:
    return Cell(own("yes"), Tone.INFO) if row.reused else Cell(own("no"), Tone.MUTED)


COLUMNS: Final[tuple[Column[TombstoneRow], ...]] = (
    Column(
        own("THREAD"), 18, lambda row, _: Cell(present.safe(row.thread), Tone.STRONG), most=44, shorten=middle
    ),
    Column(own("STATE"), 11, lambda _row, _: Cell(own("T TOMBSTONE"), Tone.GONE)),
    Column(
        own("NUMBERING CONTINUES AT"),
        22,
        lambda row, _: Cell(present.number(row.continues_at)),
        right=True,
        by=lambda row: row.continues_at,
    ),
    Column(own("IN USE AGAIN"), 12, lambda row, _: _reused(row), leaves=1),
    Column(
        own("REFUSED"),
        7,
        lambda row, _: tables.refused(row.refused),
        right=True,
        leaves=2,
        by=lambda row: row.refused,
    ),
    Column(
        own("DELETED"),
        10,
        lambda row, scene: Cell(present.clock(row.deleted_at, scene.as_of)),
        right=True,
        leaves=3,
        by=lambda row: row.deleted_at,
    ),
    Column(
        own("AGE"),
        7,
        lambda row, scene: Cell(present.age(row.age + scene.elapsed)),
        right=True,
        by=lambda row: row.age,
    ),
)


def _facts(row: TombstoneRow, _extra: Any, _scene: Scene, room: int) -> tuple[Line, ...]:
    told = (
        fact("thread", present.safe(row.thread), Tone.STRONG),
        fact("numbering continues at", present.number(row.continues_at)),
        fact("deleted", present.instant(row.deleted_at), Tone.GONE),
        Fact(own("in use again"), _reused(row)),
        Fact(own("late writers refused"), tables.refused(row.refused)),
    )
    return grid(told, room, most=2)


TOMBSTONES: Final[View[TombstoneRow]] = View(
    title=own("Tombstones"),
    order=own("last deleted first"),
    none=own("no thread was deleted yet, or every tombstone has been reclaimed"),
    columns=COLUMNS,
    key=lambda row: row.thread,
    facts=_facts,
    opens=lambda row: OpenThread(row.thread),
    ids="tombstones",
    history=lambda row: audit_filters.of_thread(row.thread),
    served=Served("DELETED", falling=True),
)


def tombstones(query: TombstoneQuery) -> Question[TombstoneRow]:
    """Those that match."""
    return Question(TOMBSTONES, lambda gateway, after, limit: gateway.tombstones(query, after, limit))
