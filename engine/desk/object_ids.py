"""How plans, operations and the audit name a reservation in one word."""

from __future__ import annotations

from typing import Final

from engine.database.columns import check_id
from engine.desk.money_views import ReservationKind
from engine.errors import ValidationError
from engine.spend.meter.prefix import check_prefix

_DAY: Final = "day"
_METER: Final = "meter"


def reservation_name(kind: ReservationKind, reservation_id: str, source: str = "") -> str:
    """`day:<id>` or `meter:<prefix>:<operation>`; ValidationError for a tentative row, which none of them hold."""
    check_id("reservation_id", reservation_id)
    if kind is ReservationKind.DAY:
        return f"{_DAY}:{reservation_id}"
    if kind is ReservationKind.METER:
        return f"{_METER}:{check_prefix(source)}:{reservation_id}"
    raise ValidationError("kind", ("a tentative row is its writer's to confirm or to release",))


def parts(name: str) -> tuple[ReservationKind, str, str]:
    """Kind, source and id of such a name."""
    kind, _, rest = name.partition(":")
    if kind == _DAY and rest:
        return ReservationKind.DAY, "", rest
    prefix, _, operation = rest.partition(":")
    if kind == _METER and operation:
        return ReservationKind.METER, check_prefix(prefix), operation
    raise ValidationError("object_id", (f"must be day:ID or meter:PREFIX:OPERATION, not {name!r:.80}",))
