"""Ruling 49: the purge of what meters settled long ago, as a part of the maintenance pass."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import SweepPolicy
from engine.desk import Maintenance, chores
from engine.errors import ValidationError
from engine.spend import Outcome

if TYPE_CHECKING:
    from engine.desk import Pass
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


def test_ruling_49_without_an_age_nothing_of_a_meter_goes(harness: Harness) -> None:
    settled(meter_of(harness, "calls"), "old", "o1")
    harness.advance(2 * DAY)
    assert a_pass(harness, None).units_purged == 0
    with pytest.raises(ValidationError, match="meter_age"):
        a_pass(harness, -HOUR)


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
