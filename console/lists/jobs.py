"""Jobs, newest first: who runs each, how far it is, what its items came to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from console import audit_filters, job_facts, present, tables
from console.acting import job_words
from console.acting.jobs import JobQuery, JobState
from console.commands import OpenJob
from console.lists.sorting import Served
from console.lists.view import Question, View
from console.present import Cell, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from datetime import timedelta

    from console.acting.jobs import JobRow
    from console.lists.view import Tally as Tally
    from console.model import Page
    from console.reading import Gateway
    from console.widgets.columns import Scene


def _state(row: JobRow, scene: Scene) -> Cell:
    cell = job_words.state(row.state)
    return cell if scene.fresh else Cell(own(f"{cell.text}?"), Tone.MUTED)


def _left(row: JobRow, scene: Scene) -> timedelta | None:
    """What was left of the lease when the store answered."""
    return None if row.lease_until is None else row.lease_until - scene.as_of


def _lease(row: JobRow, scene: Scene) -> Cell:
    return tables.lease(_left(row, scene), scene)


def _bar(row: JobRow, _scene: Scene, cells: int) -> Cell:
    return Cell(job_words.bar(row, cells), job_words.STATES[row.state].tone)


def _nothing(_row: object, _scene: Scene) -> Cell:
    return Cell(own(""))


def _count(value: int, tone: Tone) -> Cell:
    return Cell(present.number(value), tone if value else Tone.MUTED)


COLUMNS: Final[tuple[Column[JobRow], ...]] = (
    Column(own("JOB"), 12, lambda row, _: Cell(present.safe(row.id), Tone.STRONG), most=36, shorten=middle),
    Column(own("DEED"), 9, lambda row, _: Cell(present.safe(row.deed))),
    Column(own("STATE"), 13, _state),
    Column(
        own("ENVIRONMENT"),
        11,
        lambda row, _: Cell(present.safe(row.environment)),
        most=16,
        leaves=2,
        shorten=middle,
    ),
    Column(own("PROGRESS"), 18, _nothing, most=40, drawn=_bar, by=lambda row: row.done / max(row.total, 1)),
    Column(
        own("SKIPPED"),
        7,
        lambda row, _: _count(row.skipped, Tone.WARN),
        right=True,
        leaves=5,
        by=lambda row: row.skipped,
    ),
    Column(
        own("FAILED"),
        6,
        lambda row, _: _count(row.failed, Tone.BAD),
        right=True,
        by=lambda row: row.failed,
    ),
    Column(own("RUNNER"), 10, lambda row, _: tables.maybe(row.owner), most=28, leaves=3, shorten=middle),
    Column(own("LEASE LEFT"), 10, _lease, right=True, leaves=4, by=lambda row: row.lease_until),
    Column(
        own("MADE"),
        10,
        lambda row, scene: Cell(present.clock(row.created_at, scene.as_of)),
        right=True,
        leaves=1,
        by=lambda row: row.created_at,
    ),
)

JOBS: Final[View[JobRow]] = View(
    title=own("Jobs"),
    order=own("newest first"),
    none=own("no plan was ever carried out here; tab shows the plans"),
    columns=COLUMNS,
    key=lambda row: row.id,
    facts=lambda row, _extra, scene, room: job_facts.of_row(row, scene, room),
    opens=lambda row: OpenJob(row.id),
    ids="jobs",
    history=lambda row: audit_filters.of_job(row.id),
    served=Served("MADE", falling=True),
)


def jobs(query: JobQuery) -> Question[JobRow]:
    """The jobs of a state, or all; of those that run in the store, which ones still have a runner is told by the
    lease, so that both words ask for the same rows and leave the others out.
    """
    if query.state not in _ALIVE:
        return Question(JOBS, lambda gateway, after, limit: gateway.jobs(query, after, limit))
    stored = replace(query, state=JobState.RUNNING)

    def page(gateway: Gateway, after: str | None, limit: int) -> Page[JobRow]:
        found = gateway.jobs(stored, after, limit)
        return replace(found, rows=tuple(row for row in found.rows if row.state is query.state))

    return Question(JOBS, page)


_ALIVE: Final = frozenset({JobState.RUNNING, JobState.INTERRUPTED})
