"""A program of the operator's own that hears of every change by hand, after it was made (console.md 3.4, row 103).

The console runs it beside its own work, a script before its command goes on.
"""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from console.model import GatewayError
from console.present import Tone

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from console.acting.model import Order
    from console.acting.records import AuditRow
    from console.programs import Outcome
    from console.session import Session

SECONDS: Final = 10.0
OUTPUT_BYTES: Final = 16_384
"""What it writes is only shown where it fails, and of that the first line."""
_SHOWN: Final = 200


class Hook:
    """Runs `[hooks] after_change`, with the change's audit entries as JSON on its standard input."""

    def __init__(
        self,
        session: Session,
        *,
        start: Callable[[Coroutine[Any, Any, None]], object],
        tell: Callable[[str, Tone], None],
    ) -> None:
        self._session = session
        self._start = start
        self._tell = tell

    def __call__(self, order: Order) -> None:
        """A change has been made."""
        command = self._session.contexts.config.after_change
        if command is not None:
            self._start(self._run(command.value, order))

    async def _run(self, argv: tuple[str, ...], order: Order) -> None:
        session = self._session
        try:
            rows = await session.calls.run(lambda: session.gateway.audit_of(order.operation))
        except GatewayError as error:
            self._tell(unread(error), Tone.WARN)
            return
        failed = await session.errands.run(lambda: run(argv, order, rows))
        if failed:
            self._tell(failed, Tone.WARN)


def unread(error: GatewayError) -> str:
    """What is said where the entries of a change cannot be read."""
    return f"after_change was not run: {error}"


def run(argv: tuple[str, ...], order: Order, rows: Sequence[AuditRow]) -> str:
    """Run the program to its end; what went wrong in one line, empty where nothing did. Blocks, ten seconds at most."""
    from console.programs import Program

    program = Program(argv, seconds=SECONDS, most=OUTPUT_BYTES, given=record(order, rows))
    failed = failure(program.run(), program.output)
    return f"after_change {argv[0]}: {failed}" if failed else ""


def record(order: Order, rows: Sequence[AuditRow]) -> bytes:
    """The JSON document that the program reads: the operation, and its entries as the audit has them."""
    entries = [{field.name: getattr(row, field.name) for field in fields(row)} for row in rows]
    found = {"operation": order.operation, "what": order.what, "entries": entries}
    return json.dumps(found, default=_plain).encode()


def _plain(value: object) -> str:
    from console.read.documents import instant

    return instant(value) if isinstance(value, datetime) else str(value)


def failure(outcome: Outcome, output: bytes) -> str:
    """What went wrong in one line; empty where nothing did."""
    from console.programs import Ending

    if outcome.ending is Ending.DONE and outcome.code == 0:
        return ""
    how = f"exit code {outcome.code}" if outcome.ending is Ending.DONE else outcome.ending.value
    said = outcome.reason or output.decode("utf-8", "replace").strip().partition("\n")[0][:_SHOWN]
    return f"{how}: {said}" if said else how
