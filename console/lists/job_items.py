"""What became of a job's items, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import job_facts, present
from console.acting import job_words
from console.commands import OpenOperation
from console.lists.sorting import Served
from console.lists.view import Question, View
from console.present import Cell, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.acting.jobs import ItemOutcome, JobItemRow

COLUMNS: Final[tuple[Column[JobItemRow], ...]] = (
    Column(own("ITEM"), 6, lambda row, _: Cell(present.number(row.n)), right=True, by=lambda row: row.n),
    Column(
        own("OBJECT"), 16, lambda row, _: Cell(present.safe(row.id), Tone.STRONG), most=44, shorten=middle
    ),
    Column(own("OUTCOME"), 9, lambda row, _: job_words.outcome(row.outcome)),
    Column(
        own("WHY"), 16, lambda row, _: Cell(present.safe(row.why) if row.why else present.NOTHING), most=60
    ),
    Column(
        own("OPERATION"),
        12,
        lambda row, _: Cell(present.safe(row.operation), Tone.MUTED),
        most=40,
        leaves=1,
        shorten=middle,
    ),
    Column(
        own("STORED"),
        10,
        lambda row, scene: Cell(present.clock(row.at, scene.as_of)),
        right=True,
        leaves=2,
        by=lambda row: row.at,
    ),
)

ITEMS: Final[View[JobItemRow]] = View(
    title=own("Items"),
    order=own("in their order"),
    none=own("no item has a result yet"),
    columns=COLUMNS,
    key=lambda row: str(row.n),
    facts=lambda row, _extra, _scene, room: job_facts.of_item(row, room),
    opens=lambda row: OpenOperation(row.operation),
    copies=lambda row: row.id,
    ids="items",
    served=Served("ITEM"),
)


def items(job: str, outcome: ItemOutcome | None) -> Question[JobItemRow]:
    """The items of a job that have a result."""
    return Question(ITEMS, lambda gateway, after, limit: gateway.job_items(job, outcome, after, limit))
