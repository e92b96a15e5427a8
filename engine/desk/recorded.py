"""A change with its intent before it, and its result, or its refusal, after it (console.md, "Audit trail")."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engine.desk import operations
from engine.errors import CommitUnknown, EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.actor import Mandate
    from engine.desk.audit.model import Told

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What a change came to: `value` for the caller, `result` for its operation, `facts` for the audit."""

    value: T
    result: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)


def recorded(
    transactions: Transactions,
    mandate: Mandate,
    told: Told,
    change: Callable[[Connection], Change[T]],
) -> T:
    """Run a change in a transaction of its own, between its intent and its result.

    A refusal changes nothing but is told as the result, so that an open intent means an unknown outcome.
    CommitUnknown leaves it open: `outcome_of` answers once the store can be asked.
    """
    name = f"desk.{told.deed.value.replace(' ', '_')}"
    transactions.write(name, operations.intend, mandate, told)
    try:
        return transactions.write(name, _changed, mandate, told, change)
    except CommitUnknown:
        raise
    except EngineError as refusal:
        _refused(transactions, mandate, told, refusal)
        raise


def _changed(
    connection: Connection, mandate: Mandate, told: Told, change: Callable[[Connection], Change[T]]
) -> T:
    made = change(connection)
    whole = replace(told, facts={**told.facts, **made.facts})
    operations.conclude(connection, mandate, whole, made.result)
    return made.value


def _refused(transactions: Transactions, mandate: Mandate, told: Told, refusal: EngineError) -> None:
    why = {"refused": getattr(refusal, "why", refusal.code), "message": refusal.explain()}
    whole = replace(told, facts={**told.facts, **why})
    try:
        transactions.write("desk.refused", operations.conclude, mandate, whole, why)
    except EngineError as failure:
        refusal.add_note(f"the intent {mandate.operation_id} stays open: {failure}")
