"""Writing down the end of a change that nobody told the end of, on the word of who looked (console.md F8).

A change's result is written in the transaction of its effect: an intent without one has no effect in the store, but
for what is done outside it. Closing one also keeps a commit that is still under way from landing behind it: the same
operation cannot be stored a second time.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.clock import from_ns
from engine.database.columns import check_id
from engine.database.statement import Statement
from engine.desk import operations
from engine.desk.audit import chain
from engine.desk.audit.model import Deed, ObjectKind, Phase, Told
from engine.desk.audit.pages import together
from engine.desk.moment import moment
from engine.desk.recorded import Change, recorded
from engine.desk.tables import job
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.actor import Mandate
    from engine.desk.audit.model import AuditEntry
    from engine.desk.operations import KnownOutcome

UNDER_WAY: Final = timedelta(minutes=1)
"""An intent younger than this may be a change that goes on right now."""
OUTSIDE: Final = timedelta(hours=1)
"""The same for a read-write window and for a command of an operator's own."""
_LONG: Final = frozenset({Deed.WINDOW.value, Deed.CUSTOM.value})
"""Deeds that the store cannot tell the end of."""
_UNDONE: Final = {"refused": "not applied", "message": "it has no effect in the store: nothing was done"}
_UNTOLD: Final = {"ended": "not known", "message": "nobody told its end, and the store cannot know it"}
_JOB: Final = Statement(select(job.c.job_id).where(job.c.job_id == bindparam("op")))


def close_intent(transactions: Transactions, operation_id: str, mandate: Mandate) -> KnownOutcome:
    """Append the result entry that an open intent lacks, and answer it; the mandate is of the closing itself.

    Nothing is done again: what has an effect in the store is told as it was, all else as not applied. ValidationError
    where no change was begun under the id, its end is written, it may still be under way, or it is a job.
    """
    check_id("operation_id", operation_id)
    told = Told(Deed.CLOSE, ObjectKind.OPERATION, operation_id)
    return recorded(transactions, mandate, told, partial(_closed, operation_id, mandate))


def _closed(operation_id: str, mandate: Mandate, connection: Connection) -> Change[KnownOutcome]:
    intent = _open(connection, operation_id)
    own = replace(mandate, operation_id=operation_id)
    told = Told(Deed(intent.body["deed"]), ObjectKind(intent.object_kind), intent.object_id)
    came = _UNTOLD if told.deed.value in _LONG else _UNDONE
    known = operations.outcome_of(connection, operation_id)
    if known is None and not operations.note_if_absent(connection, own, told, came):
        raise _refusal(operation_id, "its end was written just now; look at it again")
    result: Mapping[str, Any] = came if known is None else known.result
    facts = {**result, "closed_by": mandate.operation_id, "begun_by": intent.actor}
    chain.append(connection, Phase.RESULT, own, replace(told, facts=facts))
    found = operations.outcome_of(connection, operation_id)
    assert found is not None
    return Change(found, {"closed": operation_id, **_as_told(result)}, _as_told(result))


def _as_told(result: Mapping[str, Any]) -> dict[str, Any]:
    """The end of the change within the result of its closing, which itself was not refused."""
    return {"outcome": result.get("refused") or result.get("ended") or "applied"}


def _open(connection: Connection, operation_id: str) -> AuditEntry:
    """The intent, where its end may be written now."""
    entries = together(connection, operation_id)
    intent = next((each for each in entries if each.phase is Phase.INTENT), None)
    if intent is None:
        raise _refusal(operation_id, "no change was begun under it; list the open intents")
    if len(entries) > 1:
        raise _refusal(operation_id, "its end is written already; look at its entries")
    if _JOB.one(connection, op=operation_id) is not None:
        raise _refusal(operation_id, "it is a job, which writes its own end: run it, or cancel it")
    wait = OUTSIDE if intent.body["deed"] in _LONG else UNDER_WAY
    free = intent.at + wait
    if from_ns(moment(connection)) < free:
        raise _refusal(operation_id, f"it may still be under way; it can be closed from {free:%H:%M:%S}Z on")
    return intent


def _refusal(operation_id: str, problem: str) -> ValidationError:
    return ValidationError("operation_id", (f"{operation_id!r}: {problem}",))
