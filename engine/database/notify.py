"""Hints over NOTIFY and LISTEN: sent by one helper, heard by another, each started when first needed."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from engine.database.listener import Listener
from engine.database.notifier import Notifier
from engine.database.wakeups import LocalSignals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg


class NotifiedSignals(LocalSignals):
    """In-process commits at once; others through the server, or with `listen` off by probing alone."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]], *, listen: bool) -> None:
        super().__init__()
        sender = uuid.uuid4().hex[:12]
        self._notifier = Notifier(connect, sender)
        self.listener = Listener(connect, self.hub, sender, listen=listen)

    def publish(self, thread_ids: Sequence[str]) -> None:
        """Wake this store's waiters, then tell the others."""
        super().publish(thread_ids)
        self._notifier.send(thread_ids)

    def _attend(self) -> None:
        self.listener.ensure()

    def rest(self) -> None:
        """Let go of the listening connection, unless somebody waits."""
        self.listener.rest()

    def close(self) -> None:
        """Send what is queued, end both helpers, then wake everybody."""
        self._notifier.close()
        self.listener.close()
        super().close()
