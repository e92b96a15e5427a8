"""What changed since an instant: threads, claims that ended, deletes; the counts are those of the lists."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.clock import from_ns
from engine.desk import ANY, Capped, ClaimFilter, ClaimState, ThreadFilter
from engine.errors import ValidationError
from tests.support import crowd
from tests.support.builders import T0, claim
from tests.support.cascades import grow
from tests.support.desk import HOLDERS, expected, stored
from tests.support.operator import fill_claims, whole
from tests.support.plans import plan, statements
from tests.support.statements import plans, recording

if TYPE_CHECKING:
    from datetime import datetime

    from tests.support.harness import Harness
    from tests.support.plans import Step

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
MICRO = timedelta(microseconds=1)
CROWD = 5_000


@pytest.mark.parametrize("tenant", [ANY, None, "acme"])
@pytest.mark.parametrize("back", [timedelta(0), 10 * SECOND, 20 * SECOND, MINUTE])
def test_threads_that_changed(harness: Harness, tenant: Any, back: timedelta) -> None:
    fill_claims(harness)
    since, desk = harness.now() - back, harness.store.desk
    wanted = ThreadFilter(tenant, updated_since=since)
    ids = expected(stored(harness), wanted, harness.now())
    found = whole(lambda after: desk.changed_since(since, tenant, after, 7))
    assert [row.thread_id for row in found] == ids
    told = desk.changes(since, tenant)
    assert (told.since, told.threads, told.as_of) == (since, Capped(len(ids), more=False), harness.now())
    assert (told.claims_expired is None, told.deleted is None) == (tenant is not ANY, tenant is not ANY)


def ended(harness: Harness, since: datetime, *, holder: str | None = None) -> list[str]:
    """The claims that came to their end at or after `since` and are still stored, in order."""
    rows = [row for row in stored(harness) if row.claim_token is not None]
    rows = [row for row in rows if since <= from_ns(row.claim_expires_at) <= harness.now()]
    rows = [row for row in rows if holder in {None, row.claim_holder}]
    rows.sort(key=lambda row: row.thread_id if holder else (row.claim_expires_at, row.thread_id))
    return [row.thread_id for row in rows]


@pytest.mark.parametrize("holder", [None, HOLDERS[0]])
def test_claims_that_ended(harness: Harness, holder: str | None) -> None:
    fill_claims(harness)
    desk = harness.store.desk
    ends = sorted({row.claim_expires_at for row in stored(harness) if row.claim_token is not None})
    for at in (from_ns(end) for end in (ends[0], ends[len(ends) // 2], ends[-2])):
        for since in (at, at + MICRO):
            wanted = ClaimFilter(holder=holder, expired_since=since)
            assert wanted.state is ClaimState.EXPIRED
            found = whole(lambda after, wanted=wanted: desk.claims(wanted, after, 3))  # type: ignore[misc]
            assert [row.thread_id for row in found] == ended(harness, since, holder=holder)
            number = Capped(len(found), more=False)
            assert desk.count_claims(wanted) == number
            if holder is None:
                assert desk.changes(since).claims_expired == number
    with pytest.raises(ValidationError, match="live"):
        ClaimFilter(state=ClaimState.LIVE, expired_since=T0)


def test_deletes(harness: Harness) -> None:
    store, desk = harness.checkpoints, harness.store.desk
    for t in ("a", "b", "c"):
        grow(store, {t: None})
        store.delete_thread(t, claim(store, t).token)
        harness.advance(MINUTE)
    for since, ids in ((T0, "cba"), (T0 + MINUTE, "cb"), (T0 + MINUTE + MICRO, "c"), (harness.now(), "")):
        found = whole(lambda after, since=since: desk.tombstones(after, 1, since=since))  # type: ignore[misc]
        assert [row.thread_id for row in found] == list(ids)
        assert desk.changes(since).deleted == Capped(len(ids), more=False)
    assert [row.thread_id for row in desk.tombstones().rows] == list("cba")


def test_an_instant_without_a_zone_is_refused(harness: Harness) -> None:
    desk, naive = harness.store.desk, T0.replace(tzinfo=None)
    for call in (
        lambda: desk.changes(naive),
        lambda: desk.changed_since(naive),
        lambda: desk.tombstones(since=naive),
        lambda: ClaimFilter(expired_since=naive),
    ):
        with pytest.raises(ValidationError, match="timezone"):
            call()


def all_steps(harness: Harness, monkeypatch: pytest.MonkeyPatch, call: Any) -> list[Step]:
    """The plans of every statement of a call."""
    with recording(monkeypatch) as ran, statements(harness.store) as executed:
        call(harness.store.desk)
    found = [step for each in ran for alike in plans(harness, each) for step in alike]
    with harness.raw() as connection:
        for statement, values in executed:
            if "set_config" not in statement:
                found += plan(connection, statement, values)
    return found


def test_the_span_is_searched_in_each_index(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "t-", CROWD, claimed="i % 2 = 0", over=crowd.EVERYBODY)
        crowd.tombs(connection, "gone-", CROWD)
        connection.execute(
            text(
                "UPDATE thread SET claim_expires_at = updated_at, claim_granted_at = 0, claim_renewed_at = 0,"
                " claim_renewals = 0 WHERE claim_token IS NOT NULL"
            )
        )
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
    harness.advance(timedelta(microseconds=CROWD))
    since = harness.now() - timedelta(microseconds=100)
    calls: dict[str, tuple[Any, int]] = {
        "counts": (lambda desk: desk.changes(since), 102),
        "threads": (lambda desk: desk.changed_since(since, limit=20), 21),
        "claims": (lambda desk: desk.claims(ClaimFilter(expired_since=since), limit=20), 21),
        "tombstones": (lambda desk: desk.tombstones(limit=20, since=since), 21),
    }
    indexes = ("thread_by_update", "thread_by_expiry", "thread_by_deletion")
    for name, (call, most) in calls.items():
        found = all_steps(harness, monkeypatch, call)
        read = [step for step in found if " thread" in step.text and "Bitmap Heap" not in step.text]
        assert read, name
        for step in read:
            assert any(index in step.text for index in indexes), (name, step)
            assert (step.rows or 0) <= most, (name, step)
            assert harness.kind == "postgresql" or step.text.startswith("SEARCH"), (name, step)
