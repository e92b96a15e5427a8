"""The reading calls that give every id that a filter means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from console.claims_model import ClaimQuery
    from console.model import IncompleteQuery, ThreadQuery
    from console.money_model import FenceQuery, ReservationQuery
    from console.money_words import Address


class Meaning(Protocol):
    """The calls of the gateway that give all ids of a question, at most 10,000 (ruling 55)."""

    def thread_ids(self, query: ThreadQuery | IncompleteQuery) -> tuple[str, ...]:
        """Threads."""
        ...

    def claim_ids(self, query: ClaimQuery) -> tuple[str, ...]:
        """Threads with a claim."""
        ...

    def reservation_ids(self, query: ReservationQuery) -> tuple[Address, ...]:
        """Reservations."""
        ...

    def fence_ids(self, query: FenceQuery) -> tuple[Address, ...]:
        """Fences."""
        ...
