"""The reading calls of the commands about money: the engine's records as documents, amounts as whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.gateway import money_rows, questions
from console.gateway.accounts import accounts_of_all
from console.read.documents import document, page_of

if TYPE_CHECKING:
    from console.gateway.store import OpenedStore
    from console.money_model import FenceQuery, ReservationQuery, ReservationStory
    from console.money_words import Address
    from console.read.documents import Document


class MoneyReads:
    """Each call is one bounded read; raises GatewayError. Pages are `{as_of, next, rows}`."""

    _store: OpenedStore

    def reservations(self, query: ReservationQuery, after: str | None, limit: int) -> Document:
        """Reservations of every kind, first due first; settled ones newest first."""
        with self._store.desk() as door:
            return page_of(door.reservations(questions.reservation_filter(query), after, limit))

    def count_reservations(self, query: ReservationQuery) -> Document:
        """How many match, counted up to 10,000."""
        with self._store.desk() as door:
            return document(door.count_reservations(questions.reservation_filter(query)))

    def reservation_totals(self) -> Document:
        """How many are open, by kind and state, and what all days hold."""
        with self._store.desk() as door:
            return document(door.reservation_totals())

    def reservation(self, address: Address) -> Document | None:
        """The whole story of one; None when there is none at the address."""
        with self._store.desk() as door:
            found = door.reservation(address.kind.value, address.id, address.source or None)
        return None if found is None else document(found)

    def reservation_story(self, address: Address) -> ReservationStory | None:
        """The same as the console tells it."""
        with self._store.desk() as door:
            found = door.reservation(address.kind.value, address.id, address.source or None)
        return None if found is None else money_rows.story(found)

    def fences(self, query: FenceQuery, after: str | None, limit: int) -> Document:
        """Fenced open reservations with the beginning of their evidence, first check first."""
        with self._store.desk() as door:
            return page_of(door.fences(questions.fence_filter(query), after, limit))

    def meters(self, after: str | None, limit: int) -> Document:
        """The meters that are found by their tables, by prefix."""
        with self._store.desk() as door:
            return page_of(door.meters(after, limit))

    def accounts(self, meter: str | None, after: str | None, limit: int) -> Document:
        """Accounts and their periods, of one meter or of every one."""
        with self._store.desk() as door:
            if meter is None:
                return page_of(accounts_of_all(door, after, limit))
            return page_of(door.accounts(meter, after, limit))

    def account(self, meter: str | None, account: str) -> Document | None:
        """One account of a meter, by default of the one with the default tables; None if it never saw it."""
        from engine.spend.meter.prefix import DEFAULT_PREFIX

        with self._store.desk() as door:
            found = door.account(DEFAULT_PREFIX if meter is None else meter, account)
        return None if found is None else document(found)

    def days(self, since: str | None, until: str | None, after: str | None, limit: int) -> Document:
        """Totals of days, newest first; both ends are in it."""
        with self._store.desk() as door:
            found = door.days(since, until, after, limit)
        return page_of(found) | {"rows": [_day(row) for row in found.rows]}

    def day(self, day: str | None) -> Document:
        """One day, or today by the store's clock, with what it has open."""
        with self._store.desk() as door:
            found = door.day(day)
        return document(found) | {"row": _day(found.row)}


def _day(row: Any) -> Document:
    return document(row) | {"committed_micro": row.committed_micro}
