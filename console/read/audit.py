"""`holdwatch audit`: what operators did; `holdwatch audit verify`: whether the record of it is whole."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from console import present
from console.acting.records import AuditQuery
from console.audit_filters import OBJECTS
from console.command_line import Exit
from console.present import own
from console.read import table
from console.read.documents import Raw
from console.read.options import After, AsJson, Limit  # noqa: TC001 - typer reads them at run time
from console.read.output import print_document, print_lines, show_page
from console.read.store import opened
from console.stores import STORE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.acting.records import Verified
    from console.present import Safe
    from console.read.documents import Document

VERIFY: Final = "verify"
_TELL_EVERY: Final = 10_000
"""Entries between two lines of progress."""


def _of_body(key: str) -> table.Column:
    return table.Column(key.upper(), lambda row: _word(row["body"], key))


def _word(body: Mapping[str, Any], key: str) -> Safe:
    value = body.get(key)
    return present.optional(None if value is None else str(value))


ENTRIES: Final = (
    table.number("seq", "ENTRY"),
    table.moment("at"),
    table.name("phase"),
    _of_body("deed"),
    table.name("object_kind", "KIND"),
    table.name("object_id", "OBJECT"),
    table.name("actor", "BY"),
    table.name("route"),
    _of_body("reason"),
    table.name("operation_id", "OPERATION"),
)


def audit(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[verify] STORE",
            help="The store, or the name of a context; before it `verify` to check the chain of hashes.",
            show_default=False,
        ),
    ] = None,
    actor: Annotated[str | None, typer.Option(metavar="USER@HOST", help="What this person did.")] = None,
    of: Annotated[
        tuple[str, str] | None,
        typer.Option("--object", metavar="KIND ID", help=f"What was done to this: {', '.join(OBJECTS)}."),
    ] = None,
    operation: Annotated[str | None, typer.Option(metavar="ID", help="Of this operation.")] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Intents whose end nobody wrote down.")
    ] = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List what operators did, newest first; or `audit verify STORE`: check that nothing of it was altered."""
    asked, store = _asked(words or [])
    query = _query(actor, of, operation, unfinished)
    if asked == VERIFY:
        if query != AuditQuery():
            raise typer.BadParameter("verify reads the whole audit; leave the other options out")
        verify(store, as_json)
        return
    with opened(store) as reads:
        found = reads.audit(query, after, limit)
    show_page(ENTRIES, _as_documents(found) if as_json else found, as_json)


def verify(store: str, as_json: bool) -> None:
    """Read the whole chain; exit code 1 where an entry does not fit."""
    with opened(store) as reads:
        found = reads.verify_audit(_tell)
    if as_json:
        named = {"entries": found.entries, "head": found.head, "broken_at": found.broken_at}
        print_document({**named, "problem": found.problem})
    else:
        print_lines([_told(found)])
    if found.broken_at is not None or found.problem is not None:
        raise typer.Exit(Exit.REFUSED)


def _told(found: Verified) -> Safe:
    if found.broken_at is None and found.problem is None:
        return own(f"whole: {found.entries:,} entries, each bound to the one before it; head {found.head}")
    where = "" if found.broken_at is None else f" at entry {found.broken_at:,}"
    why = present.safe(found.problem or "it does not fit the entry before it", present.TEXT_LIMIT)
    return own(f"BROKEN{where}: {why}; {found.entries:,} entries were read")


def _tell(entries: int) -> None:
    """Progress, on standard error."""
    if entries % _TELL_EVERY == 0:
        sys.stderr.write(f"holdwatch: {entries:,} entries read\n")


def _asked(words: list[str]) -> tuple[str, str]:
    """Whether to verify, and which store."""
    asked = VERIFY if words[:1] == [VERIFY] else ""
    rest = words[1:] if asked else words
    known = rest or [each for each in (os.environ.get(STORE_VARIABLE),) if each]
    if not known:
        raise typer.BadParameter("STORE is missing: give a file, an address or the name of a context")
    if len(known) > 1:
        raise typer.BadParameter(f"one store, not {len(known)}; verify stands before it")
    return asked, known[0]


def _query(
    actor: str | None, of: tuple[str, str] | None, operation: str | None, unfinished: bool
) -> AuditQuery:
    kind, name = of if of is not None else (None, None)
    if kind is not None and kind not in OBJECTS:
        raise typer.BadParameter(f"--object: no kind {kind!r}; there are {', '.join(OBJECTS)}")
    if unfinished and (of is not None or operation is not None):
        raise typer.BadParameter("--unfinished goes with --actor only")
    other = "claim" if kind == "thread" else None
    return AuditQuery(kind, name, actor, operation, unfinished, other)


def _as_documents(found: Document) -> Document:
    """The entries' bodies as the JSON that they are."""
    rows = [{**row, "body": Raw(json.dumps(row["body"]))} for row in found["rows"]]
    return {**found, "rows": rows}
