"""What the desk shows of reservations that the verbs themselves made, from admission to the last default."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from engine.desk import (
    Capped,
    DayRow,
    DefaultFate,
    FenceFilter,
    ReservationFilter,
    ReservationKind,
    ReservationState,
)
from engine.reserved import confirm
from engine.spend import Deferred
from engine.spend.meter.prefix import DEFAULT_PREFIX
from tests.support import money
from tests.support.builders import T0

if TYPE_CHECKING:
    from engine.desk import ReservationRow
    from engine.spend.meter import SpendMeter
    from tests.support.harness import Harness

K, S, Fate = ReservationKind, ReservationState, DefaultFate
SECOND = timedelta(seconds=1)
LEASE = 5 * SECOND
CAP = 60_000_000


def meter_of(harness: Harness, **options: Any) -> SpendMeter:
    """A meter that allows nine units a month; SQLite is not shared, which does not matter here."""
    return harness.store.meter(
        allowance_for=lambda _account, _period: 9,
        period_of=lambda _now, _account: "2026-10",
        lease=LEASE,
        require_shared=False,
        **options,
    )


def states(harness: Harness, **wanted: Any) -> dict[str, ReservationState]:
    """The state of each listed reservation."""
    page = harness.store.desk.reservations(ReservationFilter(**wanted))
    return {row.reservation_id: row.state for row in page.rows}


def found(harness: Harness, operation_id: str) -> ReservationRow:
    """One unit's row."""
    detail = harness.store.desk.reservation(K.METER, operation_id)
    assert detail is not None
    return detail.row


def test_units_of_a_dead_worker_expire_and_only_the_plain_one_is_settled_by_default(harness: Harness) -> None:
    meter, desk = meter_of(harness), harness.store.desk
    meter.reserve("acme", "plain")
    meter.reserve("acme", "fenced", require_fence=True)
    assert states(harness, kind=K.METER) == {"plain": S.OPEN, "fenced": S.FENCED}
    harness.advance(LEASE)
    assert states(harness, kind=K.METER) == {"plain": S.EXPIRED, "fenced": S.DUE}
    fates = {name: desk.reservation(K.METER, name) for name in ("plain", "fenced")}
    assert {name: each and each.fate for name, each in fates.items()} == {
        "plain": Fate.METER_DEFAULT,
        "fenced": Fate.LEFT_FENCED,
    }
    assert meter.reconcile().released == 1
    assert states(harness, kind=K.METER) == {"fenced": S.DUE}
    settled = found(harness, "plain")
    assert (settled.state, settled.outcome, settled.settled_late) == (S.SETTLED, "released", True)
    assert states(harness, state=S.SETTLED) == {"plain": S.SETTLED}
    account = desk.account(DEFAULT_PREFIX, "acme")
    assert account is not None
    assert [(row.allowance, row.used, row.reserved, row.remaining) for row in account.periods] == [
        (9, 0, 1, 8)
    ]
    assert (account.open, account.open_units) == (Capped(1, more=False), 1)


def test_a_deferred_unit_waits_with_its_evidence(harness: Harness) -> None:
    later = T0 + 60 * SECOND
    meter = meter_of(harness, resolve_expired=lambda _asked: Deferred(later, {"ticket": 7}))
    meter.reserve("acme", "asked")
    harness.advance(LEASE)
    assert meter.reconcile().deferred == 1
    (fence,) = harness.store.desk.fences().rows
    assert (fence.evidence, fence.due, fence.row.next_check_at) == ('{"ticket":7}', False, later)
    assert (fence.row.state, fence.row.due_in) == (S.FENCED, 60 * SECOND - LEASE)
    harness.advance(60 * SECOND - LEASE)
    (fence,) = harness.store.desk.fences(FenceFilter(state=S.DUE)).rows
    assert fence.due


def test_a_sweep_of_days_leaves_what_is_fenced(harness: Harness) -> None:
    desk, days = harness.store.desk, harness.store.days
    admitted: dict[str, Any] = {"at": T0, "expires": T0 + SECOND, "cap_micro": CAP}
    plain = days.reserve(kind="call", micro=100, **admitted)
    fenced = days.reserve(kind="call", micro=400, require_fence=True, **admitted)
    harness.advance(SECOND)
    assert states(harness) == {plain: S.EXPIRED, fenced: S.DUE}
    assert desk.reservation_totals().held_micro == 500
    assert days.sweep(harness.now()).settled == 1
    assert states(harness) == {fenced: S.DUE}
    assert desk.day().row == DayRow("2026-10-09", 400, 100)
    assert desk.reservation_totals().held_micro == 400
    settled = desk.reservation(K.DAY, plain)
    assert settled is not None
    assert (settled.row.settled_micro, settled.row.settled_late) == (100, True)


def test_a_confirmed_row_leaves_the_list(harness: Harness) -> None:
    with harness.raw() as connection:
        money.make_tables(connection)
        rows = [{"spot": f"s{n}"} | money.tentative_values(5, txn_id=f"txn-{n}") for n in range(2)]
        connection.execute(insert(money.SPOTS), rows)
    assert states(harness) == {"s0": S.OPEN, "s1": S.OPEN}
    with harness.raw() as connection:
        assert confirm(connection, money.SPOTS, "txn-0", harness.now()).rows == 1
    assert states(harness) == {"s1": S.OPEN}
    detail = harness.store.desk.reservation(K.TENTATIVE, "s0", "spots")
    assert detail is not None
    assert (detail.row.state, detail.row.owner, detail.txn_rows) == (
        S.SETTLED,
        "txn-0",
        Capped(0, more=False),
    )


def test_without_a_clock_of_its_own_a_page_goes_by_the_databases(harness: Harness) -> None:
    store, now = harness.open(clock=None), datetime.now(UTC)
    for name, expires in (("past", now - SECOND), ("ahead", now + 60 * SECOND)):
        store.days.reserve(kind=name, micro=1, at=now, expires=expires, cap_micro=CAP)
    page = store.desk.reservations()
    assert [(row.owner, row.state) for row in page.rows] == [("past", S.EXPIRED), ("ahead", S.OPEN)]
    assert now - SECOND < page.as_of < now + 30 * SECOND
    for row in page.rows:
        assert row.due_at is not None
        assert row.due_in == row.due_at - page.as_of
    assert store.desk.count_reservations(ReservationFilter(state=S.EXPIRED)).count == 1
