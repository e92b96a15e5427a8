"""Which threads and events to list: checked when built, answered by the store alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.checkpoints.model import ANY, Tenancy, Unset, as_utc
from engine.checkpoints.registry_model import as_pair, as_statuses
from engine.checkpoints.tail_rows import TailFilter
from engine.database.columns import check_optional_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from engine.checkpoints.model import ThreadStatus


@dataclass(frozen=True, slots=True)
class ThreadFilter:
    """Threads with a checkpoint for which every given part holds.

    `tenant`: ANY lists all threads, children included; a tenant (None: those without one) lists its root
    threads, as the registry does. `statuses` None is all of them, the empty set none. `prefix` orders by id
    instead of newest first. `updated_since` is inclusive. `holder` names the holder of a stored claim, live
    or over. `metadata` is one pair (ruling 24): for one tenant its index answers; else it is looked for among
    the 10,000 threads that the other parts list first. Ids without a checkpoint are in no such list: those with
    a claim are found by `ClaimFilter`, deleted ones among the tombstones (ruling 51).
    """

    tenant: Tenancy = ANY
    statuses: frozenset[ThreadStatus] | None = None
    prefix: str | None = None
    updated_since: datetime | None = None
    holder: str | None = None
    metadata: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tenant, Unset):
            check_optional_id("tenant", self.tenant)
        check_optional_id("prefix", self.prefix)
        check_optional_id("holder", self.holder)
        if self.statuses is not None:
            object.__setattr__(self, "statuses", as_statuses(self.statuses))
        object.__setattr__(self, "updated_since", as_utc("updated_since", self.updated_since))
        object.__setattr__(self, "metadata", as_pair(self.metadata))

    @property
    def pair(self) -> tuple[str, str] | None:
        """The key and the value that are asked for."""
        return next(iter(self.metadata.items())) if self.metadata else None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Events of one thread or of all, of a tenant's threads, of some kinds."""

    thread_id: str | None
    tail: TailFilter

    @classmethod
    def of(cls, thread_id: str | None, tenant: Tenancy, kinds: Collection[str] | None) -> EventFilter:
        """Checked: ids that can be stored, and at most 50 kinds."""
        return cls(check_optional_id("thread_id", thread_id), TailFilter.of(tenant, kinds))

    @property
    def searches(self) -> bool:
        """Whether events must be looked at one by one, for want of an index on what is asked."""
        return self.tail.searches
