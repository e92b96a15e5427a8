"""Writing an answer about a planned reservation: under the guard that was shown, or not at all (rulings 40, 66)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.desk.jobs.executors import shown_day, shown_meter
from engine.desk.money_views import ReservationKind
from engine.desk.object_ids import parts

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.jobs.executor import Done
    from engine.desk.plans.model import Item

Shown = shown_day.ShownDay | shown_meter.ShownMeter


def lock_shown(connection: Connection, item: Item) -> Shown | Done:
    """The reservation as it was planned, its row locked; or why it is not."""
    kind, prefix, which = parts(item.object_id)
    if kind is ReservationKind.DAY:
        return shown_day.shown_day(connection, shown_day.LOCK, which, item.guard)
    return shown_meter.lock_meter(connection, prefix, which, item.guard)


def read_shown(connection: Connection, item: Item) -> Shown | Done:
    """The same by an ordinary look."""
    kind, prefix, which = parts(item.object_id)
    if kind is ReservationKind.DAY:
        return shown_day.shown_day(connection, shown_day.READ, which, item.guard)
    return shown_meter.read_meter(connection, prefix, which, item.guard)
