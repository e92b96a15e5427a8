"""The harness itself: what every contract case relies on."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

import engine.checkpoints.tables
import engine.desk.tables
import engine.spend.day.tables
from engine.database.columns import METADATA, Instant
from engine.errors import SchemaMismatch
from tests.support.builders import TTL, claim, fresh_id
from tests.support.rows import rows_of
from tests.support.shift import NEVER_COMPARED, shifted_columns

if TYPE_CHECKING:
    from tests.support.harness import Harness

PRODUCERS = NEVER_COMPARED | {("event", "timestamp")}
"""Instants that a caller brings along, which no passing of the store's time may touch."""


def test_shift_hook_moves_every_instant_of_the_store(postgres_harness: Harness) -> None:
    assert engine.checkpoints.tables.thread.metadata is METADATA
    instants = {
        (table.name, column.name)
        for table in METADATA.tables.values()
        for column in table.columns
        if column.type is Instant
    }
    with postgres_harness.raw() as connection:
        shifted = shifted_columns(connection)
    moved = {(table, column) for table, columns in shifted.items() for column in columns}
    assert moved == instants - PRODUCERS


def test_time_passes_for_the_store_by_just_that_much(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    claim(store, t)
    before = expiry_left(harness_any_clock, t)
    harness_any_clock.advance(timedelta(seconds=7))
    assert abs(before - expiry_left(harness_any_clock, t) - 7) < 5


def test_storages_are_apart_and_siblings_share_one(harness: Harness) -> None:
    t = fresh_id()
    claim(harness.store, t)
    with pytest.raises(SchemaMismatch):
        harness.open(harness.fresh_url(), ensure_schema=False)
    elsewhere = harness.open(harness.fresh_url())
    assert claim(elsewhere, t).token == 1
    assert harness.sibling().checkpoints.renew(t, 1, TTL).holder == "first"
    with harness.raw() as connection:
        assert rows_of(connection, t) == {"thread": 1}


def expiry_left(harness: Harness, t: str) -> float:
    """Seconds from the store's now to the end of the claim."""
    with harness.raw() as connection:
        ns = connection.execute(text("SELECT claim_expires_at FROM thread WHERE thread_id = :t"), {"t": t})
        ends = int(ns.scalar_one()) / 1e9
    return ends - harness.now().timestamp()
