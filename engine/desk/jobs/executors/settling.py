"""Writing an answer about a planned reservation: under the guard that was shown, or not at all (rulings 40, 66)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.desk.jobs.executor import Done
from engine.desk.jobs.executors import shown_day, shown_meter
from engine.desk.money_views import ReservationKind
from engine.desk.object_ids import parts

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.desk.plans.model import Item
    from engine.spend.answers import Answer

Shown = shown_day.ShownDay | shown_meter.ShownMeter


def settle_shown(connection: Connection, item: Item, answer: Answer, now: datetime) -> Done:
    """An operator's answer about one DAY or METER item, in the caller's writing transaction.

    APPLIED with `before` and `after`: the row, and where it was settled the totals of its `day` or `account`.
    SKIPPED with `why` "already gone", "already settled" or "version changed", and the row as it is `now`. FAILED
    for a deferral on a meter whose tables know no fences. Whether the answer itself is sensible is the caller's
    to check; a figure is held to what is reserved.
    """
    shown = lock_shown(connection, item)
    return shown if isinstance(shown, Done) else shown.write(connection, answer, now)


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
