"""What the form of a resolution says beside its fields: both sides, the checks, the effect (console.md F5 and 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import facts, money, money_facts, present
from console.facts import Fact, fact, title
from console.money_words import HoldState, Kind
from console.present import Cell, Tone, own, pad, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.acting.effect import Effect
    from console.acting.resolving import Check
    from console.jsontext import Line
    from console.money_model import ReservationRow, ReservationStory
    from console.widgets.columns import Scene

EVIDENCE_SHOWN: Final = 400
"""Characters of what a resolver left; the reservation's own screen has it whole."""
RUNS_SHOWN: Final = 4
_TONES: Final = {"ok": Tone.GOOD, "warn": Tone.WARN, "need": Tone.BAD}


def reservation(story: ReservationStory, scene: Scene, room: int) -> tuple[Line, ...]:
    """The left side: which one it is, and how it stands."""
    row = story.row
    told = [
        money_facts.identity(row),
        *money_facts.first(row, scene),
        *money_facts.further(row),
    ]
    if row.age is not None:
        told.append(fact("age", present.span(row.age + scene.elapsed)))
    return title("RESERVATION"), *facts.grid(told, room, most=2 if room > 80 else 1)


def known(story: ReservationStory, room: int) -> tuple[Line, ...]:
    """The other side: what our own store has of it, oldest first."""
    row = story.row
    lines: list[Line] = [title("WHAT OUR STORE KNOWS")]
    lines += [_line(item, room) for item in money_facts.times(row)]
    for run in reversed(story.runs[:RUNS_SHOWN]):
        ended = "never ended" if run.ended_at is None else f"ended, {_settled(run.settled)}"
        lines.append(_line(fact(f"run {run.run:,}", own(f"{present.instant(run.began_at)}  {ended}")), room))
    if row.deferrals:
        lines.append(_line(fact("deferred", money_facts.deferred(row)), room))
    lines += _left_behind(story, room)
    return tuple(lines)


def _settled(micro: int | None) -> str:
    return "nothing told" if micro is None else f"told {money.usd(micro)}"


def _left_behind(story: ReservationStory, room: int) -> list[Line]:
    if story.evidence is None:
        return [(Cell(own("no answer about it was ever written down"), Tone.MUTED),)]
    text = own(f"last answer: {safe(story.evidence, EVIDENCE_SHOWN)}")
    return [(Cell(line, Tone.INFO),) for line in present.wrap(text, room)]


def _line(item: Fact, room: int) -> Line:
    return Cell(pad(item.label, 12), Tone.MUTED), Cell(
        present.clip(item.value.text, room - 12), item.value.tone
    )


def checks(found: Sequence[Check], room: int) -> tuple[Line, ...]:
    """One line for each, its weight first."""
    lines: list[Line] = [title("CHECKS")]
    for check in found:
        head, *rest = present.wrap(safe(check.text, 300), max(room - 8, 2))
        tone = _TONES.get(check.weight, Tone.PLAIN)
        lines.append((Cell(pad(own(f" [{check.weight}]"), 8), tone), Cell(head)))
        lines += [(Cell(own(" " * 8)), Cell(more)) for more in rest]
    return tuple(lines)


def standing(now: ReservationStory | None, *, same: bool) -> str:
    """How it stands against what was shown; both come from one read each (row 43)."""
    if now is None:
        return "it is gone: the store holds no such reservation any more"
    if same:
        return f"still as shown: {_guard(now)}, {now.row.state}"
    if now.row.state is HoldState.SETTLED:
        return f"settled meanwhile{_at(now.row)}; what was typed stays, and is not sent"
    return f"changed meanwhile: {_guard(now)}, {now.row.state}; r takes what stands now, what was typed stays"


def _at(row: ReservationRow) -> str:
    return "" if row.settled_at is None else f", {present.instant(row.settled_at)}"


def _guard(story: ReservationStory) -> str:
    if story.row.address.kind is Kind.METER:
        return f"attempt {story.row.attempt or 0:,}, expires {present.instant(story.row.expires_at)}"
    count = story.row.deferrals or 0
    return f"deferred {count:,} time{'' if count == 1 else 's'}"


def effect(story: ReservationStory, found: Effect | None, room: int) -> tuple[Line, ...]:
    """The books before and after."""
    if found is None:
        return ((Cell(own("EFFECT"), Tone.ACCENT), Cell(own("  choose an outcome"), Tone.MUTED)),)
    row = story.row
    day = row.address.kind is Kind.DAY
    where = f"day {row.period}" if day else f"account {row.owner}, {row.period}"
    if found.before == found.after:
        text = f"  {safe(where)} stays as it is; only the next check moves"
        return ((Cell(own("EFFECT"), Tone.ACCENT), Cell(own(text))),)
    parts = (
        ("reserved", found.before.reserved, found.after.reserved),
        ("settled" if day else "used", found.before.spent, found.after.spent),
        ("committed", found.before.committed, found.after.committed),
    )
    unit = "USD" if day else "units"
    moved = "   ".join(f"{name} {_figure(was, row)} -> {_figure(then, row)}" for name, was, then in parts)
    head = Cell(own("EFFECT"), Tone.ACCENT)
    text = own(f"{safe(where)}   {moved} {unit}")
    first, *rest = present.wrap(text, max(room - 8, 2))
    return (head, Cell(own(f"  {first}"), Tone.STRONG)), *(
        (Cell(own(f"        {line}"), Tone.STRONG),) for line in rest
    )


def _figure(value: int, row: ReservationRow) -> str:
    return present.usd(value) if row.address.kind is Kind.DAY else f"{value:,}"
