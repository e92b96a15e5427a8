"""Deleting a thread and using its id again: cases 70 to 85 of checkpoints.md (83 is in test_prune.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import Commit, EffectDraft
from engine.errors import StaleClaim, ThreadBusy
from tests.support.builders import TTL, chain, ck, claim, emit, ev, fresh_id, latest_id, seqs, task_ids, wr
from tests.support.refusals import named, refused
from tests.support.tombs import (
    check_deleted,
    check_half_compacted,
    check_second_life,
    check_twice_deleted,
    compact_second_life,
    deleted_at,
    five_events_deleted,
    read,
    second_life,
    untold,
)

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness


def test_core_70_everything_of_the_thread_goes_and_nothing_else(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, o = fresh_id(), fresh_id()
    token = claim(checkpoints, t).token
    full = Commit(token, checkpoint=ck("c1", t=t), writes=[wr("c1", "0.0")], events=[ev("a")])
    checkpoints.commit(t, full)
    chain(checkpoints, o, claim(checkpoints, o).token, ["o1"])

    checkpoints.delete_thread(t, token)

    assert checkpoints.latest(t) is None
    assert checkpoints.history(t) == []
    assert checkpoints.checkpoint(t, "c1") is None
    assert seqs(checkpoints, t) == []
    assert (latest_id(checkpoints, o), seqs(checkpoints, o)) == ("o1", [1])
    refused(StaleClaim(t, token, None), checkpoints.commit, t, Commit(token, events=[ev("late")]))


def test_core_70_the_id_and_its_checkpoint_ids_can_be_used_again(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    first = claim(checkpoints, t).token
    chain(checkpoints, t, first, ["c1"])
    checkpoints.delete_thread(t, first)

    again = claim(checkpoints, t, "again")

    assert again.token > first
    assert again.taken_over_from is None
    assert [record.seq for record in chain(checkpoints, t, again.token, ["c1"])] == [3]
    assert latest_id(checkpoints, t) == "c1"


def test_core_71_a_delete_needs_a_claim(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    unknown, t = fresh_id(), fresh_id()
    refused(StaleClaim(unknown, 1, None), checkpoints.delete_thread, unknown, 1)
    refused(StaleClaim(unknown, 4711, None), checkpoints.delete_thread, unknown, 4711)

    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["c1"])
    checkpoints.release(t, token)
    refused(StaleClaim(t, token, None), checkpoints.delete_thread, t, token)
    assert (latest_id(checkpoints, t), seqs(checkpoints, t)) == ("c1", [1])


def test_core_72_a_superseded_holder_cannot_delete(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t = fresh_id()
    first = claim(checkpoints, t).token
    checkpoints.commit(t, Commit(first, checkpoint=ck("c1", t=t), writes=[wr("c1", "0.0")], events=[ev("a")]))
    harness_any_clock.advance(TTL)
    second = claim(checkpoints, t, "second").token

    refused(StaleClaim(t, first, second), checkpoints.delete_thread, t, first)

    assert (latest_id(checkpoints, t), task_ids(checkpoints, t)) == ("c1", ["0.0"])
    assert seqs(checkpoints, t) == [1]
    refused(ThreadBusy(t, "c1", named("second")), claim, checkpoints, t, "third")
    assert emit(checkpoints, t, second, "b") == [2]


def test_core_73_an_expired_holder_nobody_replaced_deletes(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, ["c1"])
    harness_any_clock.advance(TTL * 2)

    checkpoints.delete_thread(t, token)

    assert checkpoints.latest(t) is None
    deleted_at(checkpoints, t, [1])


def test_core_74_cursors_after_a_delete(harness: Harness) -> None:
    t = fresh_id()
    five_events_deleted(harness.checkpoints, t)
    check_deleted(harness.checkpoints, t)


def test_core_75_a_new_thread_numbers_past_the_deleted_log(harness: Harness) -> None:
    t = fresh_id()
    second_life(harness.checkpoints, t)
    check_second_life(harness.checkpoints, t)


def test_core_76_the_new_log_has_a_floor_of_its_own(harness: Harness) -> None:
    t = fresh_id()
    token = second_life(harness.checkpoints, t)
    compact_second_life(harness.checkpoints, t, token)


def twice_deleted(checkpoints: Checkpointer, t: str) -> None:
    """Case 77: the second thread of the id is deleted too; its last number was 9."""
    token = second_life(checkpoints, t)
    compact_second_life(checkpoints, t, token)
    checkpoints.delete_thread(t, token)


def test_core_77_a_second_delete(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    twice_deleted(checkpoints, t)
    check_twice_deleted(checkpoints, t)

    assert emit(checkpoints, t, claim(checkpoints, t).token, "next") == [11]
    assert read(checkpoints, t, 0) == [11]
    assert read(checkpoints, t, 10) == [11]
    deleted_at(checkpoints, t, range(1, 10))


def test_core_78_a_delete_that_numbered_nothing_moves_nothing(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    twice_deleted(checkpoints, t)

    checkpoints.delete_thread(t, claim(checkpoints, t).token)

    check_twice_deleted(checkpoints, t)
    assert emit(checkpoints, t, claim(checkpoints, t).token, "next") == [11]


def test_core_79_a_thread_without_events_leaves_no_tombstone(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    checkpoints.commit(t, Commit(token, checkpoint=ck("c1", t=t)))

    checkpoints.delete_thread(t, token)

    untold(checkpoints, t)
    with harness.raw() as connection:
        rows = connection.execute(text("SELECT count(*) FROM thread WHERE thread_id = :t"), {"t": t})
        assert rows.scalar_one() == 0
    assert emit(checkpoints, t, claim(checkpoints, t).token, "a", "b") == [1, 2]


def test_core_80_effect_records_go_with_the_thread(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    checkpoints.commit(t, Commit(token, effects=[EffectDraft("mail", {"sent": True})]))
    recorded = checkpoints.effect(t, "mail")
    assert recorded is not None
    assert recorded.value == {"sent": True}

    checkpoints.delete_thread(t, token)
    assert checkpoints.effect(t, "mail") is None
    again = claim(checkpoints, t, "again").token
    chain(checkpoints, t, again, ["c1"])
    assert checkpoints.effect(t, "mail") is None
    checkpoints.commit(t, Commit(again, effects=[EffectDraft("mail", {"sent": False})]))
    second = checkpoints.effect(t, "mail")
    assert second is not None
    assert second.value == {"sent": False}


@pytest.mark.parametrize("view", ["reopened", "sibling"])
def test_core_81_deleted_logs_look_the_same_from_everywhere(harness: Harness, view: str) -> None:
    def elsewhere() -> Checkpointer:
        return harness.reopen().checkpoints if view == "reopened" else harness.sibling().checkpoints

    first, second = fresh_id(), fresh_id()
    five_events_deleted(harness.checkpoints, first)
    check_deleted(elsewhere(), first)
    token = second_life(harness.checkpoints, second)
    check_second_life(elsewhere(), second)
    harness.checkpoints.compact_events(second, 8)
    check_half_compacted(elsewhere(), second)
    harness.checkpoints.compact_events(second, 100)
    assert emit(elsewhere(), second, token, "h") == [9]
    harness.checkpoints.delete_thread(second, token)
    check_twice_deleted(elsewhere(), second)
    elsewhere().delete_thread(second, claim(harness.checkpoints, second).token)
    check_twice_deleted(elsewhere(), second)
    assert emit(elsewhere(), second, claim(harness.checkpoints, second).token, "next") == [11]


def test_core_82_a_claim_on_a_deleted_id_changes_nothing(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    five_events_deleted(checkpoints, t)

    token = claim(checkpoints, t, "looks in").token
    check_deleted(checkpoints, t)
    checkpoints.release(t, token)

    check_deleted(checkpoints, t)
    assert checkpoints.latest(t) is None
    assert emit(checkpoints, t, claim(checkpoints, t).token, "next") == [7]


def raise_mark(harness: Harness, mark: int) -> None:
    """What a sweep does when it reclaims a tombstone."""
    with harness.raw() as connection:
        raised = connection.execute(text("UPDATE meta SET reclamation_mark = :mark"), {"mark": mark})
        assert raised.rowcount == 1


def test_core_84_an_id_without_a_tombstone_starts_at_the_mark(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    z = fresh_id()
    raise_mark(harness, 7)

    deleted_at(checkpoints, z, [3])
    assert read(checkpoints, z, 0) == []
    assert read(checkpoints, z, 6) == []
    assert emit(checkpoints, z, claim(checkpoints, z).token, "a", "b") == [7, 8]
    assert read(checkpoints, z, 0) == [7, 8]


def test_core_85_a_thread_with_events_keeps_its_numbers(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    assert emit(checkpoints, t, token, "a", "b") == [1, 2]

    raise_mark(harness, 7)

    assert read(checkpoints, t, 0) == [1, 2]
    assert read(checkpoints, t, 1) == [2]
    assert emit(checkpoints, t, token, "c") == [3]
    assert read(checkpoints, t, 2) == [3]


def test_ruling_14_a_thread_without_events_follows_the_mark(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    checkpoints.commit(t, Commit(token, checkpoint=ck("c1", t=t)))

    raise_mark(harness, 7)
    deleted_at(checkpoints, t, [3])
    assert emit(checkpoints, t, token, "a") == [7]

    raise_mark(harness, 20)
    assert emit(checkpoints, t, token, "b") == [8]
    assert read(checkpoints, t, 0) == [7, 8]
