"""What changed lately: threads by their update, claims by their end, deletes by their time (ruling 28).

When a claim was granted stands in no index, so grants are not among them; an event alone moves no index either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.checkpoints.model import Tenancy, Unset
from engine.clock import from_ns
from engine.database.address import follow_whole_indexes
from engine.desk.claim_filter import ClaimFilter
from engine.desk.claims import count_claims
from engine.desk.filters import ThreadFilter
from engine.desk.graves import count_tombstones
from engine.desk.moment import moment
from engine.desk.threads import count_threads, threads

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.desk.views import Capped, Page, ThreadRow


@dataclass(frozen=True, slots=True)
class Changes:
    """How much changed at or after `since`, each counted up to 10,000.

    `threads` got a checkpoint or metadata, `claims_expired` came to their end and were not released since,
    `deleted` left a tombstone. The last two have no index by tenant: they are None for one. They are listed by
    `Desk.changed_since`, by `ClaimFilter(expired_since=…)` and by `Desk.tombstones(since=…)`.
    """

    since: datetime
    threads: Capped
    claims_expired: Capped | None
    deleted: Capped | None
    as_of: datetime


def changed_since(
    connection: Connection, since: datetime, tenant: Tenancy, after: str | None, limit: int
) -> Page[ThreadRow]:
    """At most `limit` (1 to 200) threads behind the cursor that were updated at or after `since`."""
    return threads(connection, ThreadFilter(tenant, updated_since=since), after, limit)


def changes(connection: Connection, since: datetime, tenant: Tenancy) -> Changes:
    """The counts of all three lists. Wants a SNAPSHOT."""
    wanted = ThreadFilter(tenant, updated_since=since)
    follow_whole_indexes(connection)
    at = moment(connection)
    whole = isinstance(tenant, Unset)
    return Changes(
        since=since,
        threads=count_threads(connection, wanted),
        claims_expired=count_claims(connection, ClaimFilter(expired_since=since)) if whole else None,
        deleted=count_tombstones(connection, since) if whole else None,
        as_of=from_ns(at),
    )
