"""What a sweep would take now: a dry run is its preview, and its plan never takes more (rulings 54 and 55)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.desk.audit.model import Deed
from engine.desk.moment import moment
from engine.desk.plans.budget import Budget
from engine.desk.plans.draft import Draft
from engine.desk.plans.model import Totals
from engine.desk.plans.sweep_asked import SweepAsked, SweepPart
from engine.desk.plans.sweep_rows import sweep_meters, sweep_tables
from engine.desk.plans.sweep_threads import sweep_threads

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.plans.model import Line, Preview

_KEPT: Final = (
    "the latest checkpoint of each thread, with its writes",
    "what open queue entries point at",
    "whatever the configured guard protects when it is done",
    "the spend ledger, audit rows",
)
_OF_THREADS: Final = frozenset({SweepPart.THREADS, SweepPart.TOMBSTONES})


def preview_sweep(
    connection: Connection, environment: str, asked: SweepAsked, budget: Budget | None = None
) -> Preview:
    """Per thread the checkpoints and the floor, tombstones by their delete, tables and meters by an instant.

    Wants a SNAPSHOT. PlanRefused, why "too wide", beyond the budget; ValidationError for a table or meter that the
    database does not have.
    """
    budget = Budget() if budget is None else budget
    at, draft = moment(connection), Draft(budget)
    lines: tuple[Line, ...] = ()
    if asked.parts & _OF_THREADS:
        lines += sweep_threads(connection, asked, draft, budget).lines()
    if SweepPart.LAPSED in asked.parts:
        lines += (sweep_tables(connection, asked, draft, at, budget),)
    if SweepPart.METERS in asked.parts and asked.before is not None:
        lines += (sweep_meters(connection, asked, asked.before, draft, budget),)
    rows = sum(line.rows or 0 for line in lines)
    sizes = [line.bytes for line in lines]
    known = [size for size in sizes if size is not None]
    weight = sum(known) if len(known) == len(sizes) else None
    totals = Totals(rows=rows, bytes=weight, lines=lines, kept=_KEPT)
    return draft.preview(Deed.SWEEP, environment, asked.facts(), at, totals)
