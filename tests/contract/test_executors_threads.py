"""Releases and deletes of a job, straight on their executors: console.md F1, F9, rulings 17 to 19, 53 and 54."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import Commit, EffectDraft, Fence, Origin, refusals
from engine.desk.audit.model import Deed
from engine.desk.jobs.executors import delete as delete_module
from engine.desk.jobs.executors import tree
from engine.errors import StaleClaim
from tests.property.audit import Tables, audit
from tests.support.builders import TTL, ck, claim, emit, ev, wr
from tests.support.cascades import FAMILY, alive, check_only_tombstones, grow, marked
from tests.support.executors import (
    APPLIED,
    JOB,
    SKIPPED,
    Job,
    claim_item,
    job,
    row_of,
    still_ours,
    thread_items,
)
from tests.support.rows import rows_of
from tests.support.threads import put

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from tests.support.harness import Harness

HOLDER = f"job:{JOB}"
ORDER = ("g", "a", "b", "p")
"""The family, descendants first."""
CHAIN = {"p": None, "g": "p"}
FIRST_ITEM = 9
"""Transactions of g: the plan, the path, three claims of it, a look for children, the mark, the log, the finish."""


def checked(harness: Harness) -> None:
    """No row without its thread, and every thread whole."""
    with harness.raw() as connection:
        audit(Tables(connection))


def deletion(harness: Harness, *threads: str) -> Job:
    """A job that deletes the threads as they stand."""
    return job(harness, Deed.DELETE, thread_items(harness, *threads))


def refusals_of(harness: Harness, t: str) -> Any:
    """How many late writers were turned away, and the last one's token."""
    with harness.raw() as connection:
        found = [row for row in Tables(connection).all("refusal") if row["thread_id"] == t]
    return [(row["count"], row["last_token"]) for row in found]


def test_console_F9_a_claim_as_shown_is_released(harness: Harness) -> None:
    store = harness.checkpoints
    token = claim(store, "t", "run-1").token
    put(store, "t", token=token)
    item = claim_item(harness, "t")
    done = job(harness, Deed.RELEASE, [item]).run()[0]
    assert done.outcome is APPLIED
    assert done.detail["before"] == {"holder": "run-1"} | dict(item.guard)
    assert row_of(harness, "t").claim_token is None
    assert claim(store, "t").token > token
    with pytest.raises(StaleClaim):
        emit(store, "t", token, "late")


def test_ruling_53_a_renewal_between_view_and_release_is_told_with_the_new_expiry(harness: Harness) -> None:
    store = harness.checkpoints
    token = claim(store, "t", "run-1").token
    shown = claim_item(harness, "t")
    renewed = store.renew("t", token, 2 * TTL)
    asked = job(harness, Deed.RELEASE, [shown])
    asked.run()
    assert asked.whys() == [f"renewed until {renewed.expires_at.isoformat().replace('+00:00', 'Z')}"]
    assert asked.done[0].detail["now"]["holder"] == "run-1"
    assert row_of(harness, "t").claim_token == token


def test_console_F9_a_release_of_another_token_of_nothing_and_of_what_is_gone_is_skipped(
    harness: Harness,
) -> None:
    store = harness.checkpoints
    for t in ("taken", "given", "deleted", "bare"):
        put(store, t, token=claim(store, t, "run-1").token) if t != "bare" else claim(store, t)
        emit(store, t, row_of(harness, t).claim_token, "one") if t != "bare" else None
    threads = ("taken", "given", "deleted", "bare")
    items = [claim_item(harness, t, n) for n, t in enumerate(threads, 1)]
    harness.advance(TTL)
    second = claim(store, "taken", "run-2").token
    store.release("given", items[1].guard["token"])
    store.delete_thread("deleted", items[2].guard["token"])
    store.release("bare", items[3].guard["token"])
    asked = job(harness, Deed.RELEASE, items)
    asked.run()
    assert asked.whys() == [f"token is now {second}", "already released", "already gone", "already gone"]
    assert all(done.outcome is SKIPPED for done in asked.done)


def test_console_F1_changed_gone_and_claimed_threads_are_left_alone(harness: Harness) -> None:
    store = harness.checkpoints
    threads = ("one", "two", "moved", "fenced", "gone", "held")
    tokens = grow(store, dict.fromkeys((*threads, "new")))
    live = claim(store, "held", "run-9").token
    asked = deletion(harness, *threads)
    put(store, "moved", "c2", "c1", token=(moved := claim(store, "moved").token))
    store.release("moved", moved)
    bumped = claim(store, "fenced", "run-2").token
    store.delete_thread("gone", claim(store, "gone").token)
    asked.run()
    whys = ["applied", "applied", "version changed", "version changed", "already gone", "claimed by run-9"]
    assert asked.whys() == whys
    assert alive(store, (*threads, "new")) == {"moved", "fenced", "held", "new"}
    assert (row_of(harness, "fenced").claim_token, row_of(harness, "held").claim_token) == (bumped, live)
    assert tokens["one"] < bumped
    assert rows_of_thread(harness, "moved") == (None, "c2")
    checked(harness)


def rows_of_thread(harness: Harness, t: str) -> tuple[Any, Any]:
    """The token and the latest checkpoint."""
    row = row_of(harness, t)
    return row.claim_token, row.latest_id


def test_console_F9_after_a_cascade_late_writers_are_turned_away_and_counted(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also report 37: a late checkpoint does not bring a deleted thread back."""
    monkeypatch.setattr(refusals, "INTERVAL", 0.0)
    store = harness.checkpoints
    tokens = grow(store)
    asked = deletion(harness, *ORDER)
    assert [done.outcome for done in asked.run()] == [APPLIED] * 4
    own = claim(store, "n").token
    late = Fence("a", tokens["a"])
    writes = (
        ("a", Commit(tokens["a"], checkpoint=ck("c2", "c1", t="a"))),
        ("a", Commit(tokens["a"], writes=[wr("c1", "task")])),
        ("a", Commit(tokens["a"], events=[ev("late")])),
        ("a", Commit(tokens["a"], metadata={"k": "v"})),
        ("n", Commit(own, checkpoint=ck("c1", t="n", origin=Origin("a")), fence=late)),
    )
    for t, commit in writes:
        with pytest.raises(StaleClaim) as refused:
            store.commit(t, commit)
        assert refused.value.thread_id == "a"
    store.release("n", own)
    assert refusals_of(harness, "a") == [(len(writes), tokens["a"])]
    check_only_tombstones(harness, FAMILY)
    with harness.raw() as connection:
        assert rows_of(connection, "n") == {}
    checked(harness)


def test_report_37_a_writer_that_lost_its_claim_to_the_job_is_fenced_from_the_mark_on(
    harness: Harness,
) -> None:
    store = harness.checkpoints
    grow(store)
    token = claim(store, "p", "worker").token
    harness.advance(TTL)
    asked = deletion(harness, *ORDER)
    assert asked.run_until_killed(harness.store, FIRST_ITEM)
    assert marked(store, "p")
    for t in ("p", "a"):
        with pytest.raises(StaleClaim):
            emit(store, t, token, "late")
    asked.run(harness.sibling())
    assert asked.whys() == ["applied"] * 4
    check_only_tombstones(harness, FAMILY)


def test_ruling_17_the_topmost_is_marked_and_the_whole_path_claimed_before_a_descendant_goes(
    harness: Harness,
) -> None:
    store = harness.checkpoints
    grow(store)
    asked = deletion(harness, *ORDER)
    assert asked.run_until_killed(harness.store, FIRST_ITEM - 1)
    assert (asked.done, alive(store, FAMILY)) == ([], set(FAMILY))
    assert marked(store, "p")
    assert [row_of(harness, t).claim_holder for t in ("p", "a", "g", "b")] == [HOLDER] * 3 + [None]
    checked(harness)


def test_report_38_killed_between_any_two_transactions_it_is_resumed_or_complete(harness: Harness) -> None:
    """Every other time the claims of the dead runner are still live when the next one comes."""
    other, last, crashed = harness.sibling(), 0, True
    while crashed:
        family = {f"{t}{last}": parent and f"{parent}{last}" for t, parent in CHAIN.items()}
        grow(harness.checkpoints, family)
        asked = deletion(harness, *reversed(family))
        crashed = asked.run_until_killed(harness.store, last)
        checked(harness)
        harness.advance(2 * TTL * (last % 2))
        asked.run(other)
        assert asked.whys() == ["applied"] * len(family), last
        checked(harness)
        assert alive(harness.checkpoints, family) == set()
        last += 1
    check_only_tombstones(harness, family)
    assert last > 6 * len(CHAIN)


def test_console_F10_a_paused_job_goes_on_with_threads_whose_holders_had_lapsed(harness: Harness) -> None:
    """What it took over and gave back is as it was planned: nobody has written since."""
    store = harness.checkpoints
    grow(store)
    for t in FAMILY:
        claim(store, t, "crashed")
    harness.advance(2 * TTL)
    asked = deletion(harness, *ORDER)
    executor = asked.executor(harness.store._transactions)
    assert executor.prepare(asked.items[0], still_ours) is None
    executor.close()
    assert {row_of(harness, t).claim_holder for t in ("g", "a", "p")} == {None}
    asked.run(harness.sibling())
    assert asked.whys() == ["applied"] * 4
    check_only_tombstones(harness, FAMILY)


def test_console_F10_of_two_runners_the_one_that_has_the_job_wins_its_claims_back(harness: Harness) -> None:
    grow(harness.checkpoints, {"p": None, "a": "p"})
    asked = deletion(harness, "a", "p")
    mine, late = (asked.executor(each._transactions) for each in (harness.store, harness.sibling()))
    assert mine.prepare(asked.items[0], still_ours) is None
    assert late.prepare(asked.items[0], still_ours) is None
    assert mine.prepare(asked.items[0], still_ours) is None
    lost = late_write(harness, late, asked)
    assert lost.detail["why"].endswith("version changed")
    assert harness.store._transactions.write("test", mine.finish, asked.items[0]).outcome is APPLIED
    assert mine.prepare(asked.items[1], still_ours) is None
    assert harness.store._transactions.write("test", mine.finish, asked.items[1]).outcome is APPLIED
    mine.close()
    checked(harness)


def late_write(harness: Harness, executor: Any, asked: Job) -> Any:
    """What the first item's finish answers to a runner whose claims were taken over."""
    return harness.store._transactions.write("test", executor.finish, asked.items[0])


def test_ruling_19_each_thread_is_claimed_under_its_own_tenant(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, {"x1": None}, tenant="x")
    grow(store, {"y1": None}, tenant="y")
    asked = deletion(harness, "x1", "y1")
    executor = asked.executor(harness.store._transactions)
    for item in asked.items:
        assert executor.prepare(item, still_ours) is None
        row = row_of(harness, item.object_id)
        assert (row.claim_tenant, row.claim_tenant_recorded) == (item.object_id[0], True)
    executor.close()
    assert row_of(harness, "x1").claim_token is None


def test_ruling_54_a_child_that_was_not_planned_stops_the_job_before_its_parent(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, {**FAMILY, "lone": None})
    asked = deletion(harness, *ORDER, "lone")
    put_child(harness, "late", "p")
    asked.run()
    assert asked.whys() == ["applied"] * 3 + ["tree changed: plan again"]
    assert asked.done[-1].detail["children"] == ["late"]
    assert alive(store, (*FAMILY, "late", "lone")) == {"p", "late", "lone"}
    assert marked(store, "p")
    assert row_of(harness, "p").claim_token is None, "close gives the claims back"
    again = deletion(harness, "late", "p")
    again.run()
    assert again.whys() == ["applied"] * 2
    checked(harness)


def put_child(harness: Harness, t: str, parent: str) -> None:
    """A child of `parent` with one checkpoint, claimed by nobody."""
    store = harness.checkpoints
    token = claim(store, t).token
    store.commit(t, Commit(token, checkpoint=ck("c1", t=t, origin=Origin(parent)), events=[ev("made")]))
    store.release(t, token)


def test_ruling_54_a_child_adopted_after_the_last_look_stops_it_too(harness: Harness) -> None:
    grow(harness.checkpoints, {"p": None})
    asked = deletion(harness, "p")
    executor = asked.executor(harness.store._transactions)
    assert executor.prepare(asked.items[0], still_ours) is None
    put_child(harness, "late", "p")
    done = harness.store._transactions.write("test", executor.finish, asked.items[0])
    executor.close()
    assert (done.stops, done.detail["why"]) == (True, "tree changed: plan again")
    assert alive(harness.checkpoints, ["p", "late"]) == {"p", "late"}


def test_ruling_54_what_stands_below_a_changed_thread_stays_with_it(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    asked = deletion(harness, *ORDER)
    claim(store, "a", "run-2")
    asked.run()
    whys = ["a above it: version changed", "version changed", "applied", "a below it stays"]
    assert asked.whys() == whys
    assert alive(store, FAMILY) == {"g", "a", "p"}
    checked(harness)


def test_console_F1_below_a_parent_that_somebody_deleted_the_planned_rest_goes(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    asked = deletion(harness, *ORDER)
    store.delete_thread("p", claim(store, "p").token)
    asked.run()
    assert asked.whys() == ["applied"] * 3 + ["already gone"]
    check_only_tombstones(harness, FAMILY)


def test_console_F9_a_claim_taken_over_between_the_halves_is_left_to_its_new_holder(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, {"t": None})
    asked = deletion(harness, "t")
    executor = asked.executor(harness.store._transactions)
    assert executor.prepare(asked.items[0], still_ours) is None
    harness.advance(2 * TTL)
    token = claim(store, "t", "run-2").token
    done = harness.store._transactions.write("test", executor.finish, asked.items[0])
    executor.close()
    assert done.detail["why"] == "version changed"
    assert row_of(harness, "t").claim_token == token
    assert alive(store, ["t"]) == {"t"}


def test_ruling_18_a_long_log_goes_in_steps_under_renewed_claims(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("deletion", "events"):
        monkeypatch.setattr(f"engine.checkpoints.{module}.COMPACT_STEP", 2)
    monkeypatch.setattr(delete_module, "RENEWALS", 10**9)
    store = harness.checkpoints
    grow(store, {"p": None, "a": "p"})
    for t in ("p", "a"):
        token = claim(store, t).token
        emit(store, t, token, *"abcdef")
        store.release(t, token)
    asked = deletion(harness, "a", "p")
    assert asked.run_until_killed(harness.store, 9)
    assert marked(store, "a"), "the mark stands before the log is shortened"
    assert row_of(harness, "a").floor_seq > row_of(harness, "a").first_seq
    asked.run(harness.sibling())
    assert asked.whys() == ["applied"] * 2
    check_only_tombstones(harness, ("p", "a"))


def wide(harness: Harness) -> Any:
    """The delete of a thread with seven checkpoints and five effects, two of a kind to a step."""
    store = harness.checkpoints
    grow(store, {"p": None})
    token = claim(store, "p").token
    for n in range(2, 8):
        store.commit("p", Commit(token, checkpoint=ck(f"c{n}", f"c{n - 1}", t="p"), events=[ev("more")]))
    store.commit("p", Commit(token, effects=[EffectDraft(f"paid {n}", n) for n in range(5)]))
    store.release("p", token)
    return deletion(harness, "p")


def left(harness: Harness) -> tuple[int, int]:
    """Checkpoints and effects that are stored."""
    with harness.raw() as connection:
        tables = Tables(connection)
        return len(list(tables.all("checkpoint"))), len(list(tables.all("effect")))


def test_ruling_18_a_wide_thread_goes_in_steps_behind_its_mark(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.checkpoints.emptying.CONTENT_STEP", 2)
    asked = wide(harness)
    steps = list[tuple[int, int]]()

    def step(rows: int = 0, meanwhile: Callable[[], object] = lambda: None) -> bool:
        if not rows:
            return False
        assert rows <= 2
        assert marked(harness.checkpoints, "p"), "the mark stands before anything goes, and stays"
        steps.append(left(harness))
        checked(harness)
        return still_ours(rows, meanwhile)

    executor = asked.executor(harness.store._transactions)
    assert executor.prepare(asked.items[0], step) is None
    assert steps == [(6, 5), (4, 5), (2, 5), (2, 3), (2, 1)]
    done = harness.store._transactions.write("test", executor.finish, asked.items[0])
    executor.close()
    assert done.outcome is APPLIED
    check_only_tombstones(harness, ["p"])


def test_report_38_a_wide_delete_that_was_killed_after_any_step_is_taken_up_again(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.checkpoints.emptying.CONTENT_STEP", 2)
    asked, lives = wide(harness), 0
    while asked.run_until_killed(harness.store, 5 + lives) and lives < 20:
        lives += 1
        checked(harness)
    assert 1 < lives < 20
    assert asked.whys() == ["applied"]
    check_only_tombstones(harness, ["p"])


def test_a_chain_is_climbed_once_however_deep_it_is(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every thread's path was read from the store by itself: 400 threads in a row were 80,000 statements."""
    deep = [f"d{n:02}" for n in range(12)]
    grow(harness.checkpoints, dict(zip(deep, (None, *deep), strict=False)) | {"twig": deep[5]})
    deleting = deletion(harness, *deep[:5:-1], "twig", *deep[5::-1])
    climbed = list[str]()
    ask = tree._PARENT.one

    def counted(connection: Connection, **values: Any) -> Any:
        climbed.append(values["id"])
        return ask(connection, **values)

    monkeypatch.setattr(tree._PARENT, "one", counted)
    deleting.run()
    assert set(deleting.whys()) == {"applied"}
    assert alive(harness.checkpoints, (*deep, "twig")) == set()
    assert climbed == [*reversed(deep), "twig"]
