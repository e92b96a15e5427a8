"""The screen of one reservation: head, what a default does, its amounts, runs, day or account, and its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import budget_facts, jsontext, money, money_facts, present
from console.facts import Fact, fact, grid, title
from console.money_model import Fate
from console.money_words import Kind
from console.present import Cell, Tone, own, pad, safe

if TYPE_CHECKING:
    from datetime import datetime

    from console.jsontext import Line
    from console.money_model import Guard, ReservationStory, RunRow
    from console.present import Safe
    from console.widgets.columns import Scene

KINDS: Final = {Kind.DAY: "money of a day", Kind.METER: "units of a meter", Kind.TENTATIVE: "tentative row"}
_RUN: Final = 8


def head(story: ReservationStory, scene: Scene, room: int) -> tuple[Line, ...]:
    """What is said above all: state, amount, owner, where, when."""
    row = story.row
    what = "money of an operation" if row.is_operation else KINDS[row.address.kind]
    first = money_facts.first(row, scene)
    return grid((Fact(own("what"), Cell(own(what))), *first), room)


def body(
    story: ReservationStory,
    cap: int | None,
    scene: Scene,
    room: int,
    uncapped: Safe = budget_facts.NO_CAP,
) -> tuple[Line, ...]:
    """All the rest, section by section; `uncapped` is said of a day that is compared with no cap."""
    sections = (
        _default(story, scene, room),
        _facts(story, room),
        _guard(story, room),
        _runs(story),
        _beside(story, cap, room, uncapped),
        _text("EVIDENCE", story.evidence),
        _text("USAGE, AS THE CALLER TOLD IT", story.usage),
    )
    return tuple(line for section in sections if section for line in (*section, ()))


def _default(story: ReservationStory, scene: Scene, room: int) -> tuple[Line, ...]:
    over = story.fate is Fate.ALREADY_SETTLED
    said = title("WHAT BECAME OF IT" if over else "WHAT A PASS WITHOUT A RESOLVER DOES")
    return said, *money_facts.fate_lines(story.row, story.fate, scene, room)


def _facts(story: ReservationStory, room: int) -> tuple[Line, ...]:
    row = story.row
    told = [*money_facts.times(row), *money_facts.further(row)]
    if row.age is not None:
        told.append(fact("age", present.span(row.age)))
    if row.settled_micro is not None:
        told.append(fact("settled at", money.usd(row.settled_micro), Tone.STRONG))
    if story.peers is not None:
        told.append(fact("reserved beside", own(f"{present.counted(story.peers)} rows of its transaction")))
    return title("AMOUNTS AND TIMES"), *grid(told, room, most=2)


def _guard(story: ReservationStory, room: int) -> tuple[Line, ...]:
    if story.guard is None or story.fate is Fate.ALREADY_SETTLED:
        return ()
    said = f"an answer is written only {_condition(story.guard)}; else nothing is written, and you are told"
    return title("GUARD"), *((Cell(line),) for line in present.wrap(own(said), room))


def _condition(guard: Guard) -> str:
    if guard.attempt is not None:
        return f"to attempt {guard.attempt:,}, and while it expires at {present.instant(guard.expires_at)}"
    if not guard.deferrals:
        return "while it has never been deferred"
    return f"while it has been deferred {guard.deferrals:,} time{'' if guard.deferrals == 1 else 's'}"


# Runs


def _runs(story: ReservationStory) -> tuple[Line, ...]:
    if not story.runs:
        return ()
    older = f"{'THE NEWEST ' if story.more_runs else ''}{len(story.runs):,}"
    lines = (_run(run, story.as_of) for run in story.runs)
    return title(f"RUNS ({older})"), _run_titles(), *lines


def _run_titles() -> Line:
    heads = (("RUN", _RUN), ("BOUND USD", 16), ("SETTLED USD", 16), ("BEGAN", 12))
    titles = "".join(pad(own(name), cells, right=True) for name, cells in heads)
    return (Cell(own(f"{titles}  ENDED"), Tone.MUTED),)


def _run(run: RunRow, as_of: datetime) -> Line:
    ended = _ended(run, as_of)
    settled = present.NOTHING if run.settled is None else present.usd(run.settled)
    return (
        Cell(pad(present.number(run.run), _RUN, right=True)),
        Cell(pad(present.usd(run.bound), 16, right=True)),
        Cell(pad(settled, 16, right=True), Tone.STRONG),
        Cell(pad(present.clock(run.began_at, as_of), 12, right=True)),
        Cell(own(f"  {ended.text}"), ended.tone),
    )


def _ended(run: RunRow, as_of: datetime) -> Cell:
    if run.ended_at is not None:
        return Cell(present.clock(run.ended_at, as_of))
    return Cell(own("holds the lease"), Tone.GOOD) if run.holds else Cell(own("never ended"), Tone.BAD)


# Beside it


def _beside(story: ReservationStory, cap: int | None, room: int, uncapped: Safe) -> tuple[Line, ...]:
    if story.day is not None:
        return title(f"DAY {safe(story.day.day)}"), *budget_facts.day_lines(story.day, cap, room, uncapped)
    if story.account is not None:
        name = safe(f"{story.account.account}, {story.account.period}")
        return title(f"ACCOUNT {name}"), *budget_facts.account_lines(story.account, room)
    missing = {Kind.DAY: "its day has no row of totals", Kind.METER: "its account has no row in this period"}
    said = missing.get(story.row.address.kind)
    return () if said is None else (title("TOTALS"), (Cell(own(said), Tone.BAD),))


def _text(name: str, stored: str | None) -> tuple[Line, ...]:
    if stored is None:
        return ()
    return title(name), *jsontext.lines(stored, len(stored.encode("utf-8", "surrogatepass")))
