"""What a plan to delete holds: trees in order, guards, counts, what blocks and what does not apply (F1, F9)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import column, select, table, text

from engine.checkpoints import Commit, Origin
from engine.database.statement import Statement
from engine.desk import ThreadFilter, ThreadStatus
from engine.desk.jobs.executors.outcomes import GONE
from engine.desk.plans import ItemKind, PlanState, Reach, preview_delete
from engine.desk.plans import weight as weighing
from engine.desk.plans.budget import Budget, attempted
from engine.desk.plans.delete import CIRCLE
from engine.desk.plans.draft import MOST_SAID
from engine.desk.plans.model import MOST_ITEMS, MOST_NOTES
from engine.errors import PlanRefused
from tests.support import crowd
from tests.support.builders import TTL, chain, ck, claim, emit, ev
from tests.support.cascades import grow
from tests.support.daybooks import reserve
from tests.support.planning import Planner

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.plans import Line, Preview
    from tests.support.harness import Harness


def ids(preview: Preview) -> list[str]:
    """What the items are about."""
    return [item.object_id for item in preview.items]


def apart(preview: Preview) -> dict[str, str]:
    """What does not apply, and why."""
    return {each.object_id: each.reason for each in preview.totals.not_applicable}


def line(preview: Preview, kind: str) -> Line:
    """The totals' line of a kind."""
    return next(each for each in preview.totals.lines if each.kind == kind)


def test_descendants_stand_before_their_parents(harness: Harness) -> None:
    grow(harness.checkpoints)
    preview = Planner(harness.store).delete(["p"])
    assert ids(preview) == ["g", "a", "b", "p"]
    assert [item.note["depth"] for item in preview.items] == [2, 1, 1, 0]
    assert {item.kind for item in preview.items} == {ItemKind.THREAD}


def test_a_child_of_a_planned_thread_is_not_planned_twice(harness: Harness) -> None:
    grow(harness.checkpoints)
    preview = Planner(harness.store).delete(["g", "a", "p", "a"])
    assert ids(preview) == ["g", "a", "b", "p"]


def test_a_subtree_leaves_what_is_above_it(harness: Harness) -> None:
    grow(harness.checkpoints)
    assert ids(Planner(harness.store).delete(["a"])) == ["g", "a"]


def test_the_guard_is_what_the_store_held(harness: Harness) -> None:
    token = claim(harness.store, "t", "worker").token
    chain(harness.checkpoints, "t", token, ["c1", "c2"])
    (item,) = Planner(harness.store).delete(["t"]).items
    assert item.guard == {"token": token, "checkpoint": "c2", "next_seq": 3, "next_write": 0}
    harness.checkpoints.release("t", token)
    (item,) = Planner(harness.store).delete(["t"]).items
    assert item.guard == {"token": None, "checkpoint": "c2", "next_seq": 3, "next_write": 0}


def test_the_phrase_names_every_row_that_goes(harness: Harness) -> None:
    grow(harness.checkpoints)
    token = claim(harness.store, "p").token
    chain(harness.checkpoints, "p", token, ["c2", "c3"])
    harness.checkpoints.commit("p", Commit(token, metadata={"k": "v"}))
    harness.checkpoints.release("p", token)
    preview = Planner(harness.store).delete(["p"])
    rows = {each.kind: each.rows for each in preview.totals.lines}
    with harness.raw() as connection:
        stored = {
            kind: connection.scalar(text(f"SELECT count(*) FROM {table}"))
            for kind, table in {
                "thread": "thread",
                "checkpoint": "checkpoint",
                "event": "event",
                "write": "pending_write",
                "effect": "effect",
                "metadata": "thread_metadata",
            }.items()
        }
        sizes = connection.scalar(text("SELECT sum(length(body)) FROM checkpoint"))
        payloads = connection.scalar(text("SELECT sum(length(payload)) FROM event"))
    assert {kind: rows[kind] for kind in stored} == stored
    assert preview.totals.rows == sum(stored.values())
    assert line(preview, "checkpoint").bytes == sizes
    assert preview.totals.bytes == sizes + payloads
    assert preview.phrase == f"DELETE {sum(stored.values())} ON PROD"


def test_report_31_and_33_what_is_gone_stands_apart(harness: Harness) -> None:
    grow(harness.checkpoints, {"t": None, "dead": None})
    token = claim(harness.store, "dead").token
    harness.checkpoints.delete_thread("dead", token)
    planner = Planner(harness.store)
    preview = planner.delete(["dead", "t", "never"])
    assert ids(preview) == ["t"]
    assert apart(preview) == {"dead": GONE, "never": GONE}
    none = planner.store_it(planner.delete(["dead", "never"]))
    assert none.state is PlanState.BLOCKED
    assert planner.plan(none.plan_id).totals.not_applicable_count == 2


def test_an_id_with_nothing_but_a_claim_is_nothing_to_delete(harness: Harness) -> None:
    claim(harness.store, "only")
    assert apart(Planner(harness.store).delete(["only"])) == {"only": GONE}


def test_one_alone_needs_its_children_planned_too(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    preview = planner.delete(["p", "a", "b"], Reach.ONE)
    assert ids(preview) == ["b"]
    assert list(apart(preview)) == ["a", "p"]
    assert "g" in apart(preview)["a"]
    assert ids(planner.delete(["p", "a", "b", "g"], Reach.ONE)) == ["g", "a", "b", "p"]


def test_threads_that_are_their_own_ancestors_stand_apart(harness: Harness) -> None:
    grow(harness.checkpoints, {"t": None, "x": "y", "y": "x"})
    preview = Planner(harness.store).delete(["t", "x"])
    assert ids(preview) == ["t"]
    assert apart(preview) == {"x": CIRCLE, "y": CIRCLE}


def test_a_live_claim_blocks_and_names_its_holder(harness: Harness) -> None:
    grow(harness.checkpoints)
    token = claim(harness.store, "g", "worker-17").token
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]))
    assert made.state is PlanState.BLOCKED
    assert "worker-17" in made.totals.blockers[0]
    assert str(token) in made.totals.blockers[0]
    with pytest.raises(PlanRefused) as caught:
        planner.checked(made.plan_id, made.phrase)
    assert caught.value.why == "blocked"
    assert "worker-17" in caught.value.message
    harness.advance(TTL)
    assert planner.delete(["p"]).totals.blockers == ()


def test_an_expired_claim_whose_holder_was_just_heard_of_is_a_warning_as_on_a_release(
    harness: Harness,
) -> None:
    grow(harness.checkpoints, {"t": None})
    claim(harness.store, "t", "worker-17")
    planner = Planner(harness.store)
    assert line(planner.delete(["t"]), "claim").note == "1 live: blocked"
    harness.advance(TTL)
    preview = planner.delete(["t"])
    assert preview.totals.blockers == ()
    assert preview.totals.warnings == planner.release(["t"]).totals.warnings
    assert "holder may be alive" in preview.totals.warnings[0]
    assert line(preview, "claim").note == "none live, 1 perhaps at work"
    harness.advance(timedelta(minutes=10))
    preview = planner.delete(["t"])
    assert preview.totals.warnings == ()
    assert line(preview, "claim").note == "none live: OK"


def test_blockers_are_told_up_to_a_bound(harness: Harness) -> None:
    names = [f"t{n}" for n in range(MOST_SAID + 3)]
    grow(harness.checkpoints, dict.fromkeys(names))
    for name in names:
        claim(harness.store, name)
    blockers = Planner(harness.store).delete(names).totals.blockers
    assert len(blockers) == MOST_SAID + 1
    assert blockers[-1] == "and 3 more blockers"


def test_held_money_is_a_warning_with_its_amount(harness: Harness) -> None:
    grow(harness.checkpoints)
    reserve(harness.store.days, 300_001, thread_id="b")
    reserve(harness.store.days, 1_000_000, thread_id="elsewhere")
    preview = Planner(harness.store).delete(["p"])
    assert preview.totals.blockers == ()
    assert preview.totals.micro == 300_001
    assert any("0.300001 USD" in each and "b" in each for each in preview.totals.warnings)
    assert line(preview, "reservation").rows == 1
    assert "the spend ledger" in preview.totals.kept


def test_a_child_that_was_just_at_work_is_a_warning(harness: Harness) -> None:
    grow(harness.checkpoints, {"p": None, "a": "p"})
    harness.advance(timedelta(minutes=6))
    assert Planner(harness.store).delete(["p"]).totals.warnings == ("a: a child, updated 6 min ago",)
    harness.advance(timedelta(minutes=4))
    assert Planner(harness.store).delete(["p"]).totals.warnings == ()


FILTERS = {
    "status": ThreadFilter(statuses=frozenset({ThreadStatus.IDLE})),
    "prefix": ThreadFilter(prefix="t1"),
    "tenant": ThreadFilter(tenant="acme"),
}


@pytest.mark.parametrize("kind", FILTERS)
def test_report_8_planned_are_those_that_the_filter_lists(harness: Harness, kind: str) -> None:
    grow(harness.checkpoints, {f"t{n}": None for n in range(12)})
    grow(harness.checkpoints, {f"u{n}": None for n in range(3)}, tenant="acme")
    listed = [row.thread_id for row in harness.store.desk.threads(FILTERS[kind]).rows]
    assert listed
    assert ids(Planner(harness.store).delete(listed)) == listed


def test_report_44_a_count_that_fails_leaves_the_plan_usable(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(harness.checkpoints)
    wrong = _failing()
    monkeypatch.setitem(weighing._NUMBERS, "checkpoint", wrong)
    monkeypatch.setitem(weighing._SIZES, "event", wrong)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]))
    assert line(planner.delete(["p"]), "checkpoint").rows is None
    assert line(planner.delete(["p"]), "event").rows == 4
    assert line(planner.delete(["p"]), "event").bytes is None
    assert made.totals.bytes is None
    assert any("checkpoint" in each for each in made.totals.warnings)
    assert made.state is PlanState.READY
    assert planner.plan(made.plan_id) == made
    assert planner.checked(made.plan_id, made.phrase) == made


def _failing() -> Statement:
    return Statement(select(column("nothing")).select_from(table("no_such_table")))


def test_report_66_a_plan_is_refused_by_its_budget(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    for budget in (Budget(span=timedelta(0)), Budget(most=3)):
        with pytest.raises(PlanRefused) as caught:
            planner.look(preview_delete, ["p"], Reach.TREE, budget)
        assert caught.value.why == "too wide"
        assert "narrow the filter" in caught.value.message
    assert len(planner.look(preview_delete, ["p"], Reach.TREE, Budget(most=4)).items) == 4


def test_ruling_55_ten_thousand_items_and_no_more(harness: Harness) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "t", MOST_ITEMS + 1)
    planner = Planner(harness.store)
    with harness.raw() as connection:
        names = list(connection.scalars(text("SELECT thread_id FROM thread ORDER BY thread_id")))
    assert len(names) == MOST_ITEMS + 1
    with pytest.raises(PlanRefused) as caught:
        planner.delete(names)
    assert caught.value.why == "too wide"
    made = planner.store_it(planner.delete(names[:-1]))
    assert made.items == MOST_ITEMS
    assert planner.checked(made.plan_id, made.phrase).items == MOST_ITEMS


def test_rows_apart_are_told_up_to_a_bound(harness: Harness) -> None:
    totals = Planner(harness.store).delete([f"never{n}" for n in range(MOST_NOTES + 5)]).totals
    assert len(totals.not_applicable) == MOST_NOTES
    assert totals.not_applicable_count == MOST_NOTES + 5


def test_a_late_commit_of_a_new_child_is_not_in_the_plan(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]))
    token = claim(harness.store, "late").token
    harness.checkpoints.commit(
        "late", Commit(token, checkpoint=ck("c", t="late", origin=Origin("p")), events=[ev("x")])
    )
    emit(harness.checkpoints, "late", token, "more")
    assert "late" not in {item.object_id for item in planner.items(made.plan_id)}


def test_report_44_a_connection_that_ends_under_a_count_is_no_failed_count(postgres_harness: Harness) -> None:
    ends = ["SELECT pg_terminate_backend(pg_backend_pid())"]

    def look(connection: Connection) -> int:
        def count() -> None:
            connection.execute(text(ends.pop() if ends else "SELECT 1"))

        attempted(connection, count)
        return int(connection.execute(text("SELECT 7")).scalar_one())

    assert postgres_harness.store._transactions.snapshot("test", look) == 7
    assert not ends
