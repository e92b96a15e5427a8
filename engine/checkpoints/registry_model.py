"""The registry's records: what to list, what is listed, a page of it (checkpoints-operations.md 1, 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from engine.checkpoints.model import ThreadStatus, as_utc, check_metadata
from engine.clock import to_ns
from engine.database.columns import check_id, check_optional_id
from engine.errors import ValidationError
from engine.paging import check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

MAX_LIMIT: Final = 1000
"""Threads of one page at most."""
EVERY_STATUS: Final = frozenset(ThreadStatus)
_FARTHEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """A thread in the registry, as judged at one moment by the store's clock.

    `updated_at` is the store's time of the newest commit of a checkpoint or of metadata, `created_at` that of
    the first commit under the id. `held`: a claim is live, whatever the status.
    """

    thread_id: str
    tenant: str | None
    status: ThreadStatus
    held: bool
    updated_at: datetime
    created_at: datetime
    latest_checkpoint_id: str
    latest_run_id: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ThreadQuery:
    """The root threads of one owner for which every filter holds, newest first (2.2).

    `tenant` None asks for those without an owner. `statuses`: None is all of them, an empty set none.
    `updated_since` is inclusive; a commit is seen a little after the time it bears, so callers overlap by
    their statement timeout (ruling 28). `metadata` is one pair (ruling 24). `after` is the `next` of the page
    before. ValidationError for a limit outside 1 to `MAX_LIMIT`, a cursor that does not decode, a bad filter.
    """

    MAX_LIMIT: ClassVar[int] = MAX_LIMIT

    tenant: str | None
    statuses: frozenset[ThreadStatus] | None = None
    updated_since: datetime | None = None
    metadata: Mapping[str, str] | None = None
    after: str | None = None
    limit: int = 100

    def __post_init__(self) -> None:
        check_limit(self.limit, MAX_LIMIT)
        check_optional_id("tenant", self.tenant)
        if self.statuses is not None:
            object.__setattr__(self, "statuses", as_statuses(self.statuses))
        object.__setattr__(self, "updated_since", as_utc("updated_since", self.updated_since))
        object.__setattr__(self, "metadata", as_pair(self.metadata))
        if self.after is not None:
            position(self.after)

    def matches(self, summary: ThreadSummary) -> bool:
        """Whether every filter holds for this thread; `after` and `limit` are no filters."""
        return (
            summary.tenant == self.tenant
            and (self.statuses is None or summary.status in self.statuses)
            and (self.updated_since is None or summary.updated_at >= self.updated_since)
            and all(summary.metadata.get(key) == value for key, value in (self.metadata or {}).items())
        )


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """Threads in the listing's order. `next` is set exactly when more match behind the last of them."""

    threads: tuple[ThreadSummary, ...]
    next: str | None = None

    @classmethod
    def of(cls, rows: Sequence[ThreadSummary], limit: int) -> ThreadPage:
        """The page of up to `limit` + 1 rows: the one beyond only tells that more follow."""
        kept = tuple(rows[:limit])
        return cls(kept, cursor_of(kept[-1]) if kept and len(rows) > limit else None)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of a deleted thread: the number its next first event gets, and when it was deleted."""

    thread_id: str
    first: int
    deleted_at: datetime


def cursor_of(summary: ThreadSummary) -> str:
    """The position of a thread in a listing by time. It outlives the thread."""
    return encode_cursor(to_ns(summary.updated_at), summary.thread_id)


def position(cursor: str) -> tuple[int, str]:
    """The instant (ns) and id of a cursor; ValidationError (field `after`) for any other text."""
    updated, thread_id = decode_cursor(cursor, int, str)
    if not -_FARTHEST <= int(updated) <= _FARTHEST:
        raise ValidationError("after", ("is not a cursor of this listing; start again without one",))
    return int(updated), check_id("after", str(thread_id))


def as_statuses(given: Iterable[ThreadStatus]) -> frozenset[ThreadStatus]:
    """The statuses as a set of their own; ValidationError for a word that is none."""
    try:
        return frozenset(map(ThreadStatus, given))
    except ValueError as error:
        known = ", ".join(ThreadStatus)
        raise ValidationError("statuses", (f"{error}; there are {known}",)) from error


def as_pair(given: Mapping[str, str] | None) -> dict[str, str] | None:
    """The one pair that a listing is asked for, None for none; ValidationError for more, or a bad one."""
    if not given:
        return None
    if len(given) > 1:
        raise ValidationError("metadata", (f"has {len(given)} pairs; only one can be asked for",))
    pair = {key: value for key, value in check_metadata(given).items() if value is not None}
    if not pair:
        raise ValidationError("metadata", ("asks for the value None; ask for a string",))
    return pair
