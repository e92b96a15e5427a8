"""What operators did, newest first: intents, and what they came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import audit_facts, audit_filters, present, tables
from console.acting.names import object_of
from console.commands import OpenOperation
from console.lists.sorting import Served
from console.lists.view import Question, View
from console.present import Cell, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.acting.records import AuditQuery, AuditRow
    from console.sieve import Values
    from console.widgets.columns import Scene


_KIND: Final = 11
"""Cells that a kind gets at most, of the column's least."""


def _at(row: AuditRow, scene: Scene) -> Cell:
    return Cell(present.clock(row.at, scene.as_of))


def _object(row: AuditRow, _scene: Scene) -> Cell:
    return Cell(present.safe(f"{row.object_kind} {row.object_id}"), Tone.STRONG)


def _drawn(row: AuditRow, _scene: Scene, cells: int) -> Cell:
    """The kind is never shortened away by a long id."""
    kind = present.clip(present.safe(row.object_kind), _KIND)
    return Cell(own(f"{kind} {middle(present.safe(row.object_id), cells - len(kind) - 1)}"), Tone.STRONG)


COLUMNS: Final[tuple[Column[AuditRow], ...]] = (
    Column(own("AT"), 10, _at, right=True, by=lambda row: row.at),
    Column(own("PHASE"), 8, lambda row, _: audit_facts.phase(row)),
    Column(own("DEED"), 9, lambda row, _: Cell(present.safe(row.deed)), most=17),
    Column(own("OBJECT"), 20, _object, most=44, drawn=_drawn),
    Column(own("BY"), 10, lambda row, _: Cell(present.safe(row.actor)), most=24, shorten=middle),
    Column(own("REASON"), 10, lambda row, _: tables.maybe(row.reason), most=40),
    Column(own("ROUTE"), 8, lambda row, _: Cell(present.safe(row.route), Tone.MUTED), most=14, leaves=2),
    Column(
        own("OPERATION"), 11, lambda row, _: Cell(present.safe(row.operation)), most=35, leaves=1, shorten=middle
    ),
    Column(
        own("ENTRY"), 7, lambda row, _: Cell(present.number(row.seq), Tone.MUTED), right=True, leaves=3,
        by=lambda row: row.seq,
    ),
)  # fmt: skip

AUDIT: Final[View[AuditRow]] = View(
    title=own("Audit"),
    order=own("newest first"),
    none=own("nobody has changed anything by hand here yet"),
    columns=COLUMNS,
    key=lambda row: str(row.seq),
    facts=lambda row, _extra, scene, room: audit_facts.of_row(row, scene, room),
    opens=lambda row: OpenOperation(row.operation),
    owner=lambda row: object_of(row.object_kind, row.object_id),
    orphan=own("no screen shows this object"),
    copies=lambda row: row.operation,
    ids="audit",
    served=Served("AT", falling=True),
    history=lambda row: audit_filters.of_object(row.object_kind, row.object_id),
)

FIELDS: Final[Values] = {
    "actor": lambda row: row.actor,
    "op": lambda row: row.operation,
    "deed": lambda row: row.deed,
    "phase": lambda row: row.phase,
    **{
        kind: (lambda row, kind=kind: row.object_id if row.object_kind == kind else None)  # type: ignore[misc]
        for kind in audit_filters.OBJECTS
    },
}
"""What a row has of a filter's fields."""


def audit(query: AuditQuery) -> Question[AuditRow]:
    """The entries that match."""
    return Question(AUDIT, lambda gateway, after, limit: gateway.audit(query, after, limit))
