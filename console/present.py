"""The one place that makes stored text harmless and formats times, money, numbers and ids (console.md F7,
F11).

Widgets take `Safe` text only, and only this module makes it. Control characters, bidirectional controls and
everything without a width of its own become visible escapes such as `<U+001B>`, so no stored text can move
the cursor, write the clipboard or reorder a line, and every remaining character is as wide as the terminal
thinks.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NewType

from console import alphabet, times
from console.claims_model import Verdict
from console.model import Counted, ThreadState
from console.money_words import HoldState
from console.queue_model import QueueState

Safe = NewType("Safe", str)
"""Text without anything a terminal could obey."""

CELL_LIMIT: Final = 200
"""Characters of a stored text that a cell looks at."""
TEXT_LIMIT: Final = 4_000
"""Characters of a stored text that a pane looks at."""
COMBINING_LIMIT: Final = 3
"""Combining marks kept on one character; more of them climb into the neighbouring lines."""
NOTHING: Final = Safe("-")

_MILLION: Final = 1_000_000
_ESCAPED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_PLAIN_SPACES: Final = frozenset({" ", "\u3000"})
_BLANKS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_JOINERS: Final = frozenset(
    [
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
        "\u034f",
        "\u180b",
        "\u180c",
        "\u180d",
    ]
)
_PAIRED_SYMBOLS: Final = frozenset([*map(chr, range(0x1F1E6, 0x1F200)), *map(chr, range(0x1F3FB, 0x1F400))])


class Tone(StrEnum):
    """What a colour may say. Every tone stands beside a word that says it too."""

    PLAIN = "plain"
    MUTED = "muted"
    STRONG = "strong"
    HEAD = "head"
    ACCENT = "accent"
    GOOD = "good"
    INFO = "info"
    WARN = "warn"
    BAD = "bad"
    GONE = "gone"
    TAG_RED = "red tag"
    TAG_AMBER = "amber tag"
    TAG_GREEN = "green tag"
    TAG_CYAN = "cyan tag"
    TAG_BLUE = "blue tag"
    TAG_VIOLET = "violet tag"
    TAG_GREY = "grey tag"


TAGS: Final = frozenset(tone for tone in Tone if tone.name.startswith("TAG_"))
"""Tones of a word that stands on its colour instead of being written in it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One piece of text and its tone; what every list, pane and line is made of."""

    text: Safe
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class StateMark:
    """A state's glyph, word and tone (console.md, the table at its top)."""

    glyph: str
    tone: Tone


STATES: Final = {
    ThreadState.RUNNING: StateMark("o", Tone.GOOD),
    ThreadState.IDLE: StateMark(".", Tone.WARN),
    ThreadState.SUSPENDED: StateMark("=", Tone.INFO),
    ThreadState.COMPLETED: StateMark("#", Tone.MUTED),
    ThreadState.FAILED: StateMark("x", Tone.BAD),
    ThreadState.DELETED: StateMark("T", Tone.GONE),
}
QUEUE_STATES: Final = {
    QueueState.QUEUED: StateMark(".", Tone.INFO),
    QueueState.LEASED: StateMark("o", Tone.GOOD),
    QueueState.DONE: StateMark("#", Tone.MUTED),
    QueueState.DEAD: StateMark("x", Tone.BAD),
    QueueState.CANCELLED: StateMark("-", Tone.GONE),
}
HOLD_STATES: Final = {
    HoldState.OPEN: StateMark("o", Tone.GOOD),
    HoldState.EXPIRED: StateMark("X", Tone.BAD),
    HoldState.FENCED: StateMark("!", Tone.INFO),
    HoldState.DUE: StateMark("!", Tone.WARN),
    HoldState.SETTLED: StateMark("#", Tone.MUTED),
}
VERDICTS: Final = {Verdict.SAFE: Tone.GOOD, Verdict.ALIVE: Tone.WARN}


def own(text: str) -> Safe:
    """Text of the console's own, which needs no cleaning: titles, labels, words."""
    return Safe(text)


def safe(text: str, limit: int = CELL_LIMIT) -> Safe:
    """Stored text made harmless; at most `limit` characters of it, then how many were left out."""
    if len(text) > limit:
        return Safe(f"{_escaped(text[:limit])}..(+{len(text) - limit:,})")
    return _escaped(text)


def optional(text: str | None, limit: int = CELL_LIMIT) -> Safe:
    """As `safe`; a dash for None."""
    return NOTHING if text is None else safe(text, limit)


def _escaped(text: str) -> Safe:
    if text.isascii() and text.isprintable():
        return Safe(text)
    shown: list[str] = []
    marks = COMBINING_LIMIT
    for character in text:
        mark = _is_mark(character)
        marks = marks + 1 if mark else 0
        kept = marks <= COMBINING_LIMIT and bool(shown) if mark else _stands_alone(character)
        shown.append(character if kept else f"<U+{ord(character):04X}>")
    return Safe("".join(shown))


def _is_mark(character: str) -> bool:
    """Whether a character is drawn on the one before it."""
    known = not alphabet.DRAWN.ascii_only and character not in _JOINERS
    return known and unicodedata.category(character) in {"Mn", "Me"}


def _stands_alone(character: str) -> bool:
    """Whether a character is drawn by itself, with a width that terminals agree on."""
    if alphabet.DRAWN.ascii_only and not character.isascii():
        return False
    if character in _PLAIN_SPACES:
        return True
    if character in _BLANKS or character in _JOINERS or character in _PAIRED_SYMBOLS:
        return False
    return unicodedata.category(character) not in _ESCAPED_CATEGORIES and cells_of(character) > 0


def cells_of(character: str) -> int:
    """The cells that a printable character takes; none for one that is drawn on another."""
    if character.isascii():
        return 1
    from wcwidth import wcwidth  # many tables, loaded by the first character that needs them

    return max(wcwidth(character), 0)


def width(text: Safe) -> int:
    """The cells that a text takes."""
    return len(text) if text.isascii() else sum(map(cells_of, text))


def clip(text: Safe, cells: int) -> Safe:
    """The text in at most `cells` cells, cut at its end."""
    if width(text) <= cells:
        return text
    return Safe(_head(text, max(cells - 2, 0)) + ".."[:cells])


def middle(text: Safe, cells: int) -> Safe:
    """The text in at most `cells` cells, cut in its middle: ids differ at their ends."""
    if width(text) <= cells:
        return text
    if cells <= 3:
        return clip(text, cells)
    head = min(4, (cells - 2) // 3)
    return Safe(f"{_head(text, head)}..{_tail(text, cells - 2 - head)}")


def pad(text: Safe, cells: int, *, right: bool = False) -> Safe:
    """The text clipped or filled to exactly `cells` cells; numbers stand to the right."""
    clipped = clip(text, cells)
    room = " " * (cells - width(clipped))
    return Safe(room + clipped if right else clipped + room)


def _head(text: str, cells: int) -> str:
    taken, used = 0, 0
    for character in text:
        used += cells_of(character)
        if used > cells:
            break
        taken += 1
    return text[:taken]


def _tail(text: str, cells: int) -> str:
    taken, used = 0, 0
    for character in reversed(text):
        used += cells_of(character)
        if used > cells:
            break
        taken += 1
    kept = text[len(text) - taken :]
    while kept and cells_of(kept[0]) == 0:  # a mark without its base would sit on the dots
        kept = kept[1:]
    return kept


def split(text: Safe, cells: int) -> tuple[Safe, Safe]:
    """The part of a text that fits into so many cells, and the rest of it."""
    head = _head(text, cells)
    return Safe(head), Safe(text[len(head) :])


def wrap(text: Safe, cells: int) -> tuple[Safe, ...]:
    """Prose in lines of at most so many cells, broken at blanks where there are any."""
    lines: list[Safe] = []
    rest = text
    while width(rest) > cells >= 2:
        head, _ = split(rest, cells + 1)
        blank = head.rfind(" ")
        line, rest = (Safe(rest[:blank]), Safe(rest[blank + 1 :])) if blank > 0 else split(rest, cells)
        lines.append(line)
    return (*lines, rest)


def several(count: int, noun: str) -> Safe:
    """A number of things: `1 row`, `2 rows`."""
    return own(f"{count:,} {noun}{'' if count == 1 else 's'}")


def number(value: int | None) -> Safe:
    """An integer, exact, with separators; a dash for None."""
    return NOTHING if value is None else Safe(f"{value:,}")


def counted(value: Counted) -> Safe:
    """A capped count, honest about its cap."""
    return Safe(f"{value.count:,}{'+' if value.more else ''}")


def usd(micro: int) -> Safe:
    """Micro-dollars as dollars, exactly, from integers."""
    sign, magnitude = "-" if micro < 0 else "", abs(micro)
    return Safe(f"{sign}{magnitude // _MILLION:,}.{magnitude % _MILLION:06d}")


def size(count: int) -> Safe:
    """A number of bytes, rounded for reading."""
    if count < 10_000:
        return Safe(f"{count:,} B")
    if count < 10_000_000:
        return Safe(f"{count // 1000:,} kB")
    return Safe(f"{count // _MILLION:,} MB")


def instant(at: datetime | None) -> Safe:
    """Date and time to the millisecond: twenty-four cells in UTC, five more in local time, or an age."""
    return NOTHING if at is None else Safe(times.instant(at))


def clock(at: datetime | None, as_of: datetime) -> Safe:
    """An instant for a column of ten cells: the time of day on the day of `as_of`, else the date, or an age."""
    return NOTHING if at is None else Safe(times.clock(at, as_of))


def stamp(at: datetime) -> Safe:
    """The time of day to the millisecond, or an age: at most thirteen cells."""
    return Safe(times.stamp(at))


def title(text: Safe) -> Safe:
    """A column's title, which says how its times are told."""
    return Safe(times.titled(text))


def page_time(as_of: datetime) -> Safe:
    """The store's time for a header, with the zone that the page is told in."""
    return Safe(times.page(as_of))


def age(span: timedelta | None) -> Safe:
    """How long ago, for a list: seconds below a minute, whole minutes above (ruling 59), in steps of ten seconds
    from ten on; a negative one is a clock's fault.
    """
    if span is None:
        return NOTHING
    return own("clock?") if span < timedelta(0) else _rounded(int(span.total_seconds()))


def lease(left: timedelta | None) -> Safe:
    """The rest of a lease with its sign, in the steps of `age`: `+19s`, `-3m`."""
    if left is None:
        return NOTHING
    sign = "-" if left < timedelta(0) else "+"
    return Safe(f"{sign}{_rounded(int(abs(left).total_seconds()))}")


def span(length: timedelta | None) -> Safe:
    """A length of time to the second below an hour, for a place that shows one of them: `3m12s`."""
    if length is None:
        return NOTHING
    seconds = int(length.total_seconds())
    if seconds < 0:
        return own("clock?")
    if seconds < 60:
        return Safe(f"{seconds}s")
    return Safe(f"{seconds // 60}m{seconds % 60:02d}s") if seconds < 3600 else _rounded(seconds)


def _rounded(seconds: int) -> Safe:
    return Safe(times.rounded(seconds))


def state(value: ThreadState) -> Cell:
    """A thread's state: glyph, word and tone."""
    mark = STATES[value]
    return Cell(Safe(f"{mark.glyph} {value.value}"), mark.tone)


def claim_state(*, live: bool) -> Cell:
    """Whether a claim's lease runs: glyph, word and tone."""
    return Cell(own("o LIVE"), Tone.GOOD) if live else Cell(own("X EXPIRED"), Tone.BAD)


def queue_state(value: QueueState, *, lapsed: bool) -> Cell:
    """A queue entry's state; a lease that is over is told from one that runs."""
    if lapsed:
        return Cell(own("X LAPSED"), Tone.BAD)
    mark = QUEUE_STATES[value]
    return Cell(Safe(f"{mark.glyph} {value.name}"), mark.tone)


def hold_state(value: HoldState) -> Cell:
    """A reservation's state: glyph, word and tone."""
    mark = HOLD_STATES[value]
    return Cell(Safe(f"{mark.glyph} {value.name}"), mark.tone)


def verdict(value: Verdict) -> Cell:
    """What may be said of a claim's holder."""
    return Cell(own(value.value), VERDICTS[value])
