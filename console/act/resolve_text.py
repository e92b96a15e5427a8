"""A resolution on standard output: the reservation and its checks before, the books or who was first after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console import money, money_story
from console.acting.resolving import Came, Resolution
from console.present import Safe, own, safe
from console.read import table
from console.read.documents import as_json, document
from console.read.output import warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from console.acting.records import AuditRow
    from console.acting.resolving import Answer, Check, Resolvable
    from console.read.documents import Document

LONG: Final = 2_000
WARN: Final = "warn"
_ROOM: Final = 100


def before(shown: Resolvable, answer: Answer, checks: tuple[Check, ...]) -> Iterator[Safe]:
    """What is about to be decided."""
    from console.widgets.columns import Scene

    story = shown.story
    yield safe(shown.name, LONG)
    for line in money_story.head(story, Scene(story.as_of), _ROOM):
        yield own("".join(cell.text for cell in line).rstrip())
    yield own(f"answer: {type(answer).__name__.lower()}, of {money.words(story.row.micro, story.row.units)}")
    for check in checks:
        yield safe(f"[{check.weight}] {check.text}", LONG)


def doubts(checks: tuple[Check, ...]) -> None:
    """What speaks against the evidence, on standard error."""
    for check in checks:
        if check.weight == WARN:
            warn(safe(f"[{check.weight}] {check.text}", LONG))


def checks_of(checks: tuple[Check, ...]) -> Document:
    """All of them, as a part of the command's document."""
    return {"checks": [document(check) for check in checks]}


def after(made: Resolution) -> Iterator[Safe]:
    """What it came to."""
    if made.came in {Came.RESOLVED, Came.DEFERRED}:
        yield own(made.came.value)
        yield safe(f"before: {_words(made.before)}", LONG)
        yield safe(f"after:  {_words(made.after)}", LONG)
        return
    yield safe(f"{made.came.value}: {made.now}; nothing was changed", LONG)
    if made.first is not None:
        yield from _first(made.first)


def _first(row: AuditRow) -> Iterator[Safe]:
    """Who was first, with what (console.md F5 (c))."""
    given: Any = row.body.get("answer", row.deed)
    answer = given.get("answer", row.deed) if isinstance(given, dict) else given
    yield safe(f"by {row.actor} at {table.at(row.at)}: {answer}; reason: {row.reason or '-'}", LONG)
    evidence: Any = row.body.get("evidence", ())
    for item in evidence:
        yield safe(
            f"evidence: {item['kind']} {item['reference']}, observed {item['observed_at']}: {item['shows']}",
            LONG,
        )
    yield safe(f"operation {row.operation}", LONG)


def document_of(made: Resolution, shown: Resolvable) -> Document:
    """The same as a document."""
    return {"object": shown.name} | document(made)


def known(row: AuditRow) -> Resolution:
    """A decision that was read back from the audit after its answer was lost."""
    body: Mapping[str, Any] = row.body
    came = Came(body["status"]) if body.get("status") in list(Came) else Came.OVERTAKEN
    now = str(body.get("why", body.get("message", "")))
    return Resolution(came, row.operation, body.get("before", {}), body.get("after", {}), now, None)


def _words(books: Mapping[str, Any]) -> str:
    return as_json(dict(books))
