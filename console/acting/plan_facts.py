"""What is said of a plan: what goes, what stays, what stands in the way, the rows apart, the tree (console.md 5.3)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from console import claim_facts, present
from console.acting.deeds import WORDS, Deed
from console.acting.plans import PlanState
from console.acting.standing import is_over, left
from console.facts import title
from console.present import Cell, Safe, Tone, own, pad, safe, several
from console.widgets.columns import Scene

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from console.acting.model import Person
    from console.acting.planning import Made
    from console.acting.plans import PlanItem, PlanLine, PlanView
    from console.acting.records import AuditRow
    from console.claims_model import ClaimStory
    from console.jsontext import Line

_KIND: Final = 14
_ROWS: Final = 10
_BYTES: Final = 11
_LONG: Final = 600
_WIDE: Final = 100
_LABELS: Final = {
    "micro": "held",
    "figure": "recorded",
    "expires_at": "expires",
    "next_check_at": "check at",
    "next_seq": "next event",
    "floor": "events kept from",
    "checkpoint": "checkpoints",
    "event": "events",
}
_FIRST: Final = ("becomes", "micro", "figure", "units", "owner")
"""What an item says first, where it says it."""
_ABOVE: Final = 3
"""Warnings that stand above the table; the others follow below it, so that a low screen still shows the table."""
_BESIDES: Final = frozenset({"reservation", "claim"})
"""Lines of a delete that its total does not hold: they tell what else touches the threads."""
_SOURCES: Final[dict[object, str]] = {
    "default": "the default, nobody is asked; the items say what each becomes, and fenced rows stay",
    "resolver": "{}, asked row by row; what it cannot tell stays held, to be asked about again",
    "ask": "you, row by row: a form opens for each, and a row without an answer stays as it is",
}
"""Who decides in a pass, by the source that the plan keeps."""
_INSTANTS: Final = frozenset({"expires_at", "next_check_at", "deleted_at", "until", "before"})
"""What guards and notes hold as nanoseconds since 1970."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def lines(made: Made, person: Person, now: datetime, room: int) -> tuple[Line, ...]:
    """All of it, section by section, for a person who looks at it now."""
    view, items, command = made.view, made.items, made.command
    return (
        *_heading(view, now, room),
        *_blockers(view, room),
        *_done(view, made.done, room),
        *_holder(made.claim, person, now, room),
        *_decides(view, room),
        *_hindrances(made, room),
        *_table(view),
        *_pace(made, room),
        *_kept(view, room),
        *_more_warnings(made, room),
        *_apart(view, room),
        *_items(view, items, room),
        *_signature(view),
        title("EQUIVALENT COMMAND (y copies it)"),
        *_prose(Cell(own(" ")), command, room),
    )


def _prose(head: Cell, text: str, room: int, tone: Tone = Tone.PLAIN) -> Iterator[Line]:
    """Words behind a head, folded between words and under each other."""
    indent = present.width(head.text)
    first, *others = present.wrap(safe(text, _LONG), max(room - indent, 10)) or (own(""),)
    yield head, Cell(first, tone)
    for rest in others:
        yield Cell(own(" " * indent)), Cell(Safe(rest.lstrip(" ")), tone)


def _entry(name: Cell, text: str, room: int) -> Iterator[Line]:
    """A name and what is said of it: behind it where both fit, else below, folded between words."""
    if present.width(name.text) + 2 + present.width(safe(text, _LONG)) <= room:
        yield name, Cell(safe(f"  {text}", _LONG), Tone.MUTED)
        return
    yield (name,)
    yield from _prose(Cell(own("      ")), text, room, Tone.MUTED)


def standing(view: PlanView, now: datetime) -> tuple[Cell, ...]:
    """The plan's number, its age and the time it has left: the right end of the line under the header."""
    age = Cell(own(f"age {present.span(max(timedelta(0), now - view.made_at))} "), Tone.MUTED)
    if view.state is PlanState.PREVIEW:
        return Cell(own(" PREVIEW  "), Tone.WARN), age
    over = is_over(view, now)
    word = PlanState.EXPIRED if over else view.state
    tone = Tone.GOOD if word is PlanState.READY else Tone.WARN
    cells = [
        Cell(safe(f" plan {short(view)}  "), Tone.STRONG),
        Cell(own(f"{word.value.upper()}  "), tone),
        age,
    ]
    remaining = left(view, now)
    if word in {PlanState.READY, PlanState.AWAITING, PlanState.BLOCKED} and remaining is not None:
        hurry = remaining < timedelta(minutes=1)
        cells.append(Cell(own(f" left {present.span(remaining)} "), Tone.BAD if hurry else Tone.MUTED))
    return tuple(cells)


def short(view: PlanView) -> str:
    """The plan's id as it is read out: what is enough to know it by."""
    return "" if view.id is None else view.id.removeprefix("pln_")[:8]


def _heading(view: PlanView, now: datetime, room: int) -> Iterator[Line]:
    frozen = "as it is" if view.state is PlanState.PREVIEW else "frozen"
    at = present.instant(view.made_at) if room >= _WIDE else present.page_time(view.made_at)
    told = at if at.startswith("in ") or at.endswith(" ago") else f"at {at}"
    said = f"{frozen} {told}; only these ids, at these versions"
    yield from _prose(Cell(own(f"{WORDS[view.deed].does}  "), Tone.ACCENT), said, room, Tone.MUTED)
    if view.state is PlanState.PREVIEW:
        yield (Cell(own(" A preview: nothing is stored, and it cannot be executed."), Tone.WARN),)
    elif is_over(view, now):
        yield (Cell(own(" EXPIRED: it is refused from now on and never renewed."), Tone.BAD),)


def _done(view: PlanView, done: AuditRow | None, room: int) -> Iterator[Line]:
    """Who was first (console.md 3.1, row 29)."""
    if view.state is not PlanState.EXECUTED:
        return
    who = "" if done is None else f" by {done.actor} at {present.instant(done.at)}"
    yield from _prose(
        Cell(own(" ALREADY DONE"), Tone.WARN), f"{who}: job {view.job}; enter opens it", room, Tone.WARN
    )


def _holder(claim: ClaimStory | None, person: Person, now: datetime, room: int) -> Iterator[Line]:
    """Whose lock would be broken, and whether it is this person's own."""
    if claim is None:
        return
    yield title("WHOSE CLAIM")
    yield from claim_facts.of_row(claim.row, claim, Scene(now), room - 1)
    own_one = person.user in claim.row.holder or person.host in claim.row.holder
    told = "it names you or this machine" if own_one else f"it names neither {person.user} nor {person.host}"
    yield (Cell(own(" is it you?  "), Tone.MUTED), Cell(safe(told, 200), Tone.GOOD if own_one else Tone.WARN))


def _decides(view: PlanView, room: int) -> Iterator[Line]:
    """Who answers in a reconcile pass (console.md F1)."""
    source = view.params.get("source")
    if view.deed is Deed.RECONCILE and source in _SOURCES:
        resolver = view.params.get("resolver") or "the configured resolver"
        yield from _prose(Cell(own(" who decides: "), Tone.ACCENT), _SOURCES[source].format(resolver), room)


def _table(view: PlanView) -> Iterator[Line]:
    """What goes, its sum, and of a delete what else touches the threads."""
    besides = _BESIDES if view.deed is Deed.DELETE else frozenset[str]()
    kinds = max([_KIND, *(len(line.kind) + 1 for line in view.lines)])
    yield (Cell(own(_row(kinds, "kind", "rows", "bytes", "notes")), Tone.MUTED),)
    for line in view.lines:
        if line.kind not in besides:
            yield _line(kinds, line)
    low, high = view.seconds
    told = (
        f"{several(view.items, 'item')}; {low:,.0f}-{high:,.0f} s"
        if high >= 1
        else f"{several(view.items, 'item')}; under a second"
    )
    yield (Cell(own(_row(kinds, "TOTAL", f"{view.rows:,}", _size(view.bytes), told)), Tone.STRONG),)
    for line in view.lines:
        if line.kind in besides:
            yield _line(kinds, line)
    if view.micro or view.units:
        money = f" at stake: {present.usd(view.micro)} USD" + (
            f", {several(view.units, 'unit')}" if view.units else ""
        )
        yield (Cell(own(money), Tone.WARN),)


def _line(kinds: int, line: PlanLine) -> Line:
    known = line.rows is not None
    rows = f"{line.rows:,}" if known else "?"
    cells = _row(kinds, line.kind, rows, _size(line.bytes), line.note)
    tone = Tone.WARN if not known else Tone.PLAIN if line.rows else Tone.MUTED
    return (Cell(safe(cells, _LONG), tone),)


def _row(kinds: int, kind: str, rows: str, size: str, note: str) -> str:
    return f" {pad(safe(kind), kinds)}{rows:>{_ROWS}} {size:>{_BYTES}}  {note}".rstrip()


def _size(count: int | None) -> str:
    return "-" if not count else present.size(count)


def _pace(made: Made, room: int) -> Iterator[Line]:
    """How the limit of jobs, where there is one, stretches it; what was executed has its own."""
    view, rate = made.view, made.rate
    if not rate or view.state is PlanState.EXECUTED or view.items <= 0:
        return
    least = max(view.items / rate, view.seconds[0])
    span = f", so {least:,.0f} s or longer" if least >= 1 else ""
    said = f" items a second at most, as [jobs] rate says{span}"
    yield from _prose(Cell(own(f" its job: {rate:,}"), Tone.MUTED), said, room, Tone.MUTED)


def _kept(view: PlanView, room: int) -> Iterator[Line]:
    if view.kept:
        yield from _prose(Cell(own(" kept: "), Tone.GOOD), ", ".join(view.kept), room)
    if view.deed is not Deed.RELEASE:
        said = "what changed meanwhile is skipped and told; nothing outside the plan is touched"
        yield from _prose(Cell(own(" ")), said, room, Tone.MUTED)


def _blockers(view: PlanView, room: int) -> Iterator[Line]:
    """Above all else: with one of them nothing of the rest will happen."""
    for text in view.blockers:
        yield from _prose(Cell(own(" [stop] "), Tone.BAD), text, room)
    if view.blockers and view.deed is Deed.DELETE:
        yield (Cell(own("        L plans the release of these claims"), Tone.MUTED),)


def _warned(made: Made) -> tuple[str, ...]:
    """What this console knows of it, then what the plan says."""
    named = made.unanswered
    if not named:
        return made.view.warnings
    said = (
        f"no resolver is configured here for {', '.join(named)}: their rows will fail and stay as they are; the "
        f'configuration names one as [resolvers] "{named[0]}" = "module:function"'
    )
    return (said, *made.view.warnings)


def _hindrances(made: Made, room: int) -> Iterator[Line]:
    """Above the table, where a low screen shows them."""
    view, warned = made.view, _warned(made)
    for text in warned[:_ABOVE]:
        yield from _prose(Cell(own(" [warn] "), Tone.WARN), text, room)
    if len(warned) > _ABOVE:
        yield (Cell(own(f"        and {len(warned) - _ABOVE:,} more warnings, below the table"), Tone.WARN),)
    if view.needs_approval:
        said = "not yet" if view.approved_by is None else f"given by {view.approved_by}"
        yield from _prose(Cell(own(" [need] "), Tone.WARN), f"another person's approval: {said}", room)
    if not view.blockers and not warned:
        yield (Cell(own(" [ok]   "), Tone.GOOD), Cell(own("no blocker and no warning")))


def _more_warnings(made: Made, room: int) -> Iterator[Line]:
    for text in _warned(made)[_ABOVE:]:
        yield from _prose(Cell(own(" [warn] "), Tone.WARN), text, room)


def _apart(view: PlanView, room: int) -> Iterator[Line]:
    if not view.apart_count:
        return
    yield title(f"NOT APPLICABLE ({view.apart_count:,}): left as they are")
    for each in view.apart:
        yield from _entry(Cell(safe(f"  {each.id}", 200)), each.reason, room)
    more = view.apart_count - len(view.apart)
    if more:
        yield (Cell(own(f"  and {more:,} more"), Tone.MUTED),)


def _items(view: PlanView, items: Sequence[PlanItem], room: int) -> Iterator[Line]:
    """The first items; of a delete they stand as the tree they are, its roots above (they go last)."""
    if not items:
        return
    tree = view.deed is Deed.DELETE
    yield title("TREE (v shows the items)" if tree else "ITEMS (v shows all of each)")
    for item in reversed(items) if tree else items:
        yield from _item(item, room, tree=tree)
    more = view.items - len(items)
    if more > 0:
        yield (Cell(own(f"  and {more:,} more: v shows them"), Tone.MUTED),)


def _item(item: PlanItem, room: int, *, tree: bool) -> Iterator[Line]:
    depth = item.note.get("depth") if tree else 0
    indent = f"{'   ' * (depth - 1)}`- " if isinstance(depth, int) and depth > 0 else ""
    return _entry(Cell(safe(f"  {indent}{item.id}", 200), Tone.STRONG), told(item), room)


def told(item: PlanItem) -> str:
    """What an item amounts to, in a line: what it notes that is more than its place, what it becomes first."""
    facts = {**item.guard, **item.note}
    if facts.get("figure") == facts.get("micro"):
        facts.pop("figure", None)
    left_out = {"depth", "parent", "tenant", "checkpoints"}
    order = sorted(facts, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return "  ".join(
        f"{_LABELS.get(name, name)} {_value(name, facts[name])}"
        for name in order
        if _says(name, facts[name], left_out)
    )


def _says(name: str, value: object, left_out: set[str]) -> bool:
    return name not in left_out and value not in (None, 0, "") and not isinstance(value, dict | list)


def _value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in _INSTANTS and isinstance(value, int):
        return present.instant(_EPOCH + timedelta(microseconds=value // 1_000))
    if name in {"micro", "figure"} and isinstance(value, int):
        return f"{present.usd(value)} USD"
    return (
        f"{value:,}"
        if isinstance(value, int)
        else str(value).replace("_", " ")
        if name == "verdict"
        else str(value)
    )


def _signature(view: PlanView) -> Iterator[Line]:
    if view.id is None:
        return
    yield (Cell(safe(f" plan {view.id}  by {view.actor}  for {view.environment}", _LONG), Tone.MUTED),)
    yield (Cell(safe(f" hash {view.hash}", _LONG), Tone.MUTED),)
