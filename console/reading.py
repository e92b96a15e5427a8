"""The calls that fetch what the screens show. Nothing loads this to run: it is what type checkers go by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from console.acting.jobs import JobsGateway
from console.acting.plans import PlansGateway
from console.acting.records import AuditGateway
from console.acting.resolving import ResolvingGateway
from console.meaning import Meaning
from console.money_model import MoneyGateway
from console.overview_model import OverviewGateway
from console.tail_model import TailGateway

if TYPE_CHECKING:
    from console.claims_model import ClaimQuery, ClaimRow, ClaimStory, ClaimTotals, HolderRow
    from console.identity import Identity
    from console.model import (
        Counted,
        IncompleteQuery,
        Page,
        StoreLabel,
        ThreadQuery,
        ThreadRow,
        ThreadStory,
        TombstoneQuery,
        TombstoneRow,
    )
    from console.queue_model import QueueDepth, QueueQuery, QueueRow, QueueRuns


class Gateway(
    TailGateway,
    MoneyGateway,
    OverviewGateway,
    PlansGateway,
    JobsGateway,
    AuditGateway,
    ResolvingGateway,
    Meaning,
    Protocol,
):
    """The reading calls. Each is a bounded read, may block, and raises `GatewayError` only."""

    @property
    def label(self) -> StoreLabel:
        """The store's name; never blocks."""
        ...

    def identity(self) -> Identity:
        """Which server, database and role the connection has reached, in their own words."""
        ...

    def threads(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Threads, newest first, or by id where a prefix is asked for."""
        ...

    def threads_from_end(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """The same, longest untouched first; for a query without prefix and metadata."""
        ...

    def count_threads(self, query: ThreadQuery) -> Counted:
        """How many threads match, capped."""
        ...

    def incomplete(self, query: IncompleteQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Idle threads, longest untouched first."""
        ...

    def children(self, parent: str, after: str | None, limit: int) -> Page[ThreadRow]:
        """The direct children of a thread, earliest adopted first."""
        ...

    def tombstones(self, query: TombstoneQuery, after: str | None, limit: int) -> Page[TombstoneRow]:
        """Deleted ids, last deleted first."""
        ...

    def claims(self, query: ClaimQuery, after: str | None, limit: int) -> Page[ClaimRow]:
        """Claims, first expiry first, or by thread for one holder."""
        ...

    def count_claims(self, query: ClaimQuery) -> Counted:
        """How many claims match, capped."""
        ...

    def claim_totals(self) -> ClaimTotals:
        """How many claims are live and how many are over, capped."""
        ...

    def claim(self, thread: str) -> ClaimStory | None:
        """The claim on a thread; None when nobody holds it."""
        ...

    def holders(self, after: str | None, limit: int) -> Page[HolderRow]:
        """Who holds claims, by name."""
        ...

    def queue(self, query: QueueQuery, after: str | None, limit: int) -> Page[QueueRow]:
        """Entries of the run queue: by lease's end, by due time, or by id."""
        ...

    def queue_depth(self) -> QueueDepth:
        """How full the run queue is, capped."""
        ...

    def queue_runs(self, entry: str) -> QueueRuns | None:
        """The runs that an entry recorded; None when there is no such entry."""
        ...

    def story(self, thread: str) -> ThreadStory | None:
        """Everything about one thread; None if the store holds nothing of it."""
        ...

    def snapshot(self, thread: str, checkpoint: str) -> str:
        """A checkpoint's body, JSON text exactly as stored."""
        ...

    def payload(self, thread: str, seq: int) -> str:
        """An event's payload, whole, JSON text exactly as stored."""
        ...

    def interrupt(self) -> None:
        """End the calls that run now, in the database as well: they fail with the code STOPPED."""
        ...

    def close(self) -> None:
        """End running calls and give the connections back."""
        ...
