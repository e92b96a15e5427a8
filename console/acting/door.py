"""The one door of all changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from console.acting.jobs import JobsActing
from console.acting.plans import PlansActing
from console.acting.records import RecordsActing
from console.acting.resolving import ResolvingActing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.acting.model import Order


class Acting(PlansActing, JobsActing, ResolvingActing, RecordsActing, Protocol):
    """The changing calls; there is no connection before `open`. Each may block and raises `GatewayError` only."""

    def open(self, order: Order) -> Mapping[str, tuple[str, ...]]:
        """Connect for writing and record why; what the role may not do, by deed, with the rights that it lacks."""
        ...

    def close(self, why: str) -> None:
        """Record the end and give the connection back; safe to call twice, and where nothing was opened."""
        ...

    def record(self, order: Order, facts: Mapping[str, Any]) -> None:
        """Write down that something is about to be done outside the store; `recorded` must follow."""
        ...

    def recorded(self, order: Order, facts: Mapping[str, Any]) -> None:
        """Write down how it ended."""
        ...
