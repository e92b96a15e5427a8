"""Ruling 49: the purge of what meters settled long ago, as a part of the maintenance pass."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.checkpoints import SweepPolicy
from engine.desk import Maintenance, Pass, chores
from engine.desk.maintenance import LEASE, MAINTENANCE_THREAD
from engine.errors import ValidationError
from engine.spend import MeterOperator, Outcome

if TYPE_CHECKING:
    from engine.spend import SpendMeter
    from tests.support.harness import Harness

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def a_pass(harness: Harness, meter_age: timedelta | None = DAY) -> Pass:
    """One pass that removes nothing but what meters settled."""
    keeper = Maintenance(harness.store, interval=HOUR, policy=SweepPolicy(), meter_age=meter_age)
    done = keeper.run_once()
    assert done is not None
    return done


def meter_of(harness: Harness, prefix: str) -> SpendMeter:
    """A meter of a rolling hour."""
    return harness.store.meter(
        allowance_for=lambda *_: 9, window=HOUR, require_shared=False, table_prefix=prefix
    )


def settled(meter: SpendMeter, account: str, *operations: str) -> None:
    """Consumed units of one account."""
    for operation in operations:
        meter.reserve(account, operation)
        meter.settle(operation, Outcome.CONSUMED)


def test_ruling_49_a_pass_purges_every_meter(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chores, "METER_BATCH", 2)
    first, second = meter_of(harness, "calls"), meter_of(harness, "pages")
    settled(first, "old", "o1", "o2", "o3", "o4", "o5")
    settled(second, "old", "o1")
    second.reserve("held", "o2", require_fence=True)
    harness.advance(2 * DAY)
    settled(first, "new", "n1")

    done = a_pass(harness)

    assert (done.units_purged, done.accounts_purged, done.meter_errors) == (6, 2, 0)
    assert first.snapshot("new").used == 1
    assert second.snapshot("held").reserved == 1
    again = a_pass(harness)
    assert (again.units_purged, again.accounts_purged) == (0, 0)


def test_ruling_49_the_lease_is_renewed_between_meters(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little each of them has to purge."""
    for prefix in ("calls", "pages", "words"):
        settled(meter_of(harness, prefix), "old", "o1")
    harness.advance(2 * DAY)
    purge, renewed = MeterOperator.purge, list[str]()

    def slow(self: MeterOperator, *args: Any, **more: Any) -> Any:
        harness.advance(LEASE * 0.6)
        return purge(self, *args, **more)

    monkeypatch.setattr(MeterOperator, "purge", slow)
    renew = harness.store.checkpoints.renew

    def noted(thread_id: str, *rest: Any) -> Any:
        renewed.append(thread_id)
        return renew(thread_id, *rest)

    monkeypatch.setattr(harness.store.checkpoints, "renew", noted)
    done = a_pass(harness)
    assert (done.units_purged, done.accounts_purged, done.meter_errors) == (3, 3, 0)
    assert renewed[:3] == [MAINTENANCE_THREAD] * 3


def test_ruling_49_a_stop_ends_the_purge_between_meters(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    meters = {prefix: meter_of(harness, prefix) for prefix in ("calls", "pages")}
    for meter in meters.values():
        settled(meter, "old", "o1")
    harness.advance(2 * DAY)
    stop, purge = threading.Event(), MeterOperator.purge

    def stopping(self: MeterOperator, *args: Any, **more: Any) -> Any:
        stop.set()
        return purge(self, *args, **more)

    monkeypatch.setattr(MeterOperator, "purge", stopping)
    keeper = Maintenance(harness.store, interval=HOUR, policy=SweepPolicy(), meter_age=DAY)
    assert keeper.run_once(stop) == Pass(units_purged=1, accounts_purged=1)
    stop.clear()
    assert a_pass(harness).units_purged == 1


def test_ruling_49_without_an_age_nothing_of_a_meter_goes(harness: Harness) -> None:
    settled(meter_of(harness, "calls"), "old", "o1")
    harness.advance(2 * DAY)
    assert a_pass(harness, None).units_purged == 0
    for wrong in (-HOUR, timedelta.max):
        with pytest.raises(ValidationError, match="meter_age"):
            a_pass(harness, wrong)


def test_ruling_49_a_meter_that_cannot_be_purged_is_logged(
    harness: Harness, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for prefix in ("calls", "pages"):
        settled(meter_of(harness, prefix), "old", "o1")
    harness.advance(2 * DAY)
    found = harness.store.desk.prefixes()
    monkeypatch.setattr(type(harness.store.desk), "prefixes", lambda *_: found)
    with harness.store.engine.begin() as connection:
        connection.execute(text("DROP TABLE calls_reservations"))
    with caplog.at_level(logging.WARNING):
        done = a_pass(harness)
    assert (done.units_purged, done.meter_errors, done.pages) == (1, 1, 1)
    assert "'calls' was not purged" in caplog.text
