"""The threads of the store, and those of them that stopped half-way."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from console import audit_filters, facts, tables
from console.commands import OpenThread
from console.lists.sorting import Served
from console.lists.view import Question, Tally, View, claims_of
from console.model import IncompleteQuery, ThreadQuery, ThreadRow, ThreadState
from console.present import own

if TYPE_CHECKING:
    from console.jsontext import Line
    from console.model import Page
    from console.reading import Gateway
    from console.widgets.columns import Scene

COUNTED_STATES: Final = frozenset({ThreadState.IDLE})


def _facts(row: ThreadRow, _extra: Any, scene: Scene, room: int) -> tuple[Line, ...]:
    return facts.of_row(row, scene, room)


THREADS: Final[View[ThreadRow]] = View(
    title=own("Threads"),
    order=own("newest first"),
    none=own("no threads yet"),
    columns=tables.THREADS,
    key=lambda row: row.id,
    facts=_facts,
    opens=lambda row: OpenThread(row.id),
    owner=lambda row: None if row.holder is None else claims_of(row.holder),
    ids="threads",
    history=lambda row: audit_filters.of_thread(row.id),
    served=Served("UPDATED", falling=True),
)
BY_ID: Final = replace(THREADS, order=own("by id"), served=Served("THREAD"))
INCOMPLETE: Final = replace(
    THREADS,
    title=own("Incomplete"),
    order=own("longest untouched first"),
    none=own("no thread stopped half-way"),
    served=Served("UPDATED"),
)


def threads(query: ThreadQuery) -> Question[ThreadRow]:
    """The threads that match; a prefix puts them in the order of their ids."""
    both_ends = query.prefix is None and query.metadata is None
    return Question(
        THREADS if query.prefix is None else BY_ID,
        lambda gateway, after, limit: gateway.threads(query, after, limit),
        partial(_counted, query=query),
        from_end=partial(_from_end, query=query) if both_ends else None,
    )


def incomplete(query: IncompleteQuery) -> Question[ThreadRow]:
    """The threads that nobody has carried on."""
    newest_first = ThreadQuery(tenant=query.tenant, states=COUNTED_STATES)
    return Question(
        INCOMPLETE,
        lambda gateway, after, limit: gateway.incomplete(query, after, limit),
        partial(_counted, query=newest_first),
        from_end=lambda gateway, after, limit: gateway.threads(newest_first, after, limit),
    )


def _from_end(gateway: Gateway, after: str | None, limit: int, query: ThreadQuery) -> Page[ThreadRow]:
    return gateway.threads_from_end(query, after, limit)


def _counted(gateway: Gateway, query: ThreadQuery) -> Tally:
    return Tally(gateway.count_threads(query))
