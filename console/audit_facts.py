"""What the panes say of the audit: one entry, and an operation's intent and result beside each other."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from console import present
from console.facts import Fact, fact, grid, title
from console.present import Cell, Safe, Tone, middle, own, pad, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from console.acting.records import AuditRow
    from console.jsontext import Line
    from console.widgets.columns import Scene

TEXT: Final = 4_000
"""Characters of a reason or a command that are shown: as many as the audit keeps."""
_VALUE: Final = 400
_LABEL: Final = 9
_SHA: Final = 64
_WHO: Final = ("deed", "actor", "reason", "command")
"""What every entry says, and is told above."""
_INSTANTS: Final = ("_at", "_until", "before")
"""Ends of names behind which a number is a time: nanoseconds, or the meter's milliseconds (ruling 35)."""
_NS: Final = 10**17
_NS_A_MS: Final = 10**6
_STATES: Final = ("before", "after")
INTENT, RESULT = "intent", "result"


def phase(row: AuditRow) -> Cell:
    """A sign and a word: begun, or what it came to."""
    if row.phase == INTENT:
        return Cell(own("> intent"), Tone.MUTED)
    if "refused" in row.body:
        return Cell(own("- refused"), Tone.WARN)
    return Cell(own("# result"), Tone.GOOD)


def of_row(row: AuditRow, scene: Scene, room: int) -> tuple[Line, ...]:
    """The pane below the list."""
    del scene
    facts = (
        fact("deed", safe(row.deed)),
        fact("at", present.instant(row.at)),
        fact("by", safe(row.actor)),
        fact("route", safe(row.route)),
        fact("operation", safe(row.operation)),
    )
    return (
        *_one("object", f"{row.object_kind} {row.object_id}"),
        *_one("reason", row.reason),
        *grid(facts, room),
    )


def head(rows: Sequence[AuditRow], room: int) -> tuple[Line, ...]:
    """Who did it, to what, why and by which way: what intent and result share."""
    first = rows[0]
    actor = first.body.get("actor")
    person: Mapping[str, object] = actor if isinstance(actor, dict) else {}
    facts = (
        fact("deed", safe(first.deed), Tone.STRONG),
        fact("object", safe(f"{first.object_kind} {first.object_id}", _VALUE), Tone.STRONG),
        fact("by", safe(str(person.get("user", first.actor)))),
        fact("host", safe(str(person.get("host", "-")))),
        fact("db role", safe(str(person.get("role") or "-"))),
        fact("tool", safe(str(person.get("tool", "-")))),
        fact("route", safe(first.route)),
        Fact(own("came to"), came_to(rows)),
    )
    return grid(facts, room, most=2)


def came_to(rows: Sequence[AuditRow]) -> Cell:
    """In a word."""
    result = next((row for row in rows if row.phase == RESULT), None)
    if result is None:
        return Cell(own("? its end was not told"), Tone.WARN)
    if "refused" in result.body:
        return Cell(own("- refused: nothing was changed"), Tone.WARN)
    told = result.body.get("status") or result.body.get("outcome") or "done"
    return Cell(safe(f"# {told}"), Tone.GOOD)


def body(
    rows: Sequence[AuditRow], store: str, room: int, corrected_by: Sequence[str] = ()
) -> tuple[Line, ...]:
    """All the rest, section by section; `corrected_by` are the operations that put this one right."""
    facts: dict[str, object] = {}
    for row in rows:
        facts |= row.body
    sections = (
        _entries(rows, room),
        (*_why(rows[0], store), *_corrections(facts, corrected_by)),
        _difference(facts, room),
        _evidence(facts),
        _others(facts),
    )
    return tuple(line for section in sections if section for line in (*section, ()))


def _entries(rows: Sequence[AuditRow], room: int) -> tuple[Line, ...]:
    """Intent and result beside each other."""
    sides = [next((row for row in rows if row.phase == name), None) for name in (INTENT, RESULT)]
    cells = max(12, (room - _LABEL - 4) // 2)
    lines = [_beside("", (own("INTENT"), own("RESULT")), cells, Tone.ACCENT)]
    told: tuple[tuple[str, Callable[[AuditRow], Safe]], ...] = (
        ("entry", lambda row: present.number(row.seq)),
        ("at", lambda row: present.instant(row.at)),
        ("hash", lambda row: safe(row.hash)),
        ("previous", lambda row: safe(row.prev_hash)),
    )
    for label, of in told:
        pair = tuple(present.NOTHING if row is None else of(row) for row in sides)
        lines += [
            _beside(label if not n else "", piece, cells) for n, piece in enumerate(_folded(pair, cells))
        ]
    return tuple(lines)


def _folded(pair: tuple[Safe, ...], cells: int) -> list[tuple[Safe, ...]]:
    """Two texts, whole, in as many lines as the longer one needs."""
    split = [[own(text[at : at + cells]) for at in range(0, len(text), cells)] or [own("")] for text in pair]
    count = max(map(len, split))
    return [tuple(each[n] if n < len(each) else own("") for each in split) for n in range(count)]


def _beside(label: str, pair: tuple[Safe, ...], cells: int, tone: Tone = Tone.PLAIN) -> Line:
    left, right = pair
    return (
        Cell(pad(own(label), _LABEL), Tone.MUTED),
        Cell(own(f"{pad(left, cells)}  "), tone),
        Cell(right, tone),
    )


def _why(row: AuditRow, store: str) -> tuple[Line, ...]:
    command = row.body.get("command")
    return (
        title("WHY AND HOW"),
        *_one("object", f"{row.object_kind} {row.object_id}"),
        *_one("reason", row.reason),
        *_one("command", None if command is None else str(command)),
        *_one("operation", row.operation),
        *_one("store", store),
    )


def _corrections(facts: Mapping[str, object], corrected_by: Sequence[str]) -> tuple[Line, ...]:
    """Which decision this one puts right, and which put this one right (console.md F5)."""
    corrects = facts.get("corrects")
    forth = () if corrects is None else _one("corrects", str(corrects))
    return *forth, *(line for each in corrected_by for line in _one("corrected by", each))


def _one(label: str, text: str | None) -> tuple[Line, ...]:
    value = present.optional(text, TEXT)
    return ((Cell(own(f"{label}  "), Tone.MUTED), Cell(value, Tone.STRONG if text else Tone.MUTED)),)


def _difference(facts: Mapping[str, object], room: int) -> tuple[Line, ...]:
    """What was changed, a line a field: as it was, and as it is."""
    if not any(name in facts for name in _STATES):
        return ()
    before, after = (dict(_leaves("", facts.get(name))) for name in _STATES)
    names = list(dict.fromkeys((*before, *after)))
    if not names:
        return title("BEFORE > AFTER"), (Cell(own("no more is told"), Tone.MUTED),)
    label = min(28, max(map(len, names)))
    cells = max(10, (room - label - 6) // 2)
    return title("BEFORE > AFTER"), *(_field(name, before, after, label, cells) for name in names)


def _field(name: str, before: Mapping[str, str], after: Mapping[str, str], label: int, cells: int) -> Line:
    was, now = before.get(name), after.get(name)
    named = Cell(own(f"{pad(middle(safe(name), label), label)}  "), Tone.MUTED)
    old = middle(present.optional(was, _VALUE), cells)
    if now is None or was == now:  # what a result does not name stayed as it was
        return named, Cell(own(f"  {old}"), Tone.MUTED)
    new = middle(present.optional(now, _VALUE), cells)
    return named, Cell(own(f"{old} > "), Tone.PLAIN), Cell(new, Tone.STRONG)


def _leaves(name: str, value: object) -> Iterator[tuple[str, str]]:
    """The values of an object, by their dotted names."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _leaves(f"{name}.{key}" if name else str(key), each)
    elif name:
        yield name, _readable(name, value)


def _readable(name: str, value: object) -> str:
    """A value as an operator reads it: money in dollars, instants as such, whatever else as it is."""
    if value is None:
        return present.NOTHING
    if isinstance(value, int) and not isinstance(value, bool):
        if name.endswith("micro"):
            return f"{present.usd(value)} USD"
        if name.endswith(_INSTANTS) and value >= _NS:
            return present.instant(_from_ns(value))
        if name.endswith(_INSTANTS) and value >= _NS // _NS_A_MS:
            return present.instant(_from_ns(value * _NS_A_MS))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _from_ns(count: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=count // 1_000)


def _evidence(facts: Mapping[str, object]) -> tuple[Line, ...]:
    """Each item, and its file's hash whole: it is what ties the file to the decision."""
    given = facts.get("evidence")
    if not isinstance(given, list) or not given:
        return ()
    return title("EVIDENCE"), *(line for n, each in enumerate(given, 1) for line in _item(n, each))


def _item(n: int, item: object) -> Iterator[Line]:
    if not isinstance(item, dict):
        yield Cell(own(f"{n}  "), Tone.MUTED), Cell(safe(json.dumps(item), _VALUE))
        return
    file = item.get("file")
    told = {key: value for key, value in item.items() if key != "file" and value is not None}
    words = "  ".join(f"{key} {value}" for key, value in told.items())
    yield Cell(own(f"{n}  "), Tone.MUTED), Cell(safe(words, _VALUE))
    if isinstance(file, dict):
        yield (
            Cell(own("   file  "), Tone.MUTED),
            Cell(safe(f"{file.get('name')}  {file.get('size')} bytes", _VALUE)),
        )
        yield Cell(own("   sha256  "), Tone.MUTED), Cell(safe(str(file.get("sha256")), _SHA))


def _others(facts: Mapping[str, object]) -> tuple[Line, ...]:
    """Whatever else was written down: plan hash, items, answers, refusals."""
    told = {
        key: value for key, value in facts.items() if key not in {*_WHO, *_STATES, "evidence", "corrects"}
    }
    if not told:
        return ()
    return title("WHAT ELSE WAS TOLD"), *(_leaf(*each) for each in _leaves("", told))


def _leaf(name: str, value: str) -> Line:
    return Cell(own(f"{safe(name)}  "), Tone.MUTED), Cell(safe(value, _VALUE))
