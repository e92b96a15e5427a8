"""All ids that a filter means, as a bounded set from the store: what a change over it is planned with (ruling 55).

The window that an operator looks at plays no part, nor what only leaves rows out of a window. Pages are read one by
one, each in a transaction of its own: who looks at the store meanwhile is not held up, and a row that moves between
two pages is taken once or missed - the plan made of the ids is frozen then, and checks each of them anew.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, TypeVar

from console.gateway import questions
from console.model import GatewayError, IncompleteQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from console.claims_model import ClaimQuery
    from console.gateway.store import OpenedStore
    from console.model import ThreadQuery
    from console.money_model import FenceQuery, ReservationQuery
    from console.money_words import Address
    from engine import desk

    Id = TypeVar("Id", bound=Hashable)
    Read = Callable[[desk.Desk, str | None], desk.Page[Any]]

MOST: Final = 10_000
"""Ids that one change may be about."""
SECONDS: Final = 5.0
"""How long they may be looked for."""
PAGE: Final = 200
"""Rows a query: as many as the desk gives."""


class MeantReading:
    """The ids of threads, claims, reservations and fences; GatewayError `validation` where they are too many."""

    _store: OpenedStore

    def thread_ids(self, query: ThreadQuery | IncompleteQuery) -> tuple[str, ...]:
        """The threads that match, each once, in the order of their list."""
        if isinstance(query, IncompleteQuery):
            tenant = questions.tenant_of(query.tenant)
            return self._ids(
                lambda door, after: door.incomplete(tenant, after, PAGE), lambda row: row.thread_id
            )
        with self._store.desk() as door:
            wanted = questions.thread_filter(door, query)
        return self._ids(lambda door, after: door.threads(wanted, after, PAGE), lambda row: row.thread_id)

    def claim_ids(self, query: ClaimQuery) -> tuple[str, ...]:
        """The threads whose claims match."""
        with self._store.desk() as door:
            wanted = questions.claim_filter(door, query)
        return self._ids(lambda door, after: door.claims(wanted, after, PAGE), lambda row: row.thread_id)

    def reservation_ids(self, query: ReservationQuery) -> tuple[Address, ...]:
        """The addresses of the reservations that match."""
        wanted = questions.reservation_filter(query)
        return self._ids(lambda door, after: door.reservations(wanted, after, PAGE), _address)

    def fence_ids(self, query: FenceQuery) -> tuple[Address, ...]:
        """The addresses of the fences that match."""
        wanted = questions.fence_filter(query)
        return self._ids(
            lambda door, after: door.fences(wanted, after, PAGE), lambda fence: _address(fence.row)
        )

    def _ids(self, read: Read, id_of: Callable[[Any], Id]) -> tuple[Id, ...]:
        """At most `MOST` ids, read within `SECONDS`."""
        deadline, after = time.monotonic() + SECONDS, None
        found: dict[Id, None] = {}
        for _ in range(MOST // PAGE + 1):
            with self._store.desk() as door:
                page = read(door, after)
            found |= dict.fromkeys(id_of(row) for row in page.rows)
            after = page.next
            if after is None:
                break
            if time.monotonic() > deadline:
                raise _too_many(f"{len(found):,} were found in {SECONDS:g} s, and there are more")
        if after is not None or len(found) > MOST:
            raise _too_many(f"more than {MOST:,} match")
        return tuple(found)


def _address(row: desk.ReservationRow) -> Address:
    from console.gateway import money_rows

    return money_rows.reservation_row(row).address


def _too_many(why: str) -> GatewayError:
    return GatewayError(
        f"{why}; narrow the filter: a change is about {MOST:,} rows at most",
        code="validation",
        retryable=False,
    )
