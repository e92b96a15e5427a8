"""A mixed store for the desk's listings, made through the public API, and the listings in plain Python."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from engine.checkpoints import CheckpointStatus, Commit, Origin
from engine.clock import from_ns
from engine.desk import ANY, ThreadFilter, ThreadStatus
from tests.support.builders import ck, claim, ev

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from engine.desk import Page, ThreadRow
    from engine.store import Store
    from tests.support.harness import Harness

TENANTS = (None, "", "acme", "beta")
HOLDERS = ("worker-1", "worker-2")
SHORT, LONG = timedelta(seconds=5), timedelta(hours=1)
"""Leases that are over, and not, once the store is built."""
ODD_IDS = ("thr_", "thr_Ä", "thr_z", "thr_\uffff", "thr_\U0001f600", "thr", "thq\U0010ffff", "ths")
"""Ids at the edges of the prefix `thr_`, and beyond the basic plane, where orders differ."""
_FINAL = {
    "running": ThreadStatus.IDLE,
    "suspended": ThreadStatus.SUSPENDED,
    "completed": ThreadStatus.COMPLETED,
    "failed": ThreadStatus.FAILED,
    "deleting": ThreadStatus.DELETED,
}


def fill(harness: Harness) -> None:
    """Every combination of status, lease and tenant, five to an instant, and what no listing shows."""
    kinds = itertools.product(CheckpointStatus, (None, SHORT, LONG), TENANTS)
    for number, (status, lease, tenant) in enumerate(kinds):
        odd = ODD_IDS[number % len(ODD_IDS)] if number < len(ODD_IDS) else f"thr_{number:03}"
        parent = Origin("parent") if number % 7 == 3 else None
        _thread(harness.store, odd, number, tenant=tenant, status=status, lease=lease, origin=parent)
        if number % 5 == 4:
            harness.advance(timedelta(seconds=1))
    _unlisted(harness.store)
    harness.advance(SHORT)


def _thread(store: Store, t: str, number: int, *, lease: timedelta | None, **fields: Any) -> None:
    token = claim(store, t, HOLDERS[number % 2], ttl=lease or SHORT, tenant=fields["tenant"]).token
    events = [ev(f"e{n}") for n in range(number % 3)]
    store.checkpoints.commit(t, Commit(token, checkpoint=ck("c", t=t, **fields), events=events))
    if lease is None:
        store.checkpoints.release(t, token)


def _unlisted(store: Store) -> None:
    """A claim alone, events alone, and a tombstone."""
    claim(store, "thr_claimed", HOLDERS[0], ttl=LONG)
    alone = claim(store, "thr_events", HOLDERS[0], ttl=LONG).token
    store.checkpoints.commit("thr_events", Commit(alone, events=[ev("alone")]))
    gone = claim(store, "thr_gone").token
    store.checkpoints.commit("thr_gone", Commit(gone, checkpoint=ck("c", t="thr_gone"), events=[ev("gone")]))
    store.checkpoints.delete_thread("thr_gone", gone)


def stored(harness: Harness) -> Sequence[Any]:
    """Every row of the registry's table."""
    with harness.raw() as connection:
        return connection.execute(text("SELECT * FROM thread")).all()


def expected(rows: Sequence[Any], wanted: ThreadFilter, now: datetime) -> list[str]:
    """The ids that a filter lists, in order, from the stored rows and plain Python."""
    found = [row for row in rows if row.latest_id is not None and _matches(row, wanted, now)]
    if wanted.prefix is not None:
        return sorted(row.thread_id for row in found)
    found.sort(key=lambda row: (row.updated_at, row.thread_id), reverse=True)
    return [row.thread_id for row in found]


def status_of(row: Any, now: datetime) -> ThreadStatus:
    """The table of checkpoints-operations.md 1.1, for a row of `thread`."""
    live = row.claim_token is not None and now < from_ns(row.claim_expires_at)
    return ThreadStatus.RUNNING if row.latest_status == "running" and live else _FINAL[row.latest_status]


def _matches(row: Any, wanted: ThreadFilter, now: datetime) -> bool:
    key = "" if wanted.tenant is None else f"t{wanted.tenant}"
    return (
        (wanted.tenant is ANY or (row.parent_id is None and row.tenant_key == key))
        and (wanted.statuses is None or status_of(row, now) in wanted.statuses)
        and (wanted.prefix is None or row.thread_id.startswith(wanted.prefix))
        and (wanted.updated_since is None or from_ns(row.updated_at) >= wanted.updated_since)
        and (wanted.holder is None or row.claim_holder == wanted.holder)
    )


def pages(store: Store, wanted: ThreadFilter, limit: int) -> Iterator[Page[ThreadRow]]:
    """Every page of a listing; AssertionError when it does not end."""
    after = None
    for _ in range(1000):
        page = store.desk.threads(wanted, after, limit)
        yield page
        if page.next is None:
            return
        after = page.next
    raise AssertionError("the listing does not end")


def listed(store: Store, wanted: ThreadFilter, limit: int = 200) -> list[str]:
    """The ids of the whole listing, page by page."""
    return [row.thread_id for page in pages(store, wanted, limit) for row in page.rows]
