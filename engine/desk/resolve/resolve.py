"""A person's decision about one reservation: under the guard that he was shown, with his evidence (console.md F5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.clock import from_ns, to_ns
from engine.database.columns import dump
from engine.database.statement import Statement
from engine.desk.audit.model import Deed, ObjectKind, Phase, Told
from engine.desk.audit.pages import entry_of
from engine.desk.jobs.executor import Done
from engine.desk.jobs.executors.outcomes import GONE
from engine.desk.jobs.executors.settling import lock_shown
from engine.desk.jobs.model import ItemOutcome
from engine.desk.moment import moment
from engine.desk.recorded import Change, recorded
from engine.desk.resolve.checks import check_answer, check_grounds, check_seen
from engine.desk.resolve.corrects import check_corrects
from engine.desk.resolve.kept import answer_facts
from engine.desk.resolve.model import Resolution, ResolutionStatus
from engine.desk.tables import audit
from engine.errors import ValidationError
from engine.spend.answers import Deferred

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.actor import Mandate
    from engine.desk.audit.model import AuditEntry
    from engine.desk.jobs.executors.settling import Shown
    from engine.desk.plans.model import Item
    from engine.desk.resolve.model import Approval, Evidence
    from engine.spend.answers import Answer

_LOOKED_AT: Final = 50
"""Entries about a reservation, newest first, among which the decision that it bears is looked for."""
_SETTLED_AS: Final = ("settled_micro", "outcome")
"""What a settled row bears of the decision that settled it: of the day store, of a meter."""
_LAST: Final = Statement(
    select(audit)
    .where(
        audit.c.object_kind == bindparam("what"),
        audit.c.object_id == bindparam("which"),
        audit.c.phase == Phase.RESULT.value,
    )
    .order_by(audit.c.seq.desc())
    .limit(_LOOKED_AT)
)


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer and what it rests on; `corrects` is the operation of an earlier one that it puts right.

    `approval` is another person's yes to the executed plan that led to it, where it needed one.
    """

    answer: Answer
    evidence: Sequence[Evidence] = ()
    corrects: str | None = None
    approval: Approval | None = None

    def facts(self) -> dict[str, Any]:
        """As the audit keeps it."""
        told = {"answer": answer_facts(self.answer), "evidence": [each.facts() for each in self.evidence]}
        if self.corrects is not None:
            told["corrects"] = self.corrects
        return told if self.approval is None else {**told, **self.approval.facts()}


def resolve(transactions: Transactions, item: Item, decision: Decision, mandate: Mandate) -> Resolution:
    """Settle or defer the reservation if it still is as it was shown; else say who was first, and with what.

    ValidationError where the answer does not fit the reservation, has no evidence or reason, or evidence that cannot
    have been seen yet, or corrects what is no decision about it. All that is decided stays in the audit for ever: a
    correction is a new decision that names this one.
    """
    check_grounds(decision.answer, decision.evidence, mandate.reason)
    told = Told(Deed.RESOLVE, ObjectKind.RESERVATION, item.object_id, decision.facts())

    def change(connection: Connection) -> Change[Resolution]:
        return _change(connection, item, decision, mandate.operation_id)

    return recorded(transactions, mandate, told, change)


def _change(connection: Connection, item: Item, decision: Decision, operation_id: str) -> Change[Resolution]:
    shown = lock_shown(connection, item)
    check_seen(decision.evidence, moment(connection))
    check_corrects(connection, item.object_id, decision.corrects)
    done = write_answer(connection, shown, decision.answer)
    made = _resolution(connection, item, decision, done, operation_id)
    result = {"status": made.status.value, **answer_facts(decision.answer), "now": made.now}
    return Change(made, result, {"status": made.status.value, **done.detail})


def write_answer(connection: Connection, shown: Shown | Done, answer: Answer) -> Done:
    """An answer about a reservation that is as it was shown, checked; ValidationError where it does not fit."""
    if isinstance(shown, Done):
        return shown
    now = moment(connection)
    check_fits(shown, answer, now)
    return shown.write(connection, answer, from_ns(now))


def check_fits(shown: Shown, answer: Answer, now: int) -> None:
    """ValidationError unless the answer fits the reservation; `now` in nanoseconds."""
    check_answer(shown.kind, shown.most, answer)
    if isinstance(answer, Deferred) and to_ns(answer.retry_at) <= now:
        raise ValidationError("retry_at", ("must be in the future, by the store's clock",))


def _resolution(
    connection: Connection, item: Item, decision: Decision, done: Done, operation_id: str
) -> Resolution:
    if done.outcome is ItemOutcome.APPLIED:
        deferred = isinstance(decision.answer, Deferred)
        status = ResolutionStatus.DEFERRED if deferred else ResolutionStatus.RESOLVED
        before, after = done.detail["before"], done.detail["after"]
        return Resolution(status, operation_id, item.object_id, before, after)
    if done.outcome is ItemOutcome.FAILED:
        raise ValidationError("answer", (str(done.detail["why"]),))
    why, now = str(done.detail["why"]), done.detail.get("now", {})
    gone = why == GONE
    first = None if gone else _first(connection, item, now)
    return Resolution(
        ResolutionStatus.GONE if gone else ResolutionStatus.OVERTAKEN,
        operation_id,
        item.object_id,
        {},
        {},
        now=_now_of(why, now, first),
        first=first,
    )


def _now_of(why: str, now: Mapping[str, Any], first: AuditEntry | None) -> str:
    """What the row is now; where no decision in the audit made it so, that a pass or a worker did, and when it says."""
    if not now:
        return why
    at = now.get("settled_at")
    by = "" if first is not None else f" by a pass or a worker{f', at {at}' if at else ''}"
    return f"{why}{by}: {dump('now', now)}"


def _first(connection: Connection, item: Item, now: Mapping[str, Any]) -> AuditEntry | None:
    """The decision of a person or a job that made the row what it is now; None where it was a pass or a worker.

    An older decision is not it: what it left behind has been changed since.
    """
    rows = _LAST.all(connection, what=ObjectKind.RESERVATION.value, which=item.object_id)
    entries = map(entry_of, rows)
    return next((entry for entry in entries if _made(entry.body.get("after"), now, item.guard)), None)


def _made(after: Mapping[str, Any] | None, now: Mapping[str, Any], guard: Mapping[str, Any]) -> bool:
    """Whether a decision left the row as it is: settled the same way, or open under the same guard."""
    told = [name for name in (*_SETTLED_AS, *guard) if name in now]
    return (
        after is not None and bool(told) and all(name in after and after[name] == now[name] for name in told)
    )
