"""What the lines around a screen say: store, freshness, banner, screens and keys. Pure functions to cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import actions
from console.present import Cell, Tone, instant, own, safe, width
from console.refresh import Condition, Freshness
from console.widgets.prompt import Purpose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from console.actions import Action
    from console.jsontext import Line
    from console.session import Session

REFUSED: Final = "validation"
"""The code of an error that says a question is out of the store's bounds."""
NO_ANSWER: Final = "NO ANSWER FROM THE STORE"
_SCREENS: Final = ("overview", "threads", "claims", "reservations", "fences", "events", "queue", "budgets")
_ASKING: Final = 14
"""Cells that the word needs that something is being asked."""
_TONES: Final = {
    Condition.WAITING: Tone.INFO,
    Condition.LIVE: Tone.GOOD,
    Condition.PAUSED: Tone.WARN,
    Condition.STALE: Tone.BAD,
}


def freshness(state: Freshness, as_of: datetime | None, now: float) -> Line:
    """The header's right part: whether the data is live, its time in the store's clock, and its age."""
    word = Cell(own(f"  {state.condition.value}"), _TONES[state.condition])
    parts: list[Cell] = [word]
    if state.condition is Condition.LIVE:
        parts.append(Cell(own(f" {state.interval:g}s"), Tone.MUTED))
    elif state.since is not None:
        parts.append(Cell(own(f" {seconds(now - state.since)}"), _TONES[state.condition]))
    if as_of is not None:
        parts.append(Cell(own(f"  as of {instant(as_of)[11:19]}Z"), Tone.MUTED))
    return (*parts, Cell(own(" ")))


def too_small(columns: int, rows: int) -> Line:
    """What is said instead of a screen that would not fit."""
    return (Cell(own(f" {columns}x{rows}: too small, 80x24 is needed (q quits)"), Tone.WARN),)


def seconds(count: float) -> str:
    """A short span for the header."""
    return f"{int(count)}s" if count < 60 else f"{int(count) // 60}m{int(count) % 60:02d}s"


def banner(state: Freshness, as_of: datetime | None, now: float) -> tuple[Cell, ...]:
    """What is said over the data while the store does not answer, a paragraph a cell; nothing while it
    does.
    """
    if state.cause is None:
        return ()
    due = "" if state.next_at is None else f", next in {max(0, round(state.next_at - now))}s"
    old = "nothing has been read yet" if as_of is None else f"the data below is OLD: as of {instant(as_of)}"
    what = "THE STORE REFUSES THIS FILTER (esc clears it)" if state.cause.code == REFUSED else NO_ANSWER
    return (
        Cell(own(f"!! {what}   attempt {state.attempt}{due}   r asks now"), Tone.BAD),
        Cell(own(f"!! {old}"), Tone.WARN),
        Cell(safe(state.cause.message, 600)),
    )


def screens_room(room: int) -> int:
    """Cells that the names of the screens need, and the word that something is being asked."""
    return sum(len(_name(action, room)) + 4 for action in _shown()) + _ASKING


def _shown() -> list[Action]:
    return [actions.BY_NAME[name] for name in _SCREENS]


def _name(action: Action, room: int) -> str:
    """A screen's whole name, unless all of them together would not fit."""
    whole = sum(len(each.label) + 4 for each in _shown()) + _ASKING
    return action.label if whole <= room else action.short


def screens(current: str, session: Session, room: int) -> Line:
    """The screens with their digits, the present one marked, and a sign while queries run."""
    cells: list[Cell] = [Cell(own(" "))]
    for action in _shown():
        here = action.name == current
        cells.append(Cell(own(f"{session.registry.named(action.name).key} "), Tone.ACCENT))
        cells.append(Cell(own(f"{_name(action, room)}  "), Tone.HEAD if here else Tone.MUTED))
    if session.calls.running:
        cells.append(Cell(own(f" asking {session.calls.running}/{session.calls.limit}"), Tone.MUTED))
    return tuple(cells)


def keys(footer: Sequence[Action], room: int) -> Line:
    """As many of the footer's verbs as fit; help and quit always do."""
    shown = list(footer)
    while _keys_width(shown) > room and len(shown) > 2:
        shown.pop(-3 if len(shown) > 3 else 0)
    cells: list[Cell] = []
    for action in shown:
        cells += _key_cells(action.key, action.label)
    return tuple(cells)


def prompt_keys(purpose: Purpose, words: Sequence[str], room: int) -> Line:
    """What the operator may type, and as many of the keys as fit behind it."""
    does, hint = {
        Purpose.FILTER: ("apply", "  ".join(words)),
        Purpose.COMMAND: ("run", "a verb, thr:ID, a list with a filter, at"),
        Purpose.EXPORT: ("write", "a new file that ends in .csv or .jsonl"),
    }[purpose]
    cells: list[Cell] = [Cell(own(f" {hint}  "), Tone.MUTED)]
    for key, label in (("esc", "cancel"), ("tab", "complete"), ("enter", does)):
        pair = _key_cells(key, label)
        if sum(width(cell.text) for cell in (*cells, *pair)) <= room:
            cells += pair
    return tuple(cells)


def _key_cells(key: str, label: str) -> Line:
    return Cell(own(f" {key}"), Tone.ACCENT), Cell(own(f" {label} "), Tone.MUTED)


def _keys_width(shown: Sequence[Action]) -> int:
    return sum(width(action.key) + len(action.label) + 3 for action in shown)
