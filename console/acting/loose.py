"""Changes without a known end, from both sides: what this session has sent, and what the audit holds open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console import audit_filters
from console.acting.sending import Fate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from console.acting.records import AuditRow
    from console.acting.sending import Sent

MOST: Final = 100
"""Open intents that are shown."""
_UNDER_WAY: Final = timedelta(seconds=60)
"""An intent younger than this may be a change that goes on right now."""
_CLOSED: Final = "F closes it after an hour"


@dataclass(frozen=True, slots=True)
class Loose:
    """One change. `at` is the store's time of its intent, None before that was read; `command` does it from a shell."""

    operation: str
    what: str
    origin: str
    fate: Fate
    told: str
    at: datetime | None = None
    reason: str | None = None
    command: str = ""
    history: str | None = None


def loose_rows(
    sent: Sequence[Sent], intents: Sequence[AuditRow], as_of: datetime | None
) -> tuple[Loose, ...]:
    """This session's first, the newest on top; each change once."""
    asked = [each for each in sent if each.since is not None]
    by_operation = {row.operation: row for row in intents}
    mine = [_sent(each, by_operation.get(each.order.operation)) for each in asked]
    known = {row.operation for row in mine}
    others = [_intent(row, as_of) for row in intents if row.operation not in known]
    return (*mine, *others)


def ended(intents: Sequence[AuditRow], window: str, running: Collection[str]) -> tuple[AuditRow, ...]:
    """Those that are not known to be under way: `window` is the operation of the window that is open here, `running`
    the jobs that somebody carries out now, each of which is an operation by its own id.
    """
    return tuple(row for row in intents if row.operation != window and row.operation not in running)


def _sent(each: Sent, intent: AuditRow | None) -> Loose:
    order = each.order
    return Loose(
        operation=order.operation,
        what=order.what,
        origin="this session",
        fate=each.fate,
        told=each.told or each.why,
        at=None if intent is None else intent.at,
        reason=order.reason,
        command=order.command,
        history=None if intent is None else _history(intent),
    )


def _intent(row: AuditRow, as_of: datetime | None) -> Loose:
    return Loose(
        operation=row.operation,
        what=f"{row.deed} {row.object_kind} {row.object_id}",
        origin="the store",
        fate=Fate.UNKNOWN if _may_go_on(row, as_of) else Fate.NOT_APPLIED,
        told=_told(row, as_of),
        at=row.at,
        reason=row.reason,
        command=str(row.body.get("command") or ""),
        history=_history(row),
    )


def _history(row: AuditRow) -> str:
    return audit_filters.of_object(row.object_kind, row.object_id)


def _may_go_on(row: AuditRow, as_of: datetime | None) -> bool:
    outside = row.deed in {"read-write window", "custom command"} or row.of_job
    return outside or (as_of is not None and as_of - row.at < _UNDER_WAY)


def _told(row: AuditRow, as_of: datetime | None) -> str:
    """What an intent without a result means: the result is written in the transaction of the effect."""
    if row.deed == "read-write window":
        return f"changes were turned on; they may be on still, or the console ended without a word; {_CLOSED}"
    if row.deed == "custom command":
        return f"a program outside the store: it may run still; look at what it was to do; {_CLOSED}"
    if row.of_job:
        return "a job that goes on or waits: Enter, then o"
    if _may_go_on(row, as_of):
        return "begun less than a minute ago: it may be under way"
    return "it has no effect in the store; nothing is sent again; F writes that down"
