"""What the form of a resolution says beside its fields: both sides, the checks, the effect (console.md F5 and 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import facts, money, money_facts, present
from console.acting import decisions
from console.acting.resolution_form import Outcome
from console.facts import Fact, fact, title
from console.money_words import HoldState, Kind
from console.present import Cell, Tone, own, pad, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.acting.decisions import Decision
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


def known(
    story: ReservationStory, decided: Sequence[Decision] | None, room: int, unread: str = ""
) -> tuple[Line, ...]:
    """The other side: what our own store has of it, oldest first. `decided` is what the audit has, newest first, None
    before it was read; `unread` says why it could not be.
    """
    row = story.row
    lines: list[Line] = [title("WHAT OUR STORE KNOWS")]
    lines += [_line(item, room) for item in money_facts.times(row)]
    for run in reversed(story.runs[:RUNS_SHOWN]):
        ended = "never ended" if run.ended_at is None else f"ended, {_settled(run.settled)}"
        lines.append(_line(fact(f"run {run.run:,}", own(f"{present.instant(run.began_at)}  {ended}")), room))
    if row.deferrals:
        lines.append(_line(fact("deferred", money_facts.deferred(row)), room))
    lines += _decided(decided, room, unread)
    lines += _left_behind(story, decided, room)
    return tuple(lines)


def _settled(micro: int | None) -> str:
    return "nothing told" if micro is None else f"told {money.usd(micro)}"


def _decided(decided: Sequence[Decision] | None, room: int, unread: str) -> list[Line]:
    """The last decision by hand or by a pass."""
    if unread:
        return _folded(f"decisions not read: {unread}", room, Tone.WARN)
    if not decided:
        return []
    more = f"; {len(decided) - 1:,} before it" if len(decided) > 1 else ""
    return _folded(f"last decision: {decisions.in_short(decided[0])}{more}", room, Tone.INFO)


def _folded(text: str, room: int, tone: Tone) -> list[Line]:
    return [(Cell(line, tone),) for line in present.wrap(safe(text, EVIDENCE_SHOWN), room)]


def _left_behind(story: ReservationStory, decided: Sequence[Decision] | None, room: int) -> list[Line]:
    unasked = decided is None or decided or story.row.state is HoldState.SETTLED
    if story.evidence is None and unasked:
        return []
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


def over(row: ReservationRow, decided: Sequence[Decision] | None, room: int) -> tuple[Line, ...]:
    """In the place of an effect, of a settled one: at what, by whom as far as the audit knows, and that this is all."""
    found = None if decided is None else decisions.settling(decided)
    by = "" if decided is None else "; by no decision in the audit: its worker or a sweep did it"
    if found is not None:
        by = f"; by {found.row.actor}, {found.row.deed} {found.row.operation}"
    return _effect(f"none: {money_facts.over(row)}{by}. Nothing is left to decide", room, Tone.PLAIN)


def _effect(text: str, room: int, tone: Tone) -> tuple[Line, ...]:
    first, *rest = present.wrap(safe(text, EVIDENCE_SHOWN), max(room - 8, 2))
    return (Cell(own("EFFECT"), Tone.ACCENT), Cell(own(f"  {first}"), tone)), *(
        (Cell(own(f"        {line}"), tone),) for line in rest
    )


def effect(
    story: ReservationStory, found: Effect | None, room: int, chosen: Outcome | None = None
) -> tuple[Line, ...]:
    """The books before and after; `chosen` is said where it is no whole answer yet."""
    row = story.row
    day = row.address.kind is Kind.DAY
    where = f"day {row.period}" if day else f"account {row.owner}, {row.period}"
    if chosen is Outcome.LEAVE or (found is not None and found.before == found.after):
        return _effect(f"{where} stays as it is; {_left(row)}", room, Tone.PLAIN)
    if found is None:
        text = "choose an outcome" if chosen is None else "not known yet: see the checks"
        return _effect(text, room, Tone.MUTED)
    parts = (
        ("reserved", found.before.reserved, found.after.reserved),
        ("settled" if day else "used", found.before.spent, found.after.spent),
        ("committed", found.before.committed, found.after.committed),
    )
    unit = "USD" if day else "units"
    moved = "   ".join(f"{name} {_figure(was, row)} -> {_figure(then, row)}" for name, was, then in parts)
    return _effect(f"{where}   {moved} {unit}", room, Tone.STRONG)


def _left(row: ReservationRow) -> str:
    """What it does to leave one deferred: the first time fences it."""
    if row.fenced:
        return "only the next check moves"
    return "it becomes FENCED: no default settles it any more, only a resolver or a person"


def _figure(value: int, row: ReservationRow) -> str:
    return present.usd(value) if row.address.kind is Kind.DAY else f"{value:,}"
