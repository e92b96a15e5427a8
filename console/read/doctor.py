"""`holdwatch doctor`: is this store well, and what would have to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from console import present
from console.command_line import Exit
from console.present import own, pad
from console.read.documents import document
from console.read.options import AsJson  # noqa: TC001 - typer reads it at run time
from console.read.output import print_document, print_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.gateway.doctor import Examination
    from console.present import Safe

CODES: Final = {"ok": Exit.OK, "warning": Exit.REFUSED, "failure": Exit.STORE_FAILURE}
"""The worst finding decides: 0 well, 1 with warnings, 2 failing."""
_MARKS: Final = {"ok": "ok", "warning": "WARNING", "failure": "FAILURE"}


def doctor(
    url: Annotated[str, typer.Argument(metavar="URL", help="A file, sqlite:///path or postgresql://...")],
    as_json: AsJson = False,
) -> None:
    """Examine a store: versions, schema, rights, clocks, durability, connections. Changes nothing."""
    from console.gateway.doctor import examine

    found = examine(url)
    code = max(CODES[each.level] for each in found.findings)
    if as_json:
        print_document({**document(found), "exit_code": int(code)})
    else:
        print_lines(_text(found))
    raise typer.Exit(code)


def _text(found: Examination) -> Iterator[Safe]:
    yield present.safe(found.store)
    room = max(len(each.subject) for each in found.findings)
    for each in found.findings:
        mark = pad(own(_MARKS[each.level]), len("WARNING"))
        yield own(f"{mark}  {each.subject:{room}}  {present.safe(each.text, present.TEXT_LIMIT)}")
