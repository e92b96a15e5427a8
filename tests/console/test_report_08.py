"""Every kind of filter, and what a change over it would be about: the ids that the store itself names for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console.filters import FilterError
from console.gateway import EngineGateway, meant
from console.lists.meant import ids_of
from console.model import GatewayError
from console.money_words import Address
from engine.checkpoints import Checkpoint, CheckpointStatus, ClaimRequest, Commit
from tests.support import money

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine import Store
    from tests.support.harness import Harness

LEASE = timedelta(minutes=5)
STATUSES = (CheckpointStatus.RUNNING, CheckpointStatus.COMPLETED, CheckpointStatus.FAILED)


@pytest.fixture
def door(harness: Harness) -> Iterator[EngineGateway]:
    """The gateway under test, with the harness's clock."""
    opened = EngineGateway(harness.url, harness.clock)
    yield opened
    opened.close()


def fill(harness: Harness, count: int) -> None:
    """Threads of two tenants in three statuses, some of them held, and one claim on an id without a checkpoint."""
    for number in range(count):
        _begin(harness.store, number)
        harness.clock.advance(timedelta(seconds=7))
    harness.store.checkpoints.claim("bare", ClaimRequest("worker-1", LEASE))
    harness.store.checkpoints.claim("left", ClaimRequest("gone", timedelta(milliseconds=1)))
    harness.clock.advance(timedelta(seconds=1))


def _begin(store: Store, number: int) -> None:
    thread, tenant = f"thr-{number:03d}", ("acme", None)[number % 2]
    token = store.checkpoints.claim(thread, ClaimRequest(f"worker-{number % 3}", LEASE, tenant)).token
    status = STATUSES[number % 3]
    checkpoint = Checkpoint(f"ck-{number}", thread, "run", status, {"n": number}, tenant=tenant)
    store.checkpoints.commit(thread, Commit(token, checkpoint, metadata={"team": f"t{number % 2}"}))
    if number % 4 == 0:
        store.checkpoints.release(thread, token)


def direct(harness: Harness, source: str, where: str) -> list[str]:
    """What the database answers to a statement of the test's own."""
    with harness.raw() as connection:
        return sorted(str(row[0]) for row in connection.exec_driver_sql(f"SELECT {source} WHERE {where}"))


THREADS = (
    "thread.thread_id FROM thread LEFT JOIN checkpoint ON checkpoint.thread_id = thread.thread_id "
    "AND checkpoint.checkpoint_id = thread.latest_id"
)
STORED, CLAIMED = "latest_id IS NOT NULL", "claim_holder IS NOT NULL"
OF_THREADS = (
    ("threads", "", STORED),
    ("threads", "tenant:acme", f"{STORED} AND checkpoint.tenant = 'acme'"),
    ("threads", "tenant:-", f"{STORED} AND checkpoint.tenant IS NULL"),
    ("threads", "status:completed,failed", "latest_status IN ('completed', 'failed')"),
    (
        "threads",
        "!status:completed tenant=acme",
        "latest_status <> 'completed' AND checkpoint.tenant = 'acme'",
    ),
    ("threads", "status:idle", "latest_status = 'running' AND claim_holder IS NULL"),
    ("threads", "stuck", "latest_status = 'running' AND claim_holder IS NULL"),
    ("threads", "id:thr-00", f"{STORED} AND substr(thread.thread_id, 1, 6) = 'thr-00'"),
    ("threads", "thr-01", f"{STORED} AND substr(thread.thread_id, 1, 6) = 'thr-01'"),
    ("threads", "holder:worker-1", f"{STORED} AND claim_holder = 'worker-1'"),
    ("threads", "meta.team:t1", f"{STORED} AND checkpoint.tenant IS NULL"),
    ("threads", "state:claim-only", f"{CLAIMED} AND latest_id IS NULL"),
    ("claims", "", CLAIMED),
    ("claims", "holder=worker-2", "claim_holder = 'worker-2'"),
    ("claims", "tenant:acme", f"{CLAIMED} AND claim_tenant = 'acme'"),
    ("claims", "!state:claim-only", f"{CLAIMED} AND {STORED}"),
    ("claims", "!state:live", "claim_holder = 'gone'"),
)
DAYS = "id FROM spend_day_reservations"
UNITS = "operation_id FROM agentos_spend_reservations"
OF_MONEY = (
    ("reservations", "kind:day", DAYS, "settled_at IS NULL"),
    ("reservations", "day:2026-10-08", DAYS, "settled_at IS NULL AND day = '2026-10-08'"),
    ("reservations", "thread:thread-0", DAYS, "settled_at IS NULL AND thread_id = 'thread-0'"),
    ("reservations", "leased", DAYS, "settled_at IS NULL AND lease_run IS NOT NULL"),
    ("reservations", "meter:agentos_spend", UNITS, "state = 'reserved'"),
    ("reservations", "state:settled meter:agentos_spend", UNITS, "state <> 'reserved'"),
    ("reservations", "table:spots", "spot FROM spots", "state = 'reserved'"),
    ("fences", "kind:day", DAYS, "settled_at IS NULL AND require_fence"),
    ("fences", "kind:day deferred:yes", DAYS, "settled_at IS NULL AND require_fence AND deferrals > 0"),
    ("fences", "kind:day !deferred:yes", DAYS, "settled_at IS NULL AND require_fence AND deferrals = 0"),
    ("fences", "meter:agentos_spend", UNITS, "state = 'reserved' AND fenced"),
)


def test_report_08_the_ids_of_a_filter_are_those_of_a_direct_query(
    harness: Harness, door: EngineGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meant, "PAGE", 3)
    fill(harness, 14)
    for screen, text, where in OF_THREADS:
        found = [str(each) for each in ids_of(screen, text)(door)]
        assert sorted(found) == direct(harness, THREADS, where), f"{screen} {text}"
        assert found, f"{screen} {text}: a filter that means nothing shows nothing"


def test_report_08_the_money_of_a_filter_is_that_of_a_direct_query(
    harness: Harness, door: EngineGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meant, "PAGE", 3)
    money.fill_money(harness)
    for screen, text, source, where in OF_MONEY:
        found = ids_of(screen, text)(door)
        assert len(set(found)) == len(found) > 0, f"{screen} {text}"
        ids = sorted(each.id for each in found if isinstance(each, Address))
        assert ids == direct(harness, source, where), f"{screen} {text}"


def test_report_08_what_no_change_over_a_filter_can_be_about(
    harness: Harness, door: EngineGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    for screen, text, says in (
        ("threads", "~thr", "this window only"),
        ("claims", "!holder:w", "this window only"),
        ("threads", "state:tombstone", "tombstones"),
        ("claims", "by:holder", "holders"),
        ("events", "", "nothing is changed by filter"),
    ):
        with pytest.raises(FilterError, match=says):
            ids_of(screen, text)
    fill(harness, 4)
    monkeypatch.setattr(meant, "PAGE", 1)
    monkeypatch.setattr(meant, "MOST", 3)
    with pytest.raises(GatewayError, match="more than 3 match; narrow the filter") as many:
        ids_of("threads", "")(door)
    assert many.value.code == "validation"
    assert len(ids_of("threads", "tenant:acme")(door)) == 2
    monkeypatch.setattr(meant, "SECONDS", 0.0)
    with pytest.raises(GatewayError, match="narrow the filter"):
        ids_of("threads", "")(door)
