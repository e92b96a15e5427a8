"""The tabs of a thread's screen: their names, their widgets, and the strip that names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console import queue_facts, tables
from console.lists import reservations
from console.lists.queue import THREAD_COLUMNS
from console.money_model import ReservationQuery
from console.present import Cell, Tone, own, safe, wrap
from console.widgets.fetched import FetchedPair
from console.widgets.pair import Pair, json_of
from console.widgets.pane import Pane
from console.widgets.self_reading import SelfReading
from console.widgets.window import Rest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.widget import Widget

    from console.jsontext import Line
    from console.model import Checkpoint, EventRow, MetadataPair, ThreadRow, ThreadStory
    from console.money_model import ReservationRow
    from console.queue_model import QueueRow
    from console.session import Session
    from console.widgets.columns import Scene

TABS: Final = (
    "claim",
    "checkpoints",
    "writes",
    "effects",
    "events",
    "children",
    "queue",
    "holds",
    "metadata",
)
UNCOUNTED: Final = frozenset({"claim", "holds"})
"""Tabs of which a thread's story does not tell how much they hold."""


def children_of(session: Session, thread: str) -> SelfReading[ThreadRow]:
    """A thread's children; Enter drills down into the one under the cursor."""
    return SelfReading(
        session,
        tables.THREADS,
        lambda row: row.id,
        lambda after, limit: session.gateway.children(thread, after, limit),
        order=own("earliest adopted first"),
        nothing=own("no children"),
        id="children",
    )


def holds_of(session: Session, thread: str) -> SelfReading[ReservationRow]:
    """What the day store holds for a thread; Enter opens the reservation under the cursor."""
    query = ReservationQuery(thread=thread)
    return SelfReading(
        session,
        reservations.COLUMNS,
        reservations.key,
        lambda after, limit: session.gateway.reservations(query, after, limit),
        order=own("first due first"),
        nothing=own("no day holds money for this thread; a meter keeps no thread"),
        id="holds",
    )


def widgets(session: Session, thread: str, *reading: SelfReading[Any]) -> tuple[Widget, ...]:
    """The tabs' widgets; `reading` are those that the screen made itself."""
    return (
        Pane(id="claim"),
        _checkpoints(session, thread),
        Pair(
            tables.WRITES,
            lambda row: row.id,
            lambda row, _: json_of(row.body, row.size),
            empty=own("no pending writes"),
            id="writes",
        ),
        Pair(
            tables.EFFECTS,
            lambda row: row.key,
            lambda row, _: json_of(row.value, row.size),
            empty=own("no effects"),
            id="effects",
        ),
        _events(session),
        *reading,
        Pair(
            THREAD_COLUMNS,
            lambda row: row.entry,
            _entry,
            empty=own("no run of this thread is in the queue"),
            id="queue",
        ),
        Pair(
            tables.METADATA,
            lambda row: row[0],
            _value,
            empty=own("no metadata"),
            id="metadata",
        ),
    )


def _checkpoints(session: Session, thread: str) -> FetchedPair[Checkpoint]:
    return FetchedPair(
        session,
        tables.CHECKPOINTS,
        lambda row: row.id,
        lambda row: ("", row.size),
        lambda row: session.gateway.snapshot(thread, row.id),
        empty=own("no checkpoints stored"),
        id="checkpoints",
    )


def _events(session: Session) -> FetchedPair[EventRow]:
    return FetchedPair(
        session,
        tables.THREAD_EVENTS,
        lambda row: row.position,
        lambda row: (row.payload, row.size),
        lambda row: session.gateway.payload(row.thread, row.seq),
        empty=own("no events held"),
        rest=Rest.BOTTOM,
        id="events",
    )


def _entry(row: QueueRow, scene: Scene) -> Callable[[int], Sequence[Line]]:
    return lambda room: queue_facts.of_entry(row, scene, room)


def _value(pair: MetadataPair, _scene: Scene) -> Callable[[int], Sequence[Line]]:
    text = safe(pair[1], 20_000)
    return lambda room: [(Cell(line),) for line in wrap(text, room)]


def count(story: ThreadStory, name: str) -> str:
    """How much a tab holds: a plus where there is more than was read."""
    if name in UNCOUNTED:
        return ""
    if name == "events":
        return f"{(story.next_seq or 0) - (story.floor_seq or 0):,}"
    rows: int | Sequence[Any] = getattr(story, name)
    number = rows if isinstance(rows, int) else len(rows)
    return f"{number:,}{'+' if name in story.more else ''}"


def strip(story: ThreadStory | None, current: str, room: int) -> Line:
    """The names of the tabs, the present one in brackets, with what each holds where there is room for it, and
    close together where there is little.
    """
    told = {name: "" if story is None else count(story, name) for name in TABS}
    whole = _strip(told, current, told)
    if sum(len(cell.text) for cell in whole) <= room:
        return whole
    return _strip(told, current, {current: told[current]}, close=True)


def _strip(told: dict[str, str], current: str, counts: dict[str, str], *, close: bool = False) -> Line:
    cells: list[Cell] = []
    for name in TABS:
        left, right = ("[", "]") if name == current else (" ", "" if close else " ")
        text = f"{name.capitalize()} {counts.get(name, '')}".strip()
        empty = told[name] in {"0", ""} and name not in UNCOUNTED
        tone = Tone.HEAD if name == current else Tone.MUTED if empty else Tone.PLAIN
        cells.append(Cell(own(f"{left}{text}{right}"), tone))
    return tuple(cells)


def cut_note(story: ThreadStory | None, name: str) -> str:
    """What is said where a tab holds more than it shows."""
    if story is None or name not in story.more:
        return ""
    which = {"checkpoints": "the newest", "queue": "entries of the first page,"}.get(name, "the first")
    return f"shows {which} {count(story, name).rstrip('+')}; there are more  "
