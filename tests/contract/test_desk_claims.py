"""The desk's claims: every filter, the order, the verdict and its reasons, the holders (console.md F9)."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

import engine.desk.claims
import engine.desk.holders
import engine.desk.pages
from engine.checkpoints import Commit
from engine.clock import from_ns
from engine.desk import ANY, Capped, ClaimFilter, ClaimState, ClaimStory, Stored, ThreadStatus, Verdict
from engine.desk.claim_views import LEAST_GRACE, MOST_GRACE, judge_holder
from engine.errors import StaleClaim, StoreFailure, ValidationError
from engine.paging import encode_cursor
from tests.support.builders import T0, TTL, ck, claim, emit, ev
from tests.support.desk import HOLDERS, LONG, status_of
from tests.support.operator import claims_expected, fill_claims, rows_of, whole

if TYPE_CHECKING:
    from engine.desk import ClaimRow
    from tests.support.harness import Harness

SECOND = timedelta(seconds=1)
SAFE, ALIVE = Verdict.SAFE_TO_RELEASE, Verdict.HOLDER_MAY_BE_ALIVE
FILTERS = [
    ClaimFilter(tenant=tenant, state=state, holder=holder, stored=stored)
    for tenant, state, holder, stored in itertools.product(
        (ANY, None, "", "acme", "nobody"), (None, *ClaimState), (None, HOLDERS[1], "nobody"), (None, *Stored)
    )
]


def story(harness: Harness, t: str) -> ClaimStory:
    """The desk's story of a claim that is there."""
    found = harness.store.desk.claim(t)
    assert found is not None
    return found


def row_of(harness: Harness, t: str) -> ClaimRow:
    """The row that the list has for one thread."""
    (found,) = (row for row in harness.store.desk.claims().rows if row.thread_id == t)
    alone = story(harness, t).row
    assert found == replace(alone, left=found.left, reason=found.reason)
    assert found.left >= alone.left
    return found


def test_every_filter_lists_and_counts_what_the_rows_say(harness: Harness) -> None:
    fill_claims(harness)
    desk, rows, now = harness.store.desk, rows_of(harness, "thread"), harness.now()
    for wanted in FILTERS:
        found = claims_expected(rows, wanted, now)
        listed = whole(lambda after, wanted=wanted: desk.claims(wanted, after, 200))  # type: ignore[misc]
        assert [row.thread_id for row in listed] == found, wanted
        assert desk.count_claims(wanted) == Capped(len(found), more=False), wanted
    assert {len(claims_expected(rows, each, now)) for each in FILTERS} >= {0, 1, 3}


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_of_every_size_cover_everything_once(harness: Harness, limit: int) -> None:
    fill_claims(harness)
    desk, rows, now = harness.store.desk, rows_of(harness, "thread"), harness.now()
    for wanted in FILTERS[::7]:
        listed = whole(lambda after, wanted=wanted: desk.claims(wanted, after, limit))  # type: ignore[misc]
        assert [row.thread_id for row in listed] == claims_expected(rows, wanted, now), wanted


def test_every_row_says_what_is_stored(harness: Harness) -> None:
    fill_claims(harness)
    desk, now = harness.store.desk, harness.now()
    stored = {row.thread_id: row for row in rows_of(harness, "thread")}
    for row in whole(lambda after: desk.claims(ClaimFilter(), after, 200)):
        kept = stored[row.thread_id]
        assert (row.holder, row.tenant, row.token) == (kept.claim_holder, kept.claim_tenant, kept.claim_token)
        assert row.granted_at == from_ns(kept.claim_granted_at)
        assert (row.renewed_at, row.renewals) == (from_ns(kept.claim_renewed_at), kept.claim_renewals)
        assert row.left == row.expires_at - now
        assert row.live == (now < row.expires_at)
        assert row.status == (None if kept.latest_id is None else status_of(kept, now))


def test_totals_and_holders_add_up(harness: Harness) -> None:
    fill_claims(harness)
    desk, now = harness.store.desk, harness.now()
    claimed = [row for row in rows_of(harness, "thread") if row.claim_token is not None]
    live = Counter(row.claim_holder for row in claimed if now < from_ns(row.claim_expires_at))
    every = Counter(row.claim_holder for row in claimed)
    totals = desk.claim_totals()
    assert (totals.live.count, totals.expired.count) == (live.total(), (every - live).total())
    found = whole(lambda after: desk.holders(after, 1))
    assert [row.holder for row in found] == sorted(every)
    for row in found:
        assert (row.live, row.expired, row.more) == (
            live[row.holder],
            every[row.holder] - live[row.holder],
            False,
        )
        mine = [each for each in claimed if each.claim_holder == row.holder]
        assert row.first_expiry == from_ns(min(each.claim_expires_at for each in mine))
        assert row.last_renewal == from_ns(max(each.claim_renewed_at for each in mine))


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 100])
def test_holders_are_read_in_bounded_stretches(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, bound: int
) -> None:
    counts = {"": 1, "a": 2, "b": 4, "c": 1, "d": 3}
    for holder, count in counts.items():
        for number in range(count):
            claim(harness.store, f"{holder}-{number}", holder)
    monkeypatch.setattr(engine.desk.holders, "MAX_DRIVEN", bound)
    found = whole(lambda after: harness.store.desk.holders(after, 200))
    assert [row.holder for row in found] == list(counts)
    for row in found:
        assert row.live == counts[row.holder] or (row.more and bound < row.live + 1)
        assert row.more == (counts[row.holder] > bound)


def test_a_live_claim_may_be_worked_under(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    token = claim(harness.store, "t", "worker", tenant="acme").token
    found = story(harness, "t")
    assert (found.row.verdict, found.row.live, found.row.status) == (ALIVE, True, None)
    assert found.row.reason.startswith("the lease runs for another")
    assert (found.latest_id, found.latest_run_id, found.refusal) == (None, None, None)
    assert found.next_token == token + 1 == claim(harness.store, "other").token
    assert harness.store.desk.claim("nobody") is None
    harness.checkpoints.release("t", token)
    assert harness.store.desk.claim("t") is None


def test_a_holder_is_waited_for_once_more_than_its_lease(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    claim(harness.store, "t", ttl=LEAST_GRACE)
    harness.advance(LEAST_GRACE + SECOND)
    assert row_of(harness, "t").verdict is ALIVE
    harness.advance(LEAST_GRACE)
    assert row_of(harness, "t").verdict is SAFE


def test_writing_after_the_lease_is_a_sign_of_life(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    harness.advance(3 * TTL)
    assert row_of(harness, "t").verdict is SAFE
    emit(harness.checkpoints, "t", token, "an event alone")
    found = row_of(harness, "t")
    assert (found.verdict, found.last_seen_at) == (ALIVE, harness.now())
    assert "written since, 0 s ago" in found.reason
    harness.advance(TTL)
    assert row_of(harness, "t").verdict is SAFE
    harness.checkpoints.commit("t", Commit(token, checkpoint=ck("c", t="t")))
    found = row_of(harness, "t")
    assert (found.verdict, found.status) == (ALIVE, ThreadStatus.IDLE)


def test_what_another_holder_wrote_is_no_sign_of_life(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    harness.checkpoints.commit("t", Commit(token, checkpoint=ck("c", t="t"), events=[ev("a")]))
    harness.checkpoints.release("t", token)
    harness.advance(SECOND)
    claim(harness.store, "t", "second")
    assert row_of(harness, "t").last_seen_at == T0 + SECOND


@pytest.mark.parametrize(
    ("left", "lease", "silent", "verdict"),
    [
        (SECOND, TTL, timedelta(0), ALIVE),
        (timedelta(0), TTL, timedelta(0), ALIVE),
        (-SECOND, SECOND, SECOND, ALIVE),
        (-LEAST_GRACE, SECOND, LEAST_GRACE, SAFE),
        (-LEAST_GRACE, 2 * LEAST_GRACE, LEAST_GRACE, ALIVE),
        (-LONG, LONG, MOST_GRACE - SECOND, ALIVE),
        (-MOST_GRACE, LONG, MOST_GRACE, SAFE),
        (-LONG, TTL, SECOND, ALIVE),
    ],
)
def test_the_verdict_follows_from_three_spans(
    left: timedelta, lease: timedelta, silent: timedelta, verdict: Verdict
) -> None:
    judged = judge_holder(left=left, lease=lease, silent=silent)
    assert judged.verdict is verdict
    assert ("since" in judged.reason) == (silent < -left)


def test_late_writers_are_counted_on_the_claim(harness: Harness) -> None:
    late = claim(harness.store, "t").token
    harness.advance(TTL)
    token = claim(harness.store, "t", "second").token
    with pytest.raises(StaleClaim):
        harness.checkpoints.commit("t", Commit(late, events=[ev("late")]))
    found = story(harness, "t")
    assert (found.row.refusals, found.row.token) == (1, token)
    assert found.refusal is not None
    assert (found.refusal.last_token, found.refusal.last_verb) == (late, "commit")


def test_bounds_of_a_page(harness: Harness) -> None:
    desk = harness.store.desk
    held = ClaimFilter(holder="worker")
    by_time, by_id = encode_cursor(1, "t"), encode_cursor("t")
    calls: list[tuple[str, Any]] = [
        ("limit", lambda: desk.claims(limit=0)),
        ("limit", lambda: desk.claims(limit=201)),
        ("limit", lambda: desk.holders(limit=0)),
        ("after", lambda: desk.claims(after=by_id)),
        ("after", lambda: desk.claims(held, by_time)),
        ("after", lambda: desk.holders(by_time)),
        ("tenant", lambda: ClaimFilter(tenant="\0")),
        ("holder", lambda: ClaimFilter(holder="\0")),
        ("state", lambda: ClaimFilter(state="dead")),  # type: ignore[arg-type]
        ("stored", lambda: ClaimFilter(stored="half")),  # type: ignore[arg-type]
        ("thread_id", lambda: desk.claim("\0")),
    ]
    for field, call in calls:
        with pytest.raises(ValidationError) as caught:
            call()
        assert caught.value.field == field
    assert (desk.claims().rows, desk.holders().rows) == ((), ())


def test_what_no_index_answers_is_looked_for_within_a_bound(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_claims(harness)
    for module in (engine.desk.claims, engine.desk.pages):
        monkeypatch.setattr(module, "MAX_DRIVEN", 5)
    desk, rows, now = harness.store.desk, rows_of(harness, "thread"), harness.now()
    searching = {
        "tenant": ClaimFilter(tenant="acme"),
        "stored": ClaimFilter(stored=Stored.CLAIM_ONLY),
        "state": ClaimFilter(holder=HOLDERS[0], state=ClaimState.LIVE),
    }
    for field, wanted in searching.items():
        with pytest.raises(ValidationError) as caught:
            desk.claims(wanted, limit=50)
        assert caught.value.field == field
    monkeypatch.setattr(engine.desk.claims, "MAX_COUNT", 5)
    counted = desk.count_claims(searching["tenant"])
    assert counted.more
    assert counted.count < len(claims_expected(rows, searching["tenant"], now))
    assert len(desk.claims(limit=50).rows) > 5


def test_a_claim_on_a_status_nobody_knows_is_named(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    harness.checkpoints.commit("t", Commit(token, checkpoint=ck("c", t="t")))
    with harness.raw() as connection:
        connection.execute(text("UPDATE thread SET latest_status = 'dreaming'"))
    for call in (harness.store.desk.claims, lambda: harness.store.desk.claim("t")):
        with pytest.raises(StoreFailure, match="dreaming"):
            call()


def test_claims_of_a_read_only_store_with_a_time_limit(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    desk = harness.open(read_only=True, statement_timeout=SECOND).desk
    assert [row.thread_id for row in desk.claims().rows] == ["t"]
    assert desk.count_claims() == desk.claim_totals().live == Capped(1, more=False)
    assert desk.claim("t") == story(harness, "t")
    assert desk.holders().rows == harness.store.desk.holders().rows
    assert story(harness, "t").row.token == token
