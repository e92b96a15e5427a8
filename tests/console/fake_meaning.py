"""All ids that a filter means, from the made-up rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from console.claims_model import ClaimQuery
    from console.model import IncompleteQuery, ThreadQuery
    from console.money_model import FenceQuery, ReservationQuery
    from console.money_words import Address

ALL = 100_000


class FakeMeaning:
    """Reads the lists to their end."""

    def thread_ids(self: Any, query: ThreadQuery | IncompleteQuery) -> tuple[str, ...]:
        """Threads that match."""
        from console.model import IncompleteQuery

        read = self.incomplete if isinstance(query, IncompleteQuery) else self.threads
        return tuple(row.id for row in read(query, None, ALL).rows)

    def claim_ids(self: Any, query: ClaimQuery) -> tuple[str, ...]:
        """Threads whose claims match."""
        return tuple(row.thread for row in self.claims(query, None, ALL).rows)

    def reservation_ids(self: Any, query: ReservationQuery) -> tuple[Address, ...]:
        """Reservations that match."""
        return tuple(row.address for row in self.reservations(query, None, ALL).rows)

    def fence_ids(self: Any, query: FenceQuery) -> tuple[Address, ...]:
        """Fences that match."""
        return tuple(each.row.address for each in self.fences(query, None, ALL).rows)
