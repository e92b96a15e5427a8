"""Past decisions about one reservation, from the audit: who, when, what, on which evidence (console.md F5 (f))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console import present
from console.acting.amounts import dollars
from console.acting.records import AuditQuery
from console.acting.reservation_names import name_of
from console.facts import title
from console.present import Cell, Tone, own, safe

if TYPE_CHECKING:
    from console.acting.records import AuditRow
    from console.jsontext import Line
    from console.money_words import Address
    from console.reading import Gateway

OBJECT: Final = "reservation"
"""What the audit calls it."""
MOST: Final = 5
"""Decisions that are shown."""
LOOKED_AT: Final = 20
"""Entries that are read for them: an intent and a result each, and those of passes between them."""

_STAYS: Final = frozenset({"open", "reserved"})
"""States, by the audit's words, of what is still to be decided."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One item of evidence as the audit keeps it."""

    text: str
    file: str


@dataclass(frozen=True, slots=True)
class Decision:
    """One of them. `came` is what became of it, `answer` what was to be; `corrects` is the operation it puts right.

    `approved` is who said yes to which plan, where it needed that.
    """

    row: AuditRow
    answer: str
    came: str
    evidence: tuple[Seen, ...]
    corrects: str = ""
    approved: str = ""


def query_of(name: str) -> AuditQuery:
    """The entries about a reservation of this name."""
    return AuditQuery(object_kind=OBJECT, object_id=name)


def asked_of(gateway: Gateway, address: Address) -> tuple[Decision, ...]:
    """The newest decisions about a reservation; none for a tentative row. One bounded read, GatewayError."""
    name = name_of(address)
    return () if name is None else decisions_of(gateway.audit(query_of(name), None, LOOKED_AT).rows)


def decisions_of(rows: Sequence[AuditRow]) -> tuple[Decision, ...]:
    """The newest of them; an intent without a result is one whose outcome is not known yet."""
    found: dict[str, AuditRow] = {}
    for row in rows:  # newest first, so that a result comes before its intent
        found.setdefault(row.operation, row)
    return tuple(decision_of(row) for row in list(found.values())[:MOST])


def decision_of(row: AuditRow) -> Decision:
    """One entry as a decision; what it does not say is left out."""
    body = row.body
    items = body.get("evidence")
    listed = items if isinstance(items, Sequence) and not isinstance(items, str) else ()
    seen = tuple(_seen(item) for item in listed if isinstance(item, Mapping))
    corrects = str(body.get("corrects") or "")
    return Decision(row, _answer(body.get("answer")), _came(row), seen, corrects, _approved(body))


def settling(found: Sequence[Decision]) -> Decision | None:
    """The one that settled it, newest first; None where the audit knows of none: then a worker or a sweep did."""
    return next((each for each in found if _settled(each.row)), None)


def _settled(row: AuditRow) -> bool:
    after = row.body.get("after")
    state = after.get("state") if isinstance(after, Mapping) else None
    return row.phase == "result" and state is not None and state not in _STAYS


def in_short(decision: Decision) -> str:
    """One of them in a line."""
    row = decision.row
    told = (row.actor, row.deed, decision.answer, decision.came)
    return "  ".join((present.instant(row.at), " ".join(filter(None, told))))


def correcting(rows: Sequence[AuditRow], operation: str) -> tuple[str, ...]:
    """The operations among these that put this one right, newest first."""
    return tuple(dict.fromkeys(row.operation for row in rows if row.body.get("corrects") == operation))


def _approved(body: Mapping[str, object]) -> str:
    approver = body.get("approved_by")
    return f"by {approver}, with plan {body.get('plan', '-')}" if approver else ""


def _answer(answer: object) -> str:
    if not isinstance(answer, Mapping):
        return ""
    word, figure = str(answer.get("answer", "")), answer.get("figure")
    if word == "deferred":
        return f"deferred until {answer.get('retry_at', '-')}{_note(answer.get('note'))}"
    return f"{word} {dollars(figure)} USD" if isinstance(figure, int) else word


def _note(note: object) -> str:
    text = note.get("note") if isinstance(note, Mapping) else None
    return f": {text}" if text else ""


def _came(row: AuditRow) -> str:
    if row.phase == "intent":
        return "outcome not known"
    if "refused" in row.body:
        return f"refused: {row.body.get('message', '')}"
    return str(row.body.get("status", "")) or str(row.body.get("why", ""))


def _seen(item: Mapping[str, object]) -> Seen:
    told = (
        f"{item.get('kind', '-')}: {item.get('reference', '-')}  shows {item.get('shows', '-')}, "
        f"observed {item.get('observed_at', '-')}"
    )
    file = item.get("file")
    if not isinstance(file, Mapping):
        return Seen(told, "")
    size = file.get("size")
    count = f"{size:,} bytes" if isinstance(size, int) else "size not kept"
    return Seen(told, f"{file.get('name', '-')}  sha256 {file.get('sha256', '-')}  {count}")


def lines_of(found: Sequence[Decision], room: int, unread: str = "") -> tuple[Line, ...]:
    """The section of a reservation's screen; nothing where nobody has decided anything. `unread` is why it is old."""
    if unread:
        return *_folded(f"decisions not read: {safe(unread, 300)}", room), ()
    if not found:
        return ()
    lines: list[Line] = [title("DECISIONS (newest first; none is ever changed, a correction is a new one)")]
    for decision in found:
        lines += decision_lines(
            decision, room, correcting([each.row for each in found], decision.row.operation)
        )
    return (*lines, ())


def decision_lines(decision: Decision, room: int, corrected_by: Sequence[str] = ()) -> list[Line]:
    """One decision, folded; `corrected_by` are the operations that put it right."""
    row = decision.row
    said = safe(" ".join(each for each in (row.deed, decision.answer) if each), 200)
    came = own(f"  {safe(decision.came, 200)}") if decision.came else own("")
    lines: list[Line] = [
        (Cell(own(f"{present.instant(row.at)}  {safe(row.actor)}  "), Tone.MUTED), Cell(said, Tone.STRONG),
         Cell(came, Tone.GOOD if decision.came in {"resolved", "deferred"} else Tone.WARN)),
    ]  # fmt: skip
    if row.reason:
        lines += _folded(f"reason: {safe(row.reason, 500)}", room)
    for number, seen in enumerate(decision.evidence, 1):
        lines += _folded(f"evidence {number}  {safe(seen.text, 600)}", room)
        if seen.file:
            lines += _folded(f"  file {safe(seen.file, 300)}", room)
    lines += _folded(f"operation {safe(row.operation)}", room)
    if decision.approved:
        lines += _folded(f"approved {safe(decision.approved)}", room)
    if decision.corrects:
        lines += _folded(f"corrects {safe(decision.corrects)}", room)
    lines += [line for each in corrected_by for line in _folded(f"corrected by {safe(each)}", room)]
    return lines


def _folded(text: str, room: int) -> list[Line]:
    return [(Cell(own(f"  {line}"), Tone.MUTED),) for line in present.wrap(own(text), max(room - 2, 2))]
