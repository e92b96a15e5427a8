"""Events read forward, whole and none left out: for scripts that follow a log (ruling 23).

`Desk.events` shows the newest and counts what it passed over; a follower takes every event in its turn. Of the
store it is an `EventTail`; of one thread it goes by that thread's own numbers, which rise in commit order.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Protocol

from sqlalchemy import bindparam, select

from engine.checkpoints.model import Unset
from engine.checkpoints.records import instant_of
from engine.checkpoints.tables import event, tenant_key, tenant_of, thread
from engine.checkpoints.tail import PAGE, EventTail
from engine.clock import from_ns
from engine.database.constructs import Each
from engine.database.statement import Statement
from engine.desk.events import decode_position, encode_position
from engine.desk.views import EventRow
from engine.paging import check_limit

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from engine.checkpoints.gaps import Held
    from engine.database.transaction import Transactions
    from engine.desk.filters import EventFilter

_ASKED: Final = Each(bindparam("ids")).table_valued("value").alias("asked")
_OWNERS: Final = Statement(
    select(thread.c.thread_id, thread.c.tenant_key)
    .select_from(_ASKED)
    .join(thread, thread.c.thread_id == _ASKED.c.value)
)
_AFTER: Final = Statement(
    select(event)
    .where(event.c.thread_id == bindparam("id"), event.c.seq > bindparam("after"))
    .order_by(event.c.seq)
    .limit(bindparam("most"))
)


class Follower(Protocol):
    """A reader of events from a position on. Each `read` is bounded and never waits."""

    @property
    def position(self) -> str:
        """Where to go on, in any process."""
        ...

    @property
    def more(self) -> bool:
        """Whether another read may bring more at once."""
        ...

    @property
    def held(self) -> Held | None:
        """The unfinished transaction that newer events wait for, if any."""
        ...

    def read(self, limit: int = PAGE, *, cancel: threading.Event | None = None) -> tuple[EventRow, ...]:
        """At most `limit` (1 to 500) of the next events, oldest first, their payloads whole."""
        ...


class StoreFollower:
    """Follows the events of every thread, or of a tenant's, or of some kinds."""

    def __init__(self, transactions: Transactions, store: str, wanted: EventFilter, after: str) -> None:
        self._tx = transactions
        self._tail = EventTail(transactions, store, wanted.tail, after=after)

    @property
    def position(self) -> str:
        """See `Follower`."""
        return self._tail.position

    @property
    def more(self) -> bool:
        """See `Follower`."""
        return self._tail.more

    @property
    def held(self) -> Held | None:
        """See `Follower`."""
        return self._tail.held

    def read(self, limit: int = PAGE, *, cancel: threading.Event | None = None) -> tuple[EventRow, ...]:
        """See `Follower`."""
        found = self._tail.read_as(lambda row: row, limit, cancel=cancel)
        owners = self._tx.read_until("desk.follow", cancel, _owners, [row for _, row in found])
        return tuple(_event_row(position, row, owners.get(row.thread_id)) for position, row in found)


class ThreadFollower:
    """Follows the events of one thread, through its deletions and new lives."""

    held: Held | None = None

    def __init__(self, transactions: Transactions, wanted: EventFilter, after: str) -> None:
        self._tx = transactions
        self._wanted = wanted
        self._seq = decode_position(wanted, after)
        self.more = True

    @property
    def position(self) -> str:
        """See `Follower`."""
        return encode_position(self._wanted, self._seq)

    def read(self, limit: int = PAGE, *, cancel: threading.Event | None = None) -> tuple[EventRow, ...]:
        """See `Follower`."""
        check_limit(limit, PAGE)
        rows, owners = self._tx.read_until("desk.follow", cancel, self._page, limit)
        self.more = len(rows) == limit
        if rows:
            self._seq = rows[-1].seq
        owner = owners.get(str(self._wanted.thread_id))
        return tuple(
            _event_row(encode_position(self._wanted, row.seq), row, owner)
            for row in rows
            if self._matches(row, owner)
        )

    def _page(self, connection: Connection, limit: int) -> tuple[Sequence[Any], dict[str, str | None]]:
        rows = _AFTER.all(connection, id=self._wanted.thread_id, after=self._seq, most=limit)
        return rows, _owners(connection, rows)

    def _matches(self, row: Any, owner: str | None) -> bool:
        kinds, tenant = self._wanted.tail.kinds, self._wanted.tail.tenant
        ours = isinstance(tenant, Unset) or (owner or "") == tenant_key(tenant)
        return ours and (kinds is None or row.kind in kinds)


def _owners(connection: Connection, rows: Sequence[Any]) -> dict[str, str | None]:
    """The tenant key of each event's thread; without a checkpoint there is none."""
    if not rows:
        return {}
    asked = json.dumps(sorted({row.thread_id for row in rows}))
    return {row.thread_id: row.tenant_key for row in _OWNERS.all(connection, ids=asked)}


def _event_row(position: str, row: Any, owner: str | None) -> EventRow:
    return EventRow(
        position=position,
        thread_id=row.thread_id,
        tenant=tenant_of(owner),
        seq=row.seq,
        kind=row.kind,
        run_id=row.run_id,
        checkpoint_id=row.checkpoint_id,
        token=row.token,
        timestamp=instant_of(row.timestamp),
        committed_at=from_ns(row.committed_at),
        payload=row.payload,
        size=len(row.payload.encode()),
    )
