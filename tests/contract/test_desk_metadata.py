"""The desk's threads by one pair of metadata: by its index, or within a bounded window (ruling 24)."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import engine.desk.pages
import engine.desk.pairs
import engine.desk.threads
from engine.checkpoints import set_metadata
from engine.desk import ANY, Capped, ThreadFilter, ThreadStatus
from engine.errors import ValidationError
from tests.support.builders import T0, claim
from tests.support.desk import HOLDERS, LONG, expected, fill, listed, stored
from tests.support.operator import metadata_stored

if TYPE_CHECKING:
    from tests.support.harness import Harness

S = ThreadStatus
PAIRS: tuple[dict[str, str], ...] = ({"kind": "chat"}, {"kind": "task"}, {"kind": "no"}, {"topic": "chat"})
STATUSES = (
    None,
    frozenset({S.IDLE}),
    frozenset({S.RUNNING}),
    frozenset({S.RUNNING, S.FAILED}),
    frozenset[S](),
)
TENANTS: tuple[Any, ...] = (ANY, None, "acme", "nobody")
OTHERS: tuple[dict[str, Any], ...] = (
    {},
    {"holder": HOLDERS[1]},
    {"prefix": "thr_0"},
    {"updated_since": T0 + timedelta(seconds=6)},
)
FILTERS = [
    ThreadFilter(tenant=tenant, statuses=statuses, metadata=pair, **other)
    for tenant, statuses, pair, other in itertools.product(TENANTS, STATUSES, PAIRS, OTHERS)
]


def label(harness: Harness) -> None:
    """Pairs on two of three threads of the mixed store, roots and children, after all leases but long ones."""
    fill(harness)
    for number, row in enumerate(sorted(stored(harness), key=lambda row: str(row.thread_id))):
        if number % 3 == 0 or row.latest_id is None:
            continue
        pair = {"kind": ("chat", "task")[number % 2], "topic": "any"}
        if row.claim_token is not None:
            set_metadata(harness.checkpoints, row.thread_id, row.claim_token, pair)
            continue
        tenant = row.tenant_key[1:] if row.tenant_key else None
        token = claim(harness.store, row.thread_id, tenant=tenant).token
        set_metadata(harness.checkpoints, row.thread_id, token, pair)
        harness.checkpoints.release(row.thread_id, token)


def matching(harness: Harness, wanted: ThreadFilter) -> list[str]:
    """The ids of the filter, in plain Python."""
    pairs, rows = metadata_stored(harness), stored(harness)
    assert wanted.pair is not None
    key, value = wanted.pair
    found = expected(rows, wanted, harness.now())
    return [each for each in found if pairs.get(each, {}).get(key) == value]


def test_every_filter_lists_and_counts_what_the_rows_say(harness: Harness) -> None:
    label(harness)
    sizes = set()
    for wanted in FILTERS[::2]:
        found = matching(harness, wanted)
        assert listed(harness.store, wanted) == found, wanted
        assert harness.store.desk.count_threads(wanted) == Capped(len(found), more=False), wanted
        sizes.add(len(found))
    assert len(sizes) > 4


@pytest.mark.parametrize("limit", [1, 2])
def test_pages_of_every_size_cover_everything_once(harness: Harness, limit: int) -> None:
    label(harness)
    for wanted in FILTERS[::9]:
        assert listed(harness.store, wanted, limit) == matching(harness, wanted), wanted


def test_children_are_found_over_all_tenants_only(harness: Harness) -> None:
    label(harness)
    parents = {row.thread_id: row.parent_id for row in stored(harness)}
    of_all = listed(harness.store, ThreadFilter(metadata={"kind": "chat"}))
    of_one = listed(harness.store, ThreadFilter(tenant="acme", metadata={"kind": "chat"}))
    assert any(parents[each] is not None for each in of_all)
    assert of_one
    assert all(parents[each] is None for each in of_one)


def test_one_pair_can_be_asked_for() -> None:
    assert ThreadFilter(metadata={}).pair is None
    assert ThreadFilter(metadata={"k": "v"}).pair == ("k", "v")
    wrong: list[Any] = [{"a": "1", "b": "2"}, {"k": None}, {"k" * 65: "v"}, {"k": 1}]
    for metadata in wrong:
        with pytest.raises(ValidationError) as caught:
            ThreadFilter(metadata=metadata)
        assert caught.value.field == "metadata"


def test_without_an_index_the_window_is_bounded_and_says_so(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    label(harness)
    for module in (engine.desk.pairs, engine.desk.pages):
        monkeypatch.setattr(module, "MAX_DRIVEN", 8)
    desk = harness.store.desk
    everywhere = ThreadFilter(metadata={"kind": "chat"})
    searched = ThreadFilter(tenant="acme", statuses=frozenset({S.COMPLETED}), metadata={"topic": "any"})
    for wanted, advice in ((everywhere, "name a tenant"), (searched, "leave the statuses out")):
        found = matching(harness, wanted)
        assert [row.thread_id for row in desk.threads(wanted, limit=1).rows] == found[:1]
        with pytest.raises(ValidationError, match=advice) as caught:
            desk.threads(wanted, limit=100)
        assert caught.value.field == "metadata"
        monkeypatch.setattr(engine.desk.pairs, "MAX_COUNT", 8)
        assert desk.count_threads(wanted).more
    alone = ThreadFilter(tenant="acme", metadata={"topic": "any"})
    assert listed(harness.store, alone) == matching(harness, alone)


def test_more_live_claims_than_the_bound_ask_for_a_filter(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    label(harness)
    monkeypatch.setattr(engine.desk.threads, "MAX_DRIVEN", 3)
    with pytest.raises(ValidationError) as caught:
        harness.store.desk.threads(ThreadFilter(statuses=frozenset({S.RUNNING}), metadata={"kind": "chat"}))
    assert caught.value.field == "statuses"


def test_a_listing_by_a_pair_follows_its_changes(harness: Harness) -> None:
    label(harness)
    wanted = ThreadFilter(tenant="acme", metadata={"kind": "chat"})
    first = listed(harness.store, wanted)[-1]
    harness.advance(2 * LONG)
    token = claim(harness.store, first, tenant="acme").token
    set_metadata(harness.checkpoints, first, token, {"kind": "other"})
    assert first not in listed(harness.store, wanted)
    set_metadata(harness.checkpoints, first, token, {"kind": "chat"})
    assert listed(harness.store, wanted)[0] == first
