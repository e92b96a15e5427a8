"""What the lines around a screen say: store, freshness, banner, screens and keys. Pure functions to cells."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console import actions, times
from console.calls import LONG_SECONDS
from console.model import NOT_ALLOWED
from console.present import Cell, Tone, instant, own, page_time, safe, width
from console.refresh import Condition, Freshness
from console.times import Telling
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
_REASONS: Final = {
    REFUSED: "THE STORE REFUSES THIS FILTER (esc clears it)",
    NOT_ALLOWED: "THIS ROLE MAY NOT READ THAT",
}
_SCREENS: Final = (
    "overview",
    "threads",
    "claims",
    "reservations",
    "fences",
    "events",
    "jobs",
    "audit",
    "queue",
    "budgets",
)
NOTED_SKEW: Final = timedelta(seconds=2)
"""A difference between two clocks that the way of an answer, a second at most, does not explain."""
_SEARCHED: Final = "field:value  !field:value  ~pattern"
_FEW: Final = 2
"""Fields of a filter that does no more than name them: the overview's."""
_ASKING: Final = 14
"""Cells that the word needs that something is being asked."""
_TONES: Final = {
    Condition.WAITING: Tone.INFO,
    Condition.LIVE: Tone.GOOD,
    Condition.PAUSED: Tone.WARN,
    Condition.STALE: Tone.BAD,
}


def freshness(state: Freshness, as_of: datetime | None, now: float, skew: timedelta | None = None) -> Line:
    """The header's right part: whether the data is live, its time in the store's clock, and its age; then how far
    this machine's clock is ahead of the store's, where that is more than a query can take.
    """
    word = Cell(own(f"  {state.condition.value}"), _TONES[state.condition])
    parts: list[Cell] = [word]
    if state.condition is Condition.LIVE:
        parts.append(Cell(own(f" {state.interval:g}s"), Tone.MUTED))
    elif state.since is not None:
        parts.append(Cell(own(f" {seconds(now - state.since)}"), _TONES[state.condition]))
    if as_of is not None:
        parts.append(Cell(own(f"  as of {_as_of(state, as_of, now)}"), Tone.MUTED))
    if skew is not None and abs(skew) >= NOTED_SKEW:
        sign = "-" if skew < timedelta(0) else "+"
        parts.append(Cell(own(f"  our clock {sign}{seconds(abs(skew).total_seconds())}"), Tone.WARN))
    return (*parts, Cell(own(" ")))


def _as_of(state: Freshness, as_of: datetime, now: float) -> str:
    """The time of the data, in the words of the page: an age where times are told as ages."""
    if times.TOLD.telling is Telling.RELATIVE and state.since is not None:
        return f"{seconds(now - state.since)} ago"
    return page_time(as_of)


def too_small(columns: int, rows: int) -> Line:
    """What is said instead of a screen that would not fit."""
    return (Cell(own(f" {columns}x{rows}: too small, 80x24 is needed (q quits)"), Tone.WARN),)


def seconds(count: float) -> str:
    """A short span for the header."""
    return f"{int(count)}s" if count < 60 else f"{int(count) // 60}m{int(count) % 60:02d}s"


def banner(state: Freshness, as_of: datetime | None, now: float, unknown: int = 0) -> tuple[Cell, ...]:
    """What is said over the data while the store does not answer, a paragraph a cell, and of how many changes the
    outcome is unknown; nothing while all is well.
    """
    if state.cause is None:
        return _unknown(unknown)
    due = "" if state.next_at is None else f", next in {max(0, round(state.next_at - now))}s"
    old = (
        "nothing has been read yet" if as_of is None else f"the data below is OLD: {_read(state, as_of, now)}"
    )
    what = _REASONS.get(state.cause.code, NO_ANSWER)
    return (
        Cell(own(f"!! {what}   attempt {state.attempt}{due}   r asks now"), Tone.BAD),
        Cell(own(f"!! {old}"), Tone.WARN),
        *_unknown(unknown),
        Cell(safe(state.cause.message, 600)),
    )


def _unknown(count: int) -> tuple[Cell, ...]:
    if not count:
        return ()
    have = "1 operation has" if count == 1 else f"{count:,} operations have"
    return (Cell(own(f"!! {have} UNKNOWN outcome: u"), Tone.BAD),)


def _read(state: Freshness, as_of: datetime, now: float) -> str:
    if times.TOLD.telling is Telling.RELATIVE and state.since is not None:
        return f"read {seconds(now - state.since)} ago"
    return f"as of {instant(as_of)}"


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
        runs = action.name == "jobs" and session.job_here is not None
        tone = Tone.HEAD if here else Tone.WARN if runs else Tone.MUTED
        cells.append(Cell(own(f"{_name(action, room)}{'> ' if runs else '  '}"), tone))
    if session.calls.running:
        word = "asking" if session.calls.longest < LONG_SECONDS else "esc stops"
        cells.append(Cell(own(f" {word} {session.calls.running}/{session.calls.limit}"), Tone.MUTED))
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
        Purpose.FILTER: ("apply", _SEARCHED if len(words) > _FEW else "  ".join(words)),
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
