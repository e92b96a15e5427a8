"""The rules of the run queue over a plain dictionary (checkpoints-operations.md 4.9, rulings 26 and 73)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.checkpoints import QueueEntry, QueueState
from engine.checkpoints.queue_lease import NO_ATTEMPTS_LEFT
from engine.errors import StaleLease, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

OPEN = (QueueState.QUEUED, QueueState.LEASED)


class QueueModel:
    """Every entry by id. `now` is the store's clock; ids are told by the store."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._entries: dict[str, QueueEntry] = {}

    @property
    def open(self) -> list[QueueEntry]:
        """The entries that still keep evidence, by id."""
        return [entry for entry in self.entries() if entry.state in OPEN]

    def recorded(self, t: str) -> set[str]:
        """The runs whose evidence in the thread must stay."""
        return {run for entry in self.open if entry.thread_id == t for run in entry.run_ids}

    def entries(self, state: QueueState | None = None) -> list[QueueEntry]:
        """Every entry, or every one of the state, by id."""
        found = sorted(self._entries.items())
        return [entry for _, entry in found if state in (None, entry.state)]

    def enqueue(self, entry_id: str, t: str, given: Any, at: datetime | None, most: int) -> str:
        """A new entry under the id that the store gave it."""
        assert entry_id not in self._entries, f"{entry_id} is an entry already"
        due = self._now() if at is None else at
        self._entries[entry_id] = QueueEntry(
            entry_id, t, None, given, QueueState.QUEUED, due, None, 0, None, 0, most, None, ()
        )
        return entry_id

    def lease(self, worker: str, ttl: timedelta) -> QueueEntry | None:
        """The first that is due; a lapsed lease is due, and dead without an attempt left."""
        while (entry := self._first()) is not None:
            if entry.attempts >= entry.max_attempts:
                self._move(entry, QueueState.DEAD, NO_ATTEMPTS_LEFT)
                continue
            return self._put(
                replace(
                    entry,
                    state=QueueState.LEASED,
                    lease_owner=worker,
                    lease_token=entry.lease_token + 1,
                    lease_until=self._now() + ttl,
                    attempts=entry.attempts + 1,
                )
            )
        return None

    def record_run(self, entry_id: str, token: int, run: str) -> None:
        """Each run once, in the order of recording."""
        entry = self._held(entry_id, token)
        if run not in entry.run_ids:
            self._put(replace(entry, run_ids=(*entry.run_ids, run)))

    def extend(self, entry_id: str, token: int, ttl: timedelta) -> None:
        """From now."""
        self._put(replace(self._held(entry_id, token), lease_until=self._now() + ttl))

    def complete(self, entry_id: str, token: int) -> None:
        """Done: the evidence may go."""
        entry = self._held(entry_id, token)
        self._move(entry, QueueState.DONE, entry.last_error)

    def kill(self, entry_id: str, token: int, error: str) -> None:
        """Dead, with a word why."""
        self._move(self._held(entry_id, token), QueueState.DEAD, error)

    def retry(self, entry_id: str, token: int, delay: timedelta) -> None:
        """Due again later, or dead without an attempt left."""
        entry = self._held(entry_id, token)
        if entry.attempts >= entry.max_attempts:
            self._move(entry, QueueState.DEAD, entry.last_error)
            return
        due = replace(entry, available_at=self._now() + delay)
        self._move(due, QueueState.QUEUED, entry.last_error)

    def cancel(self, entry_id: str) -> None:
        """Closed entries stay what they are."""
        entry = self._entries.get(entry_id)
        if entry is None:
            raise ValidationError("entry_id", ())
        if entry.state in OPEN:
            self._move(entry, QueueState.CANCELLED, entry.last_error)

    def cancel_thread(self, t: str) -> list[str]:
        """Every open entry of the thread."""
        closed = [entry for entry in self.open if entry.thread_id == t]
        for entry in closed:
            self._move(entry, QueueState.CANCELLED, entry.last_error)
        return [entry.id for entry in closed]

    def _first(self) -> QueueEntry | None:
        now = self._now()
        running = {entry.thread_id for entry in self.entries(QueueState.LEASED)}
        due = [
            entry
            for entry in self.entries(QueueState.QUEUED)
            if entry.available_at <= now and entry.thread_id not in running
        ]
        due += [
            entry
            for entry in self.entries(QueueState.LEASED)
            if entry.lease_until is not None and entry.lease_until <= now
        ]
        return min(due, key=lambda entry: (entry.available_at, entry.id), default=None)

    def _held(self, entry_id: str, token: int) -> QueueEntry:
        entry = self._entries.get(entry_id)
        current = entry.lease_token if entry and entry.state is QueueState.LEASED else None
        if entry is None or current != token:
            raise StaleLease(entry_id, token, current)
        return entry

    def _move(self, entry: QueueEntry, state: QueueState, error: str | None) -> None:
        self._put(replace(entry, state=state, lease_owner=None, lease_until=None, last_error=error))

    def _put(self, entry: QueueEntry) -> QueueEntry:
        self._entries[entry.id] = entry
        return entry
