"""The operator's door to money: what is held, by whom, until when, and what would become of it (spend.md 2C)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.desk import accounts, adopting, days, money_counts, money_detail, money_pages
from engine.desk.bound import Bound
from engine.desk.meters import find_meters
from engine.desk.money_filter import FenceFilter, ReservationFilter

if TYPE_CHECKING:
    from engine.desk.money_views import (
        AccountDetail,
        AccountRow,
        AdopterTotals,
        DayDetail,
        DayRow,
        FenceRow,
        MeterRow,
        ReservationDetail,
        ReservationKind,
        ReservationRow,
        ReservationTotals,
    )
    from engine.desk.views import Capped, Page

_EVERY_OPEN: Final = ReservationFilter()
_EVERY_FENCE: Final = FenceFilter()


class MoneyDesk(Bound):
    """The part of the desk that shows reservations; each call is one bounded snapshot."""

    def reservations(
        self, wanted: ReservationFilter = _EVERY_OPEN, after: str | None = None, limit: int = 100
    ) -> Page[ReservationRow]:
        """One keyset page of at most 200 reservations of all kinds: first due first, settled ones newest first."""
        return self._whole("desk.reservations", money_pages.reservations, wanted, after, limit)

    def count_reservations(self, wanted: ReservationFilter = _EVERY_OPEN) -> Capped:
        """How many reservations match, counted up to 10,000."""
        return self._whole("desk.count_reservations", money_counts.count_reservations, wanted)

    def reservation_totals(self) -> ReservationTotals:
        """How many are open, expired, fenced and due, by kind, and how much money they hold."""
        return self._whole("desk.reservation_totals", money_counts.reservation_totals)

    def fences(
        self, wanted: FenceFilter = _EVERY_FENCE, after: str | None = None, limit: int = 100
    ) -> Page[FenceRow]:
        """One keyset page of at most 200 fenced reservations with their evidence, first to be checked first."""
        return self._whole("desk.fences", money_pages.fences, wanted, after, limit)

    def reservation(
        self, kind: ReservationKind | str, reservation_id: str, source: str | None = None
    ) -> ReservationDetail | None:
        """The whole story of one; `source` is a meter's prefix or a table's name. None when there is none."""
        return self._whole("desk.reservation", money_detail.reservation_detail, kind, reservation_id, source)

    def prefixes(self, after: str = "") -> tuple[tuple[str, ...], str | None]:
        """The prefixes of the meters in this database behind `after`, and where to go on from."""
        found = self._one("desk.prefixes", find_meters, after)
        return tuple(meter.prefix for meter in found.found), found.next

    def meters(self, after: str | None = None, limit: int = 64) -> Page[MeterRow]:
        """One keyset page of at most 64 meters, by prefix, found by their tables."""
        return self._whole("desk.meters", accounts.meters, after, limit)

    def accounts(self, prefix: str, after: str | None = None, limit: int = 100) -> Page[AccountRow]:
        """One keyset page of a meter's accounts, a row for each period, by (account_id, period)."""
        return self._whole("desk.accounts", accounts.accounts, prefix, after, limit)

    def account(self, prefix: str, account_id: str) -> AccountDetail | None:
        """One account of a meter with its periods; None for one that it never saw."""
        return self._whole("desk.account", accounts.account, prefix, account_id)

    def adopters(self) -> AdopterTotals:
        """The tables that keep the reserved-commit convention, with their counts."""
        return self._whole("desk.adopters", adopting.adopter_totals)

    def days(
        self,
        since: str | None = None,
        until: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Page[DayRow]:
        """One keyset page of days' totals, newest first; `since` and `until` are days too, and in it."""
        return self._whole("desk.days", days.days, since, until, after, limit)

    def day(self, day: str | None = None) -> DayDetail:
        """One day's totals and what it has open; by default today, by the store's clock."""
        return self._whole("desk.day", days.day, day)
