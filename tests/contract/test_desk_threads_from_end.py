"""The desk's thread listing from its other end: the same rows, last one first, by the same indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.desk import ThreadFilter
from engine.errors import ValidationError
from tests.contract.test_desk_plans import DRIVEN, LISTINGS, PAGE, check, large, sorts, steps
from tests.contract.test_desk_threads import filters
from tests.support.desk import expected, fill, stored

if TYPE_CHECKING:
    from engine.store import Store
    from tests.support.harness import Harness

__all__ = ["large"]
MOST_PAGES = 200


def read(store: Store, wanted: ThreadFilter, limit: int) -> list[str]:
    """All of a listing's ids, from its end."""
    found: list[str] = []
    after = None
    for _ in range(MOST_PAGES):
        page = store.desk.threads_from_end(wanted, after, limit)
        found += [row.thread_id for row in page.rows]
        after = page.next
        if after is None:
            return found
        assert len(page.rows) == limit
    raise AssertionError("a listing without an end")


@pytest.mark.parametrize("limit", [1, 3, 200])
def test_every_filter_from_its_end_is_the_same_backwards(harness: Harness, limit: int) -> None:
    fill(harness)
    rows, now = stored(harness), harness.now()
    for wanted in filters()[:: 2 if limit == 200 else 13]:
        if wanted.prefix is None:
            assert read(harness.store, wanted, limit) == expected(rows, wanted, now)[::-1], wanted


def test_what_has_one_end_only_is_refused(harness: Harness) -> None:
    for field, wanted in (
        ("prefix", ThreadFilter(prefix="thr_")),
        ("metadata", ThreadFilter(metadata={"a": "b"})),
        ("limit", ThreadFilter()),
    ):
        with pytest.raises(ValidationError) as caught:
            harness.store.desk.threads_from_end(wanted, limit=201 if field == "limit" else 1)
        assert caught.value.field == field


@pytest.mark.parametrize("name", LISTINGS)
def test_a_page_from_the_end_searches_one_index(large: Harness, name: str) -> None:
    wanted, index, most = LISTINGS[name]
    first = large.store.desk.threads_from_end(wanted, limit=PAGE)
    assert len(first.rows) == PAGE
    found = steps(large, lambda desk: desk.threads_from_end(wanted, first.next, PAGE))
    check(found, "thread", index, most)
    assert bool(sorts(found)) == (name in DRIVEN), found
    assert "OFFSET" not in str(found)
