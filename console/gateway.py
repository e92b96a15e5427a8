"""The console's only door to the engine: its records become rows of `console.model`, its errors
`GatewayError`.

The engine - and with it SQLAlchemy and a driver - is imported by the first call, in that call's thread, so
that the first frame is drawn before (ruling 57 says which connections a console may have).
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from console import VERSION, stores
from console.model import (
    Checkpoint,
    Claim,
    Counted,
    Effect,
    EventBatch,
    EventQuery,
    EventRow,
    GatewayError,
    Page,
    Refusals,
    ThreadQuery,
    ThreadRow,
    ThreadState,
    ThreadStory,
    Tombstone,
    Unset,
    Write,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from console.model import StoreLabel, Tenancy
    from engine import Store, desk
    from engine.clock import Clock

READ_CONNECTIONS: Final = 2
STATEMENT_TIMEOUT: Final = timedelta(seconds=1)
APPLICATION_NAME: Final = f"holdwatch/{VERSION}"
OVERLAP: Final = STATEMENT_TIMEOUT
"""How far a `since` reaches back further: a commit's time is taken before it lands (ruling 28)."""


class EngineGateway:
    """Reads a store through `engine.desk`, read-only, opening it when first asked and again after its
    file changed.
    """

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._url = url
        self._clock = clock
        self._file = stores.file_of(url)
        self._identity: tuple[int, int] | None = None
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._closing = threading.Event()
        self.label: StoreLabel = stores.label_of(url)

    # The reading calls of `console.model.Gateway`

    def threads(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Threads, newest first, after a cursor."""
        with self._desk() as door:
            page = door.threads(_thread_filter(door, query), after, limit)
        return Page(tuple(map(_thread_row, page.rows)), page.next, page.as_of)

    def count_threads(self, query: ThreadQuery) -> Counted:
        """How many threads match, capped."""
        with self._desk() as door:
            counted = door.count_threads(_thread_filter(door, query))
        return Counted(counted.count, counted.more)

    def story(self, thread: str) -> ThreadStory | None:
        """Everything about one thread; None if the store holds nothing of it."""
        with self._desk() as door:
            detail = door.thread(thread)
        return None if detail is None else _story(detail)

    def snapshot(self, thread: str, checkpoint: str) -> str:
        """A checkpoint's body, JSON text exactly as stored."""
        with self._desk() as door:
            body = door.snapshot(thread, checkpoint)
        if body is None:
            raise GatewayError(
                "this checkpoint is no longer stored; r reads the list again", code="gone", retryable=False
            )
        return body

    def newest_events(self, query: EventQuery, limit: int) -> EventBatch:
        """The newest events, to begin a tail with: nothing before them counts as dropped."""
        batch = self._events(query, None, limit)
        return EventBatch(batch.rows, batch.position, len(batch.rows), 0, batch.as_of, batch.before)

    def events(self, query: EventQuery, position: str, limit: int) -> EventBatch:
        """The events after a position."""
        return self._events(query, position, limit)

    def older_events(self, query: EventQuery, before: str, limit: int) -> EventBatch:
        """The events before a position, oldest first."""
        with self._desk() as door:
            page = door.events_before(before, limit=limit, **_event_filter(query))
        return _batch(page, page.rows[::-1])

    def close(self) -> None:
        """End running calls and give the connections back."""
        self._closing.set()
        self._drop()

    def _events(self, query: EventQuery, position: str | None, limit: int) -> EventBatch:
        with self._desk() as door:
            page = door.events(position, limit=limit, **_event_filter(query))
        return _batch(page, page.rows)

    # The store

    @contextmanager
    def _desk(self) -> Iterator[desk.Desk]:
        from engine.errors import EngineError

        try:
            yield self._opened().desk
        except EngineError as error:
            raise GatewayError(error.explain(), code=error.code, retryable=error.retryable) from error

    def _opened(self) -> Store:
        import engine

        with self._opening:
            if self._file is not None:
                self._check_file(self._file)
            if self._store is None:
                self._store = engine.open_store(
                    self._url,
                    clock=self._clock,
                    ensure_schema=False,
                    read_only=True,
                    pool_size=READ_CONNECTIONS,
                    statement_timeout=STATEMENT_TIMEOUT,
                    application_name=APPLICATION_NAME,
                    wakeups=False,
                    cancel=self._closing,
                )
            return self._store

    def _check_file(self, file: Path) -> None:
        """An open SQLite file that was removed or replaced still answers, with what nobody else sees
        any more.
        """
        try:
            status = file.stat()
        except OSError as error:
            self._drop()
            raise GatewayError(
                f"{file} cannot be reached: {error.strerror}; the console goes on when it is back",
                code="file_gone",
                retryable=True,
            ) from error
        identity = (status.st_dev, status.st_ino)
        if self._identity != identity:
            self._drop()
        self._identity = identity

    def _drop(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()


def migrate(url: str) -> None:
    """Create or upgrade a store's tables; raises GatewayError."""
    import engine
    from engine.errors import EngineError

    try:
        engine.open_store(url, pool_size=1, application_name=APPLICATION_NAME, wakeups=False).close()
    except EngineError as error:
        raise GatewayError(error.explain(), code=error.code, retryable=error.retryable) from error


# From the console's questions to the engine's


def _tenant(tenant: Tenancy) -> Any:
    from engine import desk

    return desk.ANY if isinstance(tenant, Unset) else tenant


def _thread_filter(door: desk.Desk, query: ThreadQuery) -> desk.ThreadFilter:
    from engine import desk

    states = query.states
    return desk.ThreadFilter(
        tenant=_tenant(query.tenant),
        statuses=None if states is None else frozenset(desk.ThreadStatus[state.name] for state in states),
        prefix=query.prefix,
        updated_since=None if query.since is None else door.now() - query.since - OVERLAP,
        holder=query.holder,
    )


def _event_filter(query: EventQuery) -> dict[str, Any]:
    return {"thread_id": query.thread, "tenant": _tenant(query.tenant), "kinds": query.kinds}


# From the engine's records to the console's rows


def _thread_row(row: desk.ThreadRow) -> ThreadRow:
    return ThreadRow(
        id=row.thread_id,
        tenant=row.tenant,
        state=ThreadState[row.status.name],
        holder=row.holder,
        lease_left=row.lease_left,
        token=row.token,
        events=row.events,
        updated_at=row.updated_at,
        age=row.age,
        checkpoint=row.latest_id,
        run=row.latest_run_id,
    )


def _story(detail: desk.ThreadDetail) -> ThreadStory:
    return ThreadStory(
        thread=detail.thread_id,
        row=None if detail.row is None else _thread_row(detail.row),
        claim=None if detail.claim is None else _claim(detail.claim),
        refusals=None if detail.refusal is None else _refusals(detail.refusal),
        checkpoints=tuple(map(_checkpoint, detail.checkpoints)),
        writes=tuple(
            Write(str(row.n), row.task_id, row.node_id, row.body, row.size) for row in detail.writes
        ),
        effects=tuple(map(_effect, detail.effects)),
        metadata=tuple(sorted(detail.metadata.items())),
        first_seq=detail.first_seq,
        next_seq=detail.next_seq,
        floor_seq=detail.floor_seq,
        tombstone=None if detail.tombstone is None else _tombstone(detail.tombstone),
        as_of=detail.as_of,
        cut=detail.more_checkpoints or detail.more_writes or detail.more_effects,
    )


def _claim(claim: desk.ClaimDetail) -> Claim:
    return Claim(
        holder=claim.holder,
        tenant=claim.tenant,
        token=claim.token,
        granted_at=claim.granted_at,
        renewed_at=claim.renewed_at,
        renewals=claim.renewals,
        expires_at=claim.expires_at,
        live=claim.live,
        left=claim.left,
    )


def _refusals(refusal: desk.RefusalDetail) -> Refusals:
    return Refusals(refusal.count, refusal.last_token, refusal.last_verb, refusal.last_at)


def _tombstone(tombstone: desk.TombstoneDetail) -> Tombstone:
    return Tombstone(tombstone.next_first_seq, tombstone.deleted_at)


def _checkpoint(row: desk.CheckpointRow) -> Checkpoint:
    return Checkpoint(
        id=row.checkpoint_id,
        place=row.place,
        run=row.run_id,
        status=row.status.name,
        parent=row.parent,
        token=row.token,
        committed_at=row.committed_at,
        size=row.size,
    )


def _effect(row: desk.EffectRow) -> Effect:
    return Effect(row.key, row.value, row.size, row.run_id, row.token, row.committed_at)


def _batch(page: desk.EventPage, rows: tuple[desk.EventRow, ...]) -> EventBatch:
    dropped = page.received - len(rows)
    return EventBatch(
        tuple(map(_event, rows)), page.position, page.received, dropped, page.as_of, page.before
    )


def _event(row: desk.EventRow) -> EventRow:
    return EventRow(
        position=row.position,
        thread=row.thread_id,
        tenant=row.tenant,
        seq=row.seq,
        kind=row.kind,
        run=row.run_id,
        checkpoint=row.checkpoint_id,
        token=row.token,
        at=row.committed_at,
        payload=row.payload,
        size=row.size,
    )
