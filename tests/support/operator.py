"""What an operator's lists hold, in plain Python over the stored rows, and their pages put together."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from engine.clock import from_ns
from engine.desk import ANY, ClaimFilter, ClaimState, Stored
from tests.support.builders import claim
from tests.support.desk import HOLDERS, LONG, SHORT, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from engine.desk import Page
    from tests.support.harness import Harness

MOST_PAGES = 1000


def whole(call: Callable[[str | None], Page[Any]]) -> list[Any]:
    """The rows of every page of a listing; AssertionError when it does not end."""
    found: list[Any] = []
    after: str | None = None
    for _ in range(MOST_PAGES):
        page = call(after)
        found += page.rows
        if page.next is None:
            return found
        after = page.next
    raise AssertionError("the listing does not end")


def fill_claims(harness: Harness) -> None:
    """The mixed store of the listings, and claims without anything else, two of them alike in their end."""
    fill(harness)
    for number in range(6):
        tenant = ("acme", None, "beta")[number % 3]
        ttl = LONG if number % 2 else SHORT
        claim(harness.store, f"alone-{number}", HOLDERS[number % 2], ttl=ttl, tenant=tenant)
    harness.advance(timedelta(seconds=5))


def rows_of(harness: Harness, table: str) -> Sequence[Any]:
    """Every stored row of a table."""
    with harness.raw() as connection:
        return connection.execute(text(f"SELECT * FROM {table}")).all()


def claims_expected(rows: Sequence[Any], wanted: ClaimFilter, now: datetime) -> list[str]:
    """The ids that a filter of claims lists, in order."""
    found = [row for row in rows if row.claim_token is not None and _claim_matches(row, wanted, now)]
    by_id = wanted.holder is not None
    found.sort(key=lambda row: row.thread_id if by_id else (row.claim_expires_at, row.thread_id))
    return [row.thread_id for row in found]


def _claim_matches(row: Any, wanted: ClaimFilter, now: datetime) -> bool:
    live = now < from_ns(row.claim_expires_at)
    alone = row.latest_id is None
    return (
        (wanted.tenant is ANY or row.claim_tenant == wanted.tenant)
        and (wanted.state is None or live == (wanted.state is ClaimState.LIVE))
        and (wanted.holder is None or row.claim_holder == wanted.holder)
        and (wanted.stored is None or alone == (wanted.stored is Stored.CLAIM_ONLY))
    )


def metadata_stored(harness: Harness) -> dict[str, dict[str, str]]:
    """The pairs of every thread."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in rows_of(harness, "thread_metadata"):
        found[row.thread_id][row.key] = row.value
    return dict(found)
