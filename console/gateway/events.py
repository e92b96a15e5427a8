"""Events as documents, for commands: the newest ones, or each one in its turn."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from console.gateway import questions
from console.gateway.store import OpenedStore
from console.gateway.waits import held_by
from console.read.documents import document, stored_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.model import EventQuery
    from console.read.documents import Document
    from engine import desk
    from engine.desk.follow import Follower

LOOK_AGAIN: Final = 0.05
"""Seconds between two looks while commits are under way."""


@contextmanager
def event_reads(url: str) -> Iterator[EventReads]:
    """The calls on one store, read-only, closed in the end."""
    store = OpenedStore(url)
    try:
        yield EventReads(store)
    finally:
        store.close()


class EventReads:
    """Reads events whole; raises GatewayError."""

    def __init__(self, store: OpenedStore) -> None:
        self._store = store

    def newest(self, query: EventQuery, limit: int, patience: float) -> tuple[list[Document], str | None]:
        """The newest events, oldest first, and what newer ones are held back by.

        Commits that were under way at the first look are waited for, `patience` seconds at most: a newer event
        must not be shown before an older one.
        """
        deadline = time.monotonic() + patience
        with self._store.desk() as door:
            page = door.events(None, limit=limit, **questions.event_filter(query))
            while page.held is not None and time.monotonic() < deadline:
                time.sleep(LOOK_AGAIN)
                page = door.events(None, limit=limit, **questions.event_filter(query))
            return [_whole(door, row) for row in page.rows], held_by(page.held)

    def end(self, query: EventQuery) -> str:
        """The position behind all events that may be shown now."""
        with self._store.desk() as door:
            return door.events(None, limit=1, **questions.event_filter(query)).position

    def follow(self, query: EventQuery, after: str) -> Following:
        """A reader of every event behind a position."""
        with self._store.desk() as door:
            return Following(self._store, door.follow(after, **questions.event_filter(query)))


class Following:
    """Reads on from a position; nothing is left out."""

    def __init__(self, store: OpenedStore, follower: Follower) -> None:
        self._store = store
        self._follower = follower

    @property
    def more(self) -> bool:
        """Whether another read may bring more at once."""
        return self._follower.more

    @property
    def held(self) -> str | None:
        """What newer events are held back by, in words, once that lasts."""
        return held_by(self._follower.held)

    def read(self, limit: int) -> list[Document]:
        """At most so many of the next events, oldest first."""
        with self._store.desk():
            return [document(row) for row in self._follower.read(limit)]


def _whole(door: desk.Desk, row: desk.EventRow) -> Document:
    """The row as a document, with all of a payload that the page had only the beginning of."""
    made = document(row)
    if "payload" in made:
        return made
    whole = door.payload(row.thread_id, row.seq)
    if whole is None:
        return made
    del made["payload_text"]
    return made | stored_text("payload", whole, row.size)
