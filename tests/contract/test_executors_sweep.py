"""A job's sweep, straight on its executor: exactly what was planned, or less (rulings 16, 32, 54 and 69)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.clock import to_ns
from engine.desk.audit.model import Deed
from engine.desk.plans.model import ItemKind
from engine.spend.meter.prefix import DEFAULT_PREFIX
from tests.property.audit import Tables, audit
from tests.support.builders import TTL, chain, claim, emit
from tests.support.executors import APPLIED, FAILED, SKIPPED, item, job, row_of
from tests.support.meters import consume, hold, metering, reservations
from tests.support.money import SECOND, SPOTS, make_tables, tentative_values
from tests.support.retention import buried, hist, log_of, mark, recorded, three_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.desk.plans.model import Item
    from tests.support.executors import Job
    from tests.support.harness import Harness

GUARD = "tests.contract.test_executors_sweep:protects_r1"
FAILING = "tests.contract.test_executors_sweep:raises"


def protects_r1(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """A guard that keeps the evidence of the first run, and every tombstone that it is asked about."""
    return {t: frozenset({"r1"}) for t in ids}


def raises(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """A guard that knows nothing."""
    raise LookupError(f"no answer about {ids[0]}")


def sweeping(harness: Harness, *items: Item, **params: Any) -> Job:
    """A job of these items."""
    return job(harness, Deed.SWEEP, items, **params)


def retention(t: str, checkpoints: Sequence[str], floor: int | None) -> Item:
    """The planned part of a thread."""
    return item(1, ItemKind.RETENTION, t, checkpoints=list(checkpoints), floor=floor)


def tombstone(harness: Harness, t: str) -> Item:
    """The tombstone as it is shown now."""
    return item(1, ItemKind.TOMBSTONE, t, deleted_at=row_of(harness, t).deleted_at)


def checked(harness: Harness) -> None:
    """Every thread is whole."""
    with harness.raw() as connection:
        audit(Tables(connection))


def test_ruling_54_a_sweep_takes_the_planned_checkpoints_and_floor_and_no_more(harness: Harness) -> None:
    store = harness.checkpoints
    token = three_runs(store, "t")
    asked = sweeping(harness, retention("t", ["c1", "c2"], 3))
    harness.advance(timedelta(seconds=1))
    chain(store, "t", token, ["c6"], run_id="r3")
    done = asked.run()[0]
    assert (done.outcome, done.detail["after"]) == (APPLIED, {"removed": 2, "kept": 0, "events": 2})
    assert hist(store, "t") == ["c6", "c5", "c4", "c3"]
    assert log_of(store, "t") == (3, [3, 4, 5, 6])
    checked(harness)


@pytest.mark.parametrize("by", ["entry", "guard"])
def test_ruling_54_less_what_an_open_entry_or_a_guard_protects_by_then(harness: Harness, by: str) -> None:
    store = harness.checkpoints
    three_runs(store, "t")
    asked = sweeping(harness, retention("t", ["c1", "c2", "c3"], 4), guard=GUARD if by == "guard" else None)
    if by == "entry":
        recorded(harness.store, "t", "r1")
    done = asked.run()[0]
    assert done.detail["after"] == {"removed": 2, "kept": 1, "events": 3}
    assert hist(store, "t") == ["c5", "c4", "c2"]
    assert log_of(store, "t") == (4, [4, 5])


def test_ruling_54_the_newest_and_a_later_life_of_the_id_are_not_touched(harness: Harness) -> None:
    store = harness.checkpoints
    token = three_runs(store, "t")
    asked = sweeping(harness, retention("t", ["c1", "c2", "c5"], 4))
    store.delete_thread("t", token)
    harness.advance(timedelta(seconds=1))
    chain(store, "t", claim(store, "t").token, ["c1", "c2", "c3"], run_id="r9")
    before = (hist(store, "t"), log_of(store, "t"))
    assert asked.run()[0].outcome is SKIPPED
    assert (hist(store, "t"), log_of(store, "t")) == before
    newest = sweeping(harness, retention("t", ["c3"], None))
    assert newest.run()[0].outcome is SKIPPED
    assert hist(store, "t") == ["c3", "c2", "c1"]


def test_ruling_54_a_thread_that_is_gone_is_skipped_and_so_is_a_failing_guard(harness: Harness) -> None:
    store = harness.checkpoints
    three_runs(store, "t")
    token = three_runs(store, "gone")
    failing = sweeping(harness, retention("t", ["c1"], 2), guard=FAILING)
    gone = sweeping(harness, retention("gone", ["c1"], 2))
    store.delete_thread("gone", token)
    gone.run()
    assert gone.whys() == ["already gone"]
    assert failing.run()[0].outcome is FAILED
    assert failing.whys() == ["the guard raised LookupError: no answer about t"]
    assert failing.done[0].detail["retryable"] is True
    assert (hist(store, "t")[-1], log_of(store, "t")[0]) == ("c1", 0)


def test_ruling_18_a_floor_far_away_is_reached_in_steps_and_after_a_kill(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("prune_planned", "events"):
        monkeypatch.setattr(f"engine.checkpoints.{module}.COMPACT_STEP", 2)
    store = harness.checkpoints
    token = three_runs(store, "t")
    emit(store, "t", token, *"abcdef")
    asked = sweeping(harness, retention("t", ["c1"], 10))
    assert asked.run_until_killed(harness.store, 3)
    assert (log_of(store, "t")[0], hist(store, "t")[-1]) == (5, "c1")
    assert asked.run(harness.sibling())[0].detail["after"] == {"removed": 1, "kept": 0, "events": 9}
    assert log_of(store, "t") == (10, [10, 11])
    checked(harness)


def test_ruling_54_a_tombstone_goes_only_while_it_is_that_one_and_bare(harness: Harness) -> None:
    store = harness.checkpoints
    threads = ("dead", "again", "alive", "held", "swept")
    for t in threads:
        buried(store, t)
    jobs = {t: sweeping(harness, tombstone(harness, t)) for t in threads}
    harness.advance(timedelta(seconds=1))
    buried(store, "again")
    chain(store, "alive", claim(store, "alive").token, ["c1"])
    claim(store, "held")
    with harness.raw() as connection:
        connection.execute(text("DELETE FROM thread WHERE thread_id = 'swept'"))
    for each in jobs.values():
        each.run()
    in_use = "the id is in use again"
    whys = {"dead": "applied", "again": "version changed", "alive": in_use, "held": in_use}
    assert {t: each.whys()[0] for t, each in jobs.items()} == whys | {"swept": "already gone"}
    assert row_of(harness, "dead") is None
    assert mark(harness) == 7
    guarded = sweeping(harness, tombstone(harness, "again"), guard=GUARD)
    guarded.run()
    assert guarded.whys() == ["protected by the guard"]
    checked(harness)


def spots(harness: Harness) -> set[str]:
    """The rows that are left."""
    with harness.raw() as connection:
        return set(connection.execute(text("SELECT spot FROM spots")).scalars())


def test_ruling_32_lapsed_rows_by_the_planned_instant_go_in_batches(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.desk.jobs.executors.batches.BATCH", 2)
    with harness.raw() as connection:
        make_tables(connection)
        rows = [{"spot": f"s{n}"} | tentative_values(n) for n in range(7)]
        kept = {"spot": "kept", "txn_id": "x", "state": "committed", "reserve_deadline": None}
        connection.execute(insert(SPOTS), [*rows, kept])
    until = to_ns(harness.now()) + 4 * SECOND
    asked = sweeping(harness, item(1, ItemKind.LAPSED, "spots", until=until))
    harness.advance(TTL)
    assert asked.run_until_killed(harness.store, 3)
    assert spots(harness) == {"s4", "s5", "s6", "kept"}
    assert asked.run(harness.sibling())[0].detail["after"] == {"removed": 5}
    assert spots(harness) == {"s5", "s6", "kept"}
    missing = sweeping(harness, item(1, ItemKind.LAPSED, "nothing", until=until))
    missing.run()
    assert missing.whys() == ["already gone"]


def test_console_F10_settled_units_are_purged_in_batches(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.desk.jobs.executors.batches.BATCH", 2)
    meter, now = metering(harness, a=50), harness.now()
    consume(meter, now, "o1", "o2", "o3")
    hold(meter, now, "held")
    consume(meter, now + TTL, "o4")
    before = to_ns(now + timedelta(seconds=1))
    asked = sweeping(harness, item(1, ItemKind.PURGE, DEFAULT_PREFIX, before=before))
    assert asked.run_until_killed(harness.store, 2)
    assert len(reservations(harness)) == 3
    assert asked.run(harness.sibling())[0].detail["after"] == {"removed": 3}
    assert set(reservations(harness)) == {"held", "o4"}
    missing = sweeping(harness, item(1, ItemKind.PURGE, "nothing", before=before))
    missing.run()
    assert missing.whys() == ["already gone"]
