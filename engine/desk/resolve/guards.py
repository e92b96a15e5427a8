"""The guard under which a reservation was shown, in the words of a plan's items (rulings 40 and 66)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.clock import to_ns
from engine.desk.money_views import DayGuard, MeterGuard, ReservationKind
from engine.desk.object_ids import reservation_name
from engine.desk.plans.model import Item, ItemKind
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.desk.money_views import ReservationDetail


def guard_of(detail: ReservationDetail) -> Mapping[str, Any]:
    """What an answer about this reservation must be written under; ValidationError for a tentative row."""
    row = detail.row
    match detail.guard:
        case DayGuard(deferrals):
            assert row.expires_at is not None
            checked = None if row.next_check_at is None else to_ns(row.next_check_at)
            return {"deferrals": deferrals, "expires_at": to_ns(row.expires_at), "next_check_at": checked}
        case MeterGuard(attempt, expires_at):
            return {"attempt": attempt, "expires_at": to_ns(expires_at)}
        case _:
            raise ValidationError("kind", ("a tentative row is its writer's to confirm or to release",))


def item_of(kind: ReservationKind, reservation_id: str, source: str, guard: Mapping[str, Any]) -> Item:
    """One reservation as a plan of one item; ValidationError for a guard that is not of its kind."""
    day = kind is ReservationKind.DAY
    wanted = {"deferrals", "expires_at", "next_check_at"} if day else {"attempt", "expires_at"}
    if set(guard) != wanted:
        raise ValidationError(
            "guard", (f"must hold {', '.join(sorted(wanted))}, as the reservation was shown",)
        )
    name = reservation_name(kind, reservation_id, source)
    return Item(1, ItemKind.DAY if day else ItemKind.METER, name, guard)
