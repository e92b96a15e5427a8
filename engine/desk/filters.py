"""Which threads and events to list: checked when built, answered by the store alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.checkpoints.model import ANY, Tenancy, Unset, as_utc
from engine.checkpoints.registry_model import as_statuses
from engine.database.columns import check_id, check_optional_id
from engine.errors import ValidationError

if TYPE_CHECKING:
    from datetime import datetime

    from engine.checkpoints.model import ThreadStatus

MAX_KINDS: Final = 50


@dataclass(frozen=True, slots=True)
class ThreadFilter:
    """Threads with a checkpoint for which every given part holds.

    `tenant`: ANY lists all threads, children included; a tenant (None: those without one) lists its root threads, as the
    registry does. `statuses` None is all of them, the empty set none. `prefix` orders by id instead of newest first.
    `updated_since` is inclusive. `holder` names the holder of a stored claim, live or over.
    """

    tenant: Tenancy = ANY
    statuses: frozenset[ThreadStatus] | None = None
    prefix: str | None = None
    updated_since: datetime | None = None
    holder: str | None = None

    def __post_init__(self) -> None:
        _check_tenant(self.tenant)
        check_optional_id("prefix", self.prefix)
        check_optional_id("holder", self.holder)
        if self.statuses is not None:
            object.__setattr__(self, "statuses", as_statuses(self.statuses))
        object.__setattr__(self, "updated_since", as_utc("updated_since", self.updated_since))


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Events of one thread or of all, of a tenant's threads, of some kinds."""

    thread_id: str | None = None
    tenant: Tenancy = ANY
    kinds: frozenset[str] | None = None

    def __post_init__(self) -> None:
        check_optional_id("thread_id", self.thread_id)
        _check_tenant(self.tenant)
        for kind in self.kinds or ():
            check_id("kinds", kind)
        if self.kinds is not None and len(self.kinds) > MAX_KINDS:
            raise ValidationError("kinds", (f"has {len(self.kinds)} kinds; at most {MAX_KINDS} are allowed",))

    @property
    def searches(self) -> bool:
        """Whether events must be looked at one by one, for want of an index on what is asked."""
        return self.tenant is not ANY or self.kinds is not None


def _check_tenant(tenant: Tenancy) -> None:
    if not isinstance(tenant, Unset):
        check_optional_id("tenant", tenant)


def after_prefix(prefix: str) -> str | None:
    """The first text past all that begin with `prefix`, in code-point order; None when there is none."""
    kept = prefix.rstrip(chr(0x10FFFF))
    if not kept:
        return None
    last = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if last == 0xD800 else last)
