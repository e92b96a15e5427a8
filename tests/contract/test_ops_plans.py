"""Case 60 and invariant 18 of checkpoints-operations.md: a page costs what it shows, whatever is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from sqlalchemy import text

from engine.checkpoints import ThreadQuery, ThreadStatus, find_threads, tombstones
from engine.clock import to_ns
from engine.errors import ValidationError
from engine.paging import encode_cursor
from tests.support import crowd
from tests.support.builders import T0
from tests.support.refusals import refused
from tests.support.statements import plans, recording
from tests.support.threads import ids, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.harness import Harness
    from tests.support.plans import Step

T = TypeVar("T")
S = ThreadStatus
OURS, OTHERS = 5_000, 12_000
HALF = OURS // 2
PAGE = 20
MOST = PAGE + 1
LIVE = OURS // 100
"""Our threads with a live claim; as many have one that is over."""
BOUND = 10_000
KEYS = {"postgresql": "{}_pkey", "sqlite": "sqlite_autoindex_{}_1"}
TABLES = {"thread", "thread_metadata", "checkpoint", "child_place"}
PLACES = {"child_place_parent_id_child_id_key", "sqlite_autoindex_child_place", "child_place_by_child"}
"""Either finds one child's place."""
ALIASES = {"of_run": "checkpoint", "of_cursor": "thread"}


@pytest.fixture
def large(harness: Harness) -> Harness:
    """Our threads, and more than twice as many of another owner, all of them newer and most of them busy."""
    live, over = "i % 100 IN (2, 12)", "i % 100 = 12"
    with harness.raw() as connection:
        crowd.threads(connection, "ours-", OURS, tenant="tx", claimed=live, over=over, keys=1)
        crowd.pairs(connection, "ours-", OURS, tenant="tx", value="CASE i % 3 WHEN 0 THEN 'a' ELSE 'b' END")
        crowd.threads(connection, "yours-", OTHERS, tenant="ty", later=crowd.HOUR)
        crowd.threads(connection, "child-", OURS, tenant="tx", parent="p", later=crowd.HOUR)
        crowd.places(connection, "p", "child-", OURS)
        crowd.checkpoints(connection, "ours-000001", OURS, each=100)
        crowd.tombs(connection, "gone-", OURS)
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
    return harness


def asked(*statuses: ThreadStatus, **more: Any) -> ThreadQuery:
    """Our threads of these statuses, or of all."""
    return ThreadQuery("x", statuses=frozenset(statuses) or None, limit=PAGE, **more)


@dataclass(frozen=True, slots=True)
class Listing:
    """A query, the index that must be searched, and how many rows a page of it may touch."""

    query: ThreadQuery
    indexes: set[str]
    most: int


BY_TENANT, BY_STATUS, BY_PAIR = {"thread_by_tenant"}, {"thread_by_status"}, {"metadata_by_value"}
# The page's own rows, and their metadata.
SHOWN = 2 * MOST
LISTINGS = {
    "all": Listing(asked(), BY_TENANT, SHOWN),
    "since": Listing(asked(updated_since=T0), BY_TENANT, SHOWN),
    "failed": Listing(asked(S.FAILED), BY_STATUS, SHOWN),
    "failed since": Listing(asked(S.FAILED, updated_since=T0), BY_STATUS, SHOWN),
    "idle": Listing(asked(S.IDLE), BY_STATUS, SHOWN + LIVE),
    "running or idle": Listing(asked(S.RUNNING, S.IDLE), BY_STATUS, SHOWN),
    "three statuses": Listing(asked(S.FAILED, S.SUSPENDED, S.IDLE), BY_STATUS, SHOWN + 2 * MOST + LIVE),
    "running": Listing(asked(S.RUNNING), {"thread_by_expiry"}, SHOWN + LIVE),
    "pair": Listing(asked(metadata={"kind": "a"}), BY_PAIR, SHOWN + MOST),
    "pair since": Listing(asked(metadata={"kind": "a"}, updated_since=T0), BY_PAIR, SHOWN + MOST),
    # All of the pair's rows are counted, and looked at until the page is full.
    "pair, failed": Listing(asked(S.FAILED, metadata={"kind": "a"}), BY_PAIR, 2 * OURS),
}


def check(harness: Harness, steps: list[Step], indexes: set[str], most: int) -> None:
    """Each table is searched, by these indexes or by its key, and `most` of all rows are touched."""
    read = [(table, step) for step in steps for table in [_table(step)] if table]
    allowed = indexes | PLACES | {KEYS[harness.kind].format(table) for table in TABLES}
    found = {index for index in allowed for _, step in read if index in step.text}
    assert found >= indexes, steps
    for _, step in read:
        assert step.text.startswith(("SEARCH", "Index")), steps
        assert any(index in step.text for index in allowed), steps
    assert sum(step.rows or 0 for _, step in read) <= most, steps


def _table(step: Step) -> str | None:
    """The table whose rows the step reads; on SQLite an alias may stand for it."""
    named = [ALIASES.get(word, word) for word in step.text.split()]
    return next((word for word in named if word in TABLES), None) if named[0] != "Bitmap" else None


def planned(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, call: Callable[..., T], *args: Any, **options: Any
) -> tuple[T, list[list[Step]]]:
    """What the call answers, and the plans of the one statement that it runs."""
    with recording(monkeypatch) as seen:
        answer = call(*args, **options)
    (ran,) = seen
    assert "OFFSET" not in ran.text.replace("OFFSET ?", "")
    return answer, plans(harness, ran)


def middle() -> str:
    """The cursor of a listing by time that stands half-way through our threads."""
    return encode_cursor(to_ns(T0) + HALF * 1_000, f"ours-{HALF:06}")


def numbered(prefix: str, number: int | None) -> str | None:
    """The id that the crowd gave to that number."""
    return None if number is None else f"{prefix}{number:06}"


def page_after(prefix: str, number: int | None) -> list[str]:
    """The ids that follow that number, or the first ones."""
    return [f"{prefix}{(number or 0) + place:06}" for place in range(1, MOST)]


@pytest.mark.parametrize("name", LISTINGS)
def test_ops_60_a_page_searches_its_own_index(
    large: Harness, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    listing = LISTINGS[name]
    for query in (listing.query, replace(listing.query, after=middle())):
        page, found = planned(large, monkeypatch, large.checkpoints.threads, query)
        assert len(page.threads) == PAGE
        assert all(query.matches(each) and each.thread_id.startswith("ours-") for each in page.threads)
        for steps in found:
            check(large, steps, listing.indexes, listing.most)


def test_ops_60_another_owners_threads_change_nothing(harness: Harness) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "ours-", 50, tenant="tx")
    queries = [ThreadQuery("x", limit=7), ThreadQuery("x", statuses=frozenset({S.IDLE, S.FAILED}), limit=3)]
    before = [walk(harness.checkpoints, query) for query in queries]
    with harness.raw() as connection:
        crowd.threads(connection, "yours-", 10_000, tenant="ty")
    assert [walk(harness.checkpoints, query) for query in queries] == before


def test_ops_60_a_plan_does_not_count_on_one_owner_having_nearly_everything(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As PostgreSQL last looked nearly all were ours; since then others' came, newer than all."""
    with harness.raw() as connection:
        crowd.threads(connection, "ours-", OTHERS, tenant="tx")
        crowd.pairs(connection, "ours-", OTHERS, tenant="tx")
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
        crowd.threads(connection, "yours-", OURS, tenant="ty", status="'completed'", later=crowd.HOUR)
    done = asked(S.COMPLETED, S.SUSPENDED)
    for query, index in ((asked(), BY_TENANT), (asked(updated_since=T0), BY_TENANT), (done, BY_STATUS)):
        page, found = planned(harness, monkeypatch, harness.checkpoints.threads, query)
        assert len(page.threads) == PAGE
        for steps in found:
            check(harness, steps, index, SHOWN + MOST)


def test_ops_60_incomplete(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    incomplete = large.checkpoints.incomplete
    for after in (None, middle()):
        page, found = planned(large, monkeypatch, incomplete, "x", after=after, limit=PAGE)
        assert len(page.threads) == PAGE
        assert page.next is not None
        for steps in found:
            check(large, steps, BY_STATUS, SHOWN + LIVE)


def test_ops_60_children(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    children = large.checkpoints.children
    for after in (None, HALF):
        page, found = planned(large, monkeypatch, children, "p", after=numbered("child-", after), limit=PAGE)
        assert page == page_after("child-", after)
        for steps in found:
            check(large, steps, {"thread_by_parent"}, MOST + 1)


def test_ops_60_the_runs_of_a_long_history(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    lookup, t = large.checkpoints.latest_of_runs, "ours-000001"
    for runs, newest in ((["run-1"], "c199"), (["run-3", "run-40", "run-none"], "c4099")):
        answer, found = planned(large, monkeypatch, lookup, t, runs)
        assert answer is not None
        assert answer.id == newest
        for steps in found:
            probes = [step for step in steps if "checkpoint_by_run" in step.text]
            check(large, probes, {"checkpoint_by_run"}, len(runs))
            check(large, [step for step in steps if step not in probes], set(), 1)


def test_ops_60_a_prefix_of_ids(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    call = partial(find_threads, large.checkpoints, "x", "ours-")
    for after in (None, HALF):
        page, found = planned(large, monkeypatch, call, after=numbered("ours-", after), limit=PAGE)
        assert page == page_after("ours-", after)
        for steps in found:
            check(large, steps, set(), BOUND + 1 + MOST)


def test_ops_60_tombstones(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    for after in (None, HALF):
        start = numbered("gone-", after)
        page, found = planned(large, monkeypatch, tombstones, large.store, after=start, limit=PAGE)
        assert [each.thread_id for each in page] == page_after("gone-", after)
        for steps in found:
            listed = [step for step in steps if "thread_by_deletion" in step.text]
            check(large, listed, {"thread_by_deletion"}, MOST)
            check(large, [step for step in steps if step not in listed], set(), 1)


def test_ruling_24_more_live_claims_than_are_looked_through(harness: Harness) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "t-", BOUND, tenant="tx", status="'running'", claimed=crowd.EVERYBODY)
    running = ThreadQuery("x", statuses=frozenset({S.RUNNING, S.FAILED}), limit=2)
    assert ids(harness.checkpoints.threads(running)) == ["t-010000", "t-009999"]
    with harness.raw() as connection:
        crowd.threads(connection, "u-", 1, status="'running'", claimed=crowd.EVERYBODY)
    problem = f"more than {BOUND} claims are live; ask for idle threads as well, or for metadata"
    refused(ValidationError("statuses", (problem,)), harness.checkpoints.threads, running)
    both = replace(running, statuses=frozenset({S.RUNNING, S.IDLE}))
    assert ids(harness.checkpoints.threads(both)) == ["t-010000", "t-009999"]
    assert ids(harness.checkpoints.threads(ThreadQuery("x", limit=1))) == ["t-010000"]


def test_ruling_24_more_rows_of_a_pair_than_are_looked_through(harness: Harness) -> None:
    """The page is refused only when it is not full and the bound was reached."""
    late = f"CASE WHEN i <= {BOUND // 2} THEN 'failed' ELSE 'completed' END"
    with harness.raw() as connection:
        crowd.threads(connection, "t-", BOUND + 2, tenant="tx", status=late, keys=1)
        crowd.pairs(connection, "t-", BOUND + 2, tenant="tx")
    store = harness.checkpoints
    chat = ThreadQuery("x", metadata={"kind": "chat"}, statuses=frozenset({S.FAILED}))
    assert ids(store.threads(replace(chat, limit=2))) == ["t-005000", "t-004999"]
    whole = walk(store, replace(chat, limit=1000))
    assert [len(page) for page in whole] == [1000] * 5
    suspended = replace(chat, statuses=frozenset({S.SUSPENDED}))
    problem = f"too few of the newest {BOUND} threads with the pair match; leave the statuses out"
    refused(ValidationError("metadata", (problem,)), store.threads, suspended)
    second = replace(suspended, after=store.threads(replace(chat, statuses=None, limit=2)).next)
    assert ids(store.threads(second)) == []


def test_ruling_24_more_ids_of_a_prefix_than_are_looked_through(harness: Harness) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "t-", BOUND + 1, tenant="ty")
        crowd.threads(connection, "t-z", 2, tenant="tx")
    store = harness.checkpoints
    problem = f"0 of the next {BOUND} ids with 't-' match; use a longer prefix"
    refused(ValidationError("prefix", (problem,)), find_threads, store, "x", "t-")
    assert find_threads(store, "x", "t-", after="t-000003") == ["t-z000001", "t-z000002"]
    assert find_threads(store, "x", "t-z", limit=1) == ["t-z000001"]
    assert find_threads(store, "x", "t-", after="t-z000002") == []
    assert len(find_threads(store, "y", "t-", limit=1000)) == 1000
