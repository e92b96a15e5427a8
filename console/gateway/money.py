"""The reading calls of `console.money_model.MoneyGateway` over a store of the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.gateway import questions, rows
from console.gateway.accounts import accounts_of_all

if TYPE_CHECKING:
    from console.gateway.store import OpenedStore
    from console.model import Counted, Page
    from console.money_model import (
        AccountQuery,
        AccountRow,
        AccountStory,
        DayRow,
        DayStory,
        FenceQuery,
        FenceRow,
        ReservationQuery,
        ReservationRow,
        ReservationStory,
        ReservationTotals,
    )
    from console.money_words import Address


class MoneyReading:
    """Reads what is reserved, through `engine.desk`."""

    _store: OpenedStore

    def reservations(self, query: ReservationQuery, after: str | None, limit: int) -> Page[ReservationRow]:
        """Reservations, first due first; settled ones newest first."""
        from console.gateway import money_rows

        with self._store.desk() as door:
            found = door.reservations(questions.reservation_filter(query), after, limit)
        return rows.page(found, money_rows.reservation_row)

    def count_reservations(self, query: ReservationQuery) -> Counted:
        """How many match, capped."""
        with self._store.desk() as door:
            return rows.counted(door.count_reservations(questions.reservation_filter(query)))

    def reservation_totals(self) -> ReservationTotals:
        """How many are open, in which states, capped, and what they hold."""
        from console.gateway import money_rows

        with self._store.desk() as door:
            return money_rows.totals(door.reservation_totals())

    def reservation(self, address: Address) -> ReservationStory | None:
        """One reservation, whole; None when there is none at this address."""
        from console.gateway import money_rows

        with self._store.desk() as door:
            found = door.reservation(address.kind.value, address.id, address.source or None)
        return None if found is None else money_rows.story(found)

    def fences(self, query: FenceQuery, after: str | None, limit: int) -> Page[FenceRow]:
        """Fenced open reservations, first check first."""
        from console.gateway import money_rows

        with self._store.desk() as door:
            found = door.fences(questions.fence_filter(query), after, limit)
        return rows.page(found, money_rows.fence_row)

    def accounts(self, query: AccountQuery, after: str | None, limit: int) -> Page[AccountRow]:
        """Accounts and their periods: of one meter, or meter by meter."""
        from console.gateway import money_rows

        with self._store.desk() as door:
            if query.meter is None:
                found = accounts_of_all(door, after, limit)
            else:
                found = door.accounts(query.meter, after, limit)
        return rows.page(found, money_rows.account_row)

    def account(self, meter: str, account: str) -> AccountStory | None:
        """One account; None when its meter never saw it."""
        from console.gateway import money_rows

        with self._store.desk() as door:
            found = door.account(meter, account)
        return None if found is None else money_rows.account_story(found)

    def days(self, after: str | None, limit: int) -> Page[DayRow]:
        """Totals of days, newest first."""
        from console.gateway import money_rows

        with self._store.desk() as door:
            return rows.page(door.days(after=after, limit=limit), money_rows.day_row)

    def day(self, day: str | None) -> DayStory:
        """One day, or today by the store's clock."""
        from console.gateway import money_rows

        with self._store.desk() as door:
            return money_rows.day_story(door.day(day))
