"""What the rows of each list have of a filter's fields, for `!field:value` among those that were fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console.money_words import Kind

if TYPE_CHECKING:
    from console.money_model import FenceRow, ReservationRow
    from console.sieve import Values


def _reservation(row: ReservationRow | FenceRow) -> ReservationRow:
    from console.money_model import FenceRow

    return row.row if isinstance(row, FenceRow) else row


def _kept_in(row: Any, kind: Kind) -> str | None:
    address = _reservation(row).address
    return address.source if address.kind is kind else None


THREADS: Final[Values] = {
    "tenant": lambda row: row.tenant,
    "holder": lambda row: row.holder,
    "id": lambda row: row.id,
}
CLAIMS: Final[Values] = {
    "holder": lambda row: row.holder,
    "tenant": lambda row: row.tenant,
    "id": lambda row: row.thread,
}
HOLDERS: Final[Values] = {"holder": lambda row: row.holder}
TOMBSTONES: Final[Values] = {"id": lambda row: row.thread}
QUEUE: Final[Values] = {
    "state": lambda row: row.state.value,
    "tenant": lambda row: row.tenant,
    "thread": lambda row: row.thread,
}
MONEY: Final[Values] = {
    "state": lambda row: _reservation(row).state.value,
    "kind": lambda row: _reservation(row).address.kind.value,
    "owner": lambda row: _reservation(row).owner,
    "day": lambda row: _reservation(row).period,
    "thread": lambda row: _reservation(row).thread,
    "meter": lambda row: _kept_in(row, Kind.METER),
    "table": lambda row: _kept_in(row, Kind.TENTATIVE),
}
ACCOUNTS: Final[Values] = {"meter": lambda row: row.meter}
DAYS: Final[Values] = {"day": lambda row: row.day}
JOBS: Final[Values] = {
    "state": lambda row: row.state.value,
    "deed": lambda row: row.deed,
    "environment": lambda row: row.environment,
    "runner": lambda row: row.owner,
}
PLANS: Final[Values] = {
    "state": lambda row: row.state.value,
    "deed": lambda row: row.deed.value,
    "environment": lambda row: row.environment,
    "by": lambda row: row.actor,
}
ITEMS: Final[Values] = {"outcome": lambda row: row.outcome.value, "why": lambda row: row.why}
EVENTS: Final[Values] = {
    "kind": lambda row: row.kind,
    "thread": lambda row: row.thread,
    "tenant": lambda row: row.tenant,
}
