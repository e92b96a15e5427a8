"""The filter line of the audit, and the words by which the screens ask for the history of one object.

    actor:mk@bastion-2   mine   thread:thr_01J8   claim:thr_01J8   reservation:day:res_7f3a   job:ID   plan:ID
    op:op_41c0   unfinished   unfinished mine

`thread:` means what was done to the thread and to its claim. `unfinished` are the intents that nothing came of, of
everybody or of one actor.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from console.acting.reservation_names import name_of
from console.filter_words import FilterError, applied, quoted, verb, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.acting.records import AuditQuery
    from console.money_words import Address

MINE: Final = "mine"
UNFINISHED: Final = "unfinished"
OBJECTS: Final = ("thread", "claim", "reservation", "job", "plan", "meter", "table", "store")
FIELDS: Final = ("actor:", MINE, *(f"{kind}:" for kind in OBJECTS), "op:", UNFINISHED)


def audit(text: str, me: str) -> AuditQuery:
    """What a line of text asks for; `me` is who `mine` means. Raises FilterError."""
    from console.acting.records import AuditQuery

    query = applied(AuditQuery(), words_of(text), partial(_word, me=me))
    if query.unfinished and replace(query, unfinished=False, actor=None) != AuditQuery():
        raise FilterError(f"{UNFINISHED} goes with actor: and {MINE} only")
    return query


def of_thread(thread: str) -> str:
    """The filter for what was done to a thread and its claim."""
    return f"thread:{quoted(thread)}"


def of_reservation(address: Address) -> str | None:
    """The filter for what was done to a reservation; None for a tentative row, of which the audit knows nothing."""
    name = name_of(address)
    return None if name is None else of_object("reservation", name)


def of_job(job: str) -> str:
    """The filter for what was done to a job, and what it came to."""
    return f"job:{quoted(job)}"


def of_plan(plan: str) -> str:
    """The filter for what was done to a plan."""
    return f"plan:{quoted(plan)}"


def of_object(kind: str, name: str) -> str:
    """The filter for any object, named as the audit names it."""
    return f"{kind}:{quoted(name)}"


def _word(query: AuditQuery, word: str, *, me: str) -> AuditQuery:
    if word == UNFINISHED:
        return replace(query, unfinished=True)
    if word == MINE:
        return replace(query, actor=me)
    return verb(_VERBS, "audit", FIELDS, word)(query)


def _object(query: AuditQuery, value: str, kind: str) -> AuditQuery:
    if query.object_kind is not None:
        raise FilterError("one object at a time")
    also = "claim" if kind == "thread" else None
    return replace(query, object_kind=kind, object_id=value, other_kind=also)


_VERBS: Final[dict[str, Callable[[AuditQuery, str], AuditQuery]]] = {
    "actor": lambda query, value: replace(query, actor=value),
    "op": lambda query, value: replace(query, operation=value),
    **{kind: partial(_object, kind=kind) for kind in OBJECTS},
}
