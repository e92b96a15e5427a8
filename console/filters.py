"""The filter line of the lists: `field:value` words, answered by the store.

    status:running,failed  !status:completed  tenant:acme  tenant:-  holder:worker-3  since:10m  id:thr_01J8
    meta.title:"quarterly report"        stuck  tenant:acme        state:tombstone        state:claim-only
    state:expired  holder:worker-3  tenant:acme  since:5m      by:holder                     (claims)
    state:queued  tenant:acme  thread:thr_01J8                                                (run queue)
    kind:claimed,tool.result   thread:thr_01J8   tenant:acme                                  (events)

Among threads, `state:` and `status:` are one, a word without a field is the beginning of an id as after `id:`,
`field=value` is `field:value`, and a value with blanks stands in quotation marks. `tenant:-` means rows without a
tenant; `stuck` is a list of its own, longest untouched first (ruling 51). `since:5m` of claims means those whose
lease ended within five minutes, of `state:tombstone` the ids deleted within them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from console.claims_model import ClaimQuery, ClaimState, HolderQuery, Stored
from console.filter_words import (
    FilterError,
    applied,
    canonical,
    given,
    nearest,
    quoted,
    verb,
    word_of,
    words_of,
)
from console.model import EventQuery, IncompleteQuery, ThreadQuery, ThreadState, TombstoneQuery
from console.queue_model import QueueQuery, QueueState
from console.spans import span_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

__all__ = [
    "CLAIMS_NOT",
    "CLAIM_FIELDS",
    "CLAIM_ONLY",
    "EVENT_FIELDS",
    "HOLDERS",
    "QUEUE_FIELDS",
    "STUCK",
    "THREADS_NOT",
    "THREAD_FIELDS",
    "TOMBSTONES",
    "FilterError",
    "claims",
    "events",
    "queue",
    "quoted",
    "span",
    "tenant",
    "threads",
]

ThreadsQuestion = ThreadQuery | IncompleteQuery | TombstoneQuery | ClaimQuery
"""What may be asked on the threads' screen; the claims are those of ids without a checkpoint."""
ClaimsQuestion = ClaimQuery | HolderQuery

THREAD_FIELDS: Final = (
    "status:",
    "tenant:",
    "holder:",
    "since:",
    "meta.",
    "id:",
    "stuck",
    "state:tombstone",
    "state:claim-only",
    "!status:",
)
CLAIM_FIELDS: Final = (
    "state:expired",
    "state:live",
    "holder:",
    "tenant:",
    "by:holder",
    "state:claim-only",
    "since:",
)
QUEUE_FIELDS: Final = (*(f"state:{state.value}" for state in QueueState), "tenant:", "thread:")
EVENT_FIELDS: Final = ("kind:", "thread:", "tenant:")
THREADS_NOT: Final = ("!status", "!state")
CLAIMS_NOT: Final = ("!state",)
"""Negations that the store answers; any other leaves rows out of the window alone (`sieve`)."""
STUCK: Final = "stuck"
TOMBSTONES: Final = "state:tombstone"
CLAIM_ONLY: Final = "state:claim-only"
HOLDERS: Final = "by:holder"
_LISTS: Final = {
    STUCK: STUCK,
    "state:stuck": STUCK,
    TOMBSTONES: TOMBSTONES,
    "state:tombstones": TOMBSTONES,
    CLAIM_ONLY: CLAIM_ONLY,
}
"""The words that ask for another list than that of the threads."""


def threads(text: str) -> ThreadsQuestion:
    """What a line of text asks for on the threads' screen."""
    words = canonical(words_of(text), _THREAD_VERBS)
    lists = [_LISTS[word] for word in words if word in _LISTS]
    rest = [word for word in words if word not in _LISTS]
    if len(lists) > 1:
        raise FilterError(f"{lists[0]} and {lists[1]} are two lists; ask for one of them")
    if not lists:
        return applied(ThreadQuery(), rest, _thread_word)
    return _OTHER_LISTS[lists[0]](rest)


def claims(text: str) -> ClaimsQuestion:
    """What a line of text asks for on the claims' screen."""
    words = canonical(words_of(text), (*_CLAIM_VERBS, "by"))
    if HOLDERS not in words:
        return applied(ClaimQuery(), words, _claim_word)
    if len(words) > 1:
        raise FilterError(f"{HOLDERS} stands alone; holder:NAME lists the claims of one of them")
    return HolderQuery()


def queue(text: str) -> QueueQuery:
    """What a line of text asks for on the run queue's screen."""
    return applied(QueueQuery(), words_of(text), _queue_word)


def events(text: str) -> EventQuery:
    """The event filter that a line of text stands for."""
    return applied(EventQuery(), words_of(text), _event_word)


# Words


def _thread_word(query: ThreadQuery, word: str) -> ThreadQuery:
    field, colon, value = word.partition(":" if ":" in word or not word.startswith("meta.") else "=")
    if colon and field.startswith("meta."):
        return replace(query, metadata=_pair(query, field.removeprefix("meta."), given(field, value)))
    if not colon or field not in _THREAD_VERBS:
        return replace(query, prefix=_prefix(word, field if colon else ""))
    return _THREAD_VERBS[field](query, given(field, value))


def _pair(query: ThreadQuery, key: str, value: str) -> tuple[str, str]:
    if not key:
        raise FilterError("meta. needs a key; write meta.KEY:VALUE")
    if query.metadata is not None:
        raise FilterError("one pair of metadata at a time; the store has no index on two")
    return key, value


def _prefix(word: str, field: str) -> str:
    """A bare word is the beginning of an id - but a word that looks like a mistyped field is refused."""
    if field and field.removeprefix("!").isalpha():
        hint = nearest(f"{field}:", THREAD_FIELDS)
        raise FilterError(
            f"no field {field!r}; {hint}there are {' '.join(THREAD_FIELDS)}, or the beginning of an id"
        )
    return word


def _claim_word(query: ClaimQuery, word: str) -> ClaimQuery:
    found = verb(_CLAIM_VERBS, "claim", CLAIM_FIELDS, word)(query)
    if found.since is not None and found.state is ClaimState.LIVE:
        raise FilterError("since: asks for claims that ended, and state:live for those that did not")
    return found


def _queue_word(query: QueueQuery, word: str) -> QueueQuery:
    return verb(_QUEUE_VERBS, "queue", QUEUE_FIELDS, word)(query)


def _event_word(query: EventQuery, word: str) -> EventQuery:
    return verb(_EVENT_VERBS, "event", EVENT_FIELDS, word)(query)


# Other lists of the threads' screen


def _stuck(words: list[str]) -> IncompleteQuery:
    query = applied(ThreadQuery(), words, _thread_word)
    if replace(query, tenant=ThreadQuery().tenant) != ThreadQuery():
        raise FilterError("stuck goes with tenant: only; status:idle takes every filter, newest first")
    return IncompleteQuery(query.tenant)


def _tombstones(words: list[str]) -> TombstoneQuery:
    query = applied(ThreadQuery(), words, _thread_word)
    if replace(query, since=None) != ThreadQuery():
        raise FilterError(
            f"{TOMBSTONES} goes with since: only: a tombstone is kept without its owner and metadata"
        )
    return TombstoneQuery(query.since)


def _claim_only(words: list[str]) -> ClaimQuery:
    return replace(applied(ClaimQuery(), words, _claim_word), stored=Stored.CLAIM_ONLY)


_OTHER_LISTS: Final[dict[str, Callable[[list[str]], ThreadsQuestion]]] = {
    STUCK: _stuck,
    TOMBSTONES: _tombstones,
    CLAIM_ONLY: _claim_only,
}


# Values


def _states(value: str) -> frozenset[ThreadState]:
    names = value.upper().split(",")
    unknown = [name for name in names if name not in ThreadState.__members__]
    if unknown:
        known = ", ".join(state.value.lower() for state in ThreadState)
        hint = nearest(unknown[0].lower(), known.split(", "))
        raise FilterError(f"no status {unknown[0].lower()!r}; {hint}there are {known}")
    return frozenset(ThreadState[name] for name in names)


def _claim_state(query: ClaimQuery, value: str) -> ClaimQuery:
    if value == Stored.CLAIM_ONLY:
        return replace(query, stored=Stored.CLAIM_ONLY)
    if value not in list(ClaimState):
        raise FilterError(f"no state {value!r}; there are live, expired and claim-only")
    return replace(query, state=ClaimState(value))


def _no_claim_state(query: ClaimQuery, value: str) -> ClaimQuery:
    asked = _claim_state(ClaimQuery(), value)
    if asked.stored is not None:
        return replace(query, stored=Stored.CHECKPOINT)
    return replace(query, state=ClaimState.LIVE if asked.state is ClaimState.EXPIRED else ClaimState.EXPIRED)


def _queue_state(query: QueueQuery, value: str) -> QueueQuery:
    return replace(query, state=word_of("state", value, QueueState))


def span(value: str) -> timedelta:
    """The span that stands behind `since:`; raises FilterError."""
    try:
        return span_of(value)
    except ValueError as error:
        raise FilterError(f"since: {error}") from error


def tenant(value: str) -> str | None:
    """The tenant that stands behind `tenant:`; None for a dash."""
    return None if value == "-" else value


_THREAD_VERBS: Final[dict[str, Callable[[ThreadQuery, str], ThreadQuery]]] = {
    "status": lambda query, value: replace(query, states=_states(value)),
    "!status": lambda query, value: replace(query, states=frozenset(ThreadState) - _states(value)),
    "state": lambda query, value: replace(query, states=_states(value)),
    "!state": lambda query, value: replace(query, states=frozenset(ThreadState) - _states(value)),
    "tenant": lambda query, value: replace(query, tenant=tenant(value)),
    "holder": lambda query, value: replace(query, holder=value),
    "since": lambda query, value: replace(query, since=span(value)),
    "id": lambda query, value: replace(query, prefix=value),
}
_CLAIM_VERBS: Final[dict[str, Callable[[ClaimQuery, str], ClaimQuery]]] = {
    "state": _claim_state,
    "!state": _no_claim_state,
    "holder": lambda query, value: replace(query, holder=value),
    "tenant": lambda query, value: replace(query, tenant=tenant(value)),
    "since": lambda query, value: replace(query, since=span(value)),
}
_QUEUE_VERBS: Final[dict[str, Callable[[QueueQuery, str], QueueQuery]]] = {
    "state": _queue_state,
    "thread": lambda query, value: replace(query, thread=value),
    "tenant": lambda query, value: replace(query, tenant=tenant(value)),
}
_EVENT_VERBS: Final[dict[str, Callable[[EventQuery, str], EventQuery]]] = {
    "kind": lambda query, value: replace(query, kinds=frozenset(value.split(","))),
    "thread": lambda query, value: replace(query, thread=value),
    "tenant": lambda query, value: replace(query, tenant=tenant(value)),
}
