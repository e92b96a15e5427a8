"""Admitting under a day's cap, over any DayStore (spend.md 2A.2, 2A.5, 2A.9).

Lock the day, read what is committed, compare, reserve: one transaction, which is the caller's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from engine.clock import to_ns
from engine.database.columns import check_id, check_optional_id
from engine.errors import CostCapExceeded, UnsupportedStore
from engine.spend.amounts import MICRO, settling_figure, utc_day
from engine.spend.counts import MAX_COUNT, is_whole_count, whole_count
from engine.spend.day.model import Begun, Gone, InFlight, check_operation

if TYPE_CHECKING:
    from datetime import datetime

    from engine.spend.amounts import Figure
    from engine.spend.day.model import Admitted, OperationAdmission
    from engine.spend.day.store import DayStore

DAILY = "daily"


def reserve_spend(
    store: DayStore,
    *,
    kind: str,
    micro: int,
    at: datetime,
    expires: datetime,
    cap_micro: int,
    require_fence: bool = False,
    thread_id: str | None = None,
) -> str:
    """Hold `micro` on the UTC day of `at` if it fits under `cap_micro`; the reservation's id.

    Raises ValidationError, UnsupportedStore for a fence on a store without any, or CostCapExceeded, which a cap
    that is no whole count always is. `expires` may lie before `at`.
    """
    whole_count("micro", micro)
    for instant in (at, expires):
        to_ns(instant)
    check_id("kind", kind)
    check_optional_id("thread_id", thread_id)
    if require_fence:
        need_fences(store, "reserve")
    _fit(store, utc_day(at), kind, micro, cap_micro)
    add = store.add_fenced_reservation if require_fence else store.add_reservation
    return add(kind, micro, at, expires, thread_id)


def release_spend(
    store: DayStore,
    reservation_id: str,
    settled_micro: Figure,
    at: datetime,
    *,
    expected_deferrals: int | None = None,
) -> bool:
    """Settle at what it cost: whole micros, rounded down and at most the amount held.

    A figure that is negative or not finite settles the whole amount. False as for `settle_reservation`.
    """
    figure = settling_figure(settled_micro)
    whole = MAX_COUNT if figure is None else min(figure, MAX_COUNT)
    if expected_deferrals is None:
        return store.settle_reservation(reservation_id, whole, at)
    return store.settle_reservation(reservation_id, whole, at, expected_deferrals=expected_deferrals)


def admit_operation(store: DayStore, admission: OperationAdmission) -> Admitted:
    """Begin the operation's next run: its first under the day's cap, a later one on the amount held already.

    What a repeated admission says of kind, amount, cap and expiry is ignored. Where somebody else made the
    operation at this very moment, the answer is read without a lock: InFlight then means "ask again".
    Raises UnsupportedStore, ValidationError or CostCapExceeded.
    """
    return resume_operation(store, admission) or start_operation(store, admission) or _met(store, admission)


def resume_operation(store: DayStore, admission: OperationAdmission) -> Admitted | None:
    """Begin a run of an operation that has a row; None when it has none."""
    if getattr(store, "operation_reservations", False) is not True:
        raise UnsupportedStore("admit_operation", "this store keeps no operations; use one that does")
    check_operation(admission)
    row = store.open_operation_reservation(admission.operation_id)
    if row is None:
        return None
    return store.begin_run(
        row.reservation_id, admission.at, admission.lease_until, admission.run_micro, admission.max_runs
    )


def start_operation(store: DayStore, admission: OperationAdmission) -> Begun | None:
    """Make the operation's row with its first run; None when somebody else has made it.

    The day is locked from here on, so that row may be locked only in another transaction (ruling 38).
    """
    _fit(store, utc_day(admission.at), admission.kind, admission.micro, admission.cap_micro)
    reservation_id = store.add_operation_reservation(admission)
    return None if reservation_id is None else Begun(reservation_id, 1)


def _met(store: DayStore, admission: OperationAdmission) -> Admitted:
    row = store.open_operation_reservation(admission.operation_id)
    if row is None:
        raise UnsupportedStore("admit_operation", "it has an operation's row, and shows none: admit it again")
    if row.settled_micro is not None or row.expires_at <= admission.at:
        return Gone(row.reservation_id)
    return InFlight(row.reservation_id)


def need_fences(store: DayStore, operation: str) -> None:
    """UnsupportedStore unless the store keeps fences."""
    if getattr(store, "fenced_reservations", False) is not True:
        raise UnsupportedStore(operation, "this store keeps no fences; use one that does")


def _fit(store: DayStore, day: str, kind: str, micro: int, cap: object) -> None:
    """Lock the day; CostCapExceeded unless its total and `micro` fit under the cap, all of them whole counts."""
    total: object = store.lock_day(day)
    if not (is_whole_count(total) and is_whole_count(cap) and total + micro <= cap):
        raise CostCapExceeded(kind, DAILY, _usd(total), _usd(cap))


def _usd(micro: object) -> float:
    """Dollars, for a message; NaN for what is no number."""
    if not isinstance(micro, int | float):
        return math.nan
    try:
        return micro / MICRO
    except OverflowError:
        return math.inf if micro > 0 else -math.inf
