"""Hearing hints: LISTEN on a connection of its own, and the probe beside it (ruling 21)."""

from __future__ import annotations

import json
import logging
import os
import selectors
import threading
import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, Self

import psycopg

from engine.database.helper import Backoff, Helper
from engine.database.notifier import CHANNEL
from engine.database.payloads import decode
from engine.database.probe import Probe
from engine.database.wakeups import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from engine.database.wakeups import Hub

PROBE: Final = 1.0
"""Seconds between two probes where hints arrive: what a lost one costs at most."""
PROBE_ALONE: Final = 0.25
"""Seconds between two probes where no hint has been seen to arrive, as behind a transaction pooler."""

_log = logging.getLogger(__name__)


class Listener:
    """One thread and connection per store, from the first waiter on. It wakes the hub and never raises."""

    def __init__(
        self, connect: Callable[[], psycopg.Connection[Any]], hub: Hub, sender: str, *, listen: bool
    ) -> None:
        self._connect = connect
        self._hub = hub
        self._sender = sender
        self._listen = listen
        self._rouse = _Rouse()
        self._greeting = ""
        self._helper = Helper("holdwatch-listen", self._work)
        self.trusted = False

    def ensure(self) -> None:
        """Somebody waits."""
        self._helper.ensure()

    def close(self) -> None:
        """End the thread and its connection."""
        self._helper.close(self._rouse.now)

    def _work(self) -> None:
        with self._rouse:
            self._keep_connected(Backoff(self._helper.closing))

    def _keep_connected(self, backoff: Backoff) -> None:
        while not self._helper.closing.is_set():
            try:
                with closing(self._connect()) as connection:
                    self._follow(connection, backoff)
            except (psycopg.Error, OSError) as error:
                _log.debug("the listening connection is lost, reconnecting: %s", error)
            self.trusted = False
            backoff.rest()

    def _follow(self, connection: psycopg.Connection[Any], backoff: Backoff) -> None:
        self._subscribe(connection)
        probe = Probe(connection)
        due = Deadline(0)
        with self._rouse.selector(connection.fileno()) as selector:
            while not self._helper.closing.is_set():
                if not due.left:
                    self._probe(probe)
                    backoff.reset()
                    due = Deadline(PROBE if self.trusted else PROBE_ALONE)
                self._receive(connection)
                selector.select(due.left)

    def _subscribe(self, connection: psycopg.Connection[Any]) -> None:
        """LISTEN, and a greeting from elsewhere to prove that hints come through: a pooler swallows it."""
        if not self._listen:
            return
        try:
            connection.execute(f"LISTEN {CHANNEL}")
            self._greeting = json.dumps(["greeting", uuid.uuid4().hex])
            with closing(self._connect()) as other:
                other.execute("SELECT pg_notify(%s, %s)", (CHANNEL, self._greeting))
        except (psycopg.InternalError, psycopg.NotSupportedError) as refused:
            # A standby knows no LISTEN: the probe alone has to do.
            _log.debug("hints cannot be heard on this server, probing instead: %s", refused)

    def _probe(self, probe: Probe) -> None:
        # Without a waiter there is nobody to tell, and the older last look serves the next one as well.
        if not self._hub.empty and probe.moved():
            self._hub.wake_all()

    def _receive(self, connection: psycopg.Connection[Any]) -> None:
        for notice in connection.notifies(timeout=0):
            if notice.payload == self._greeting:
                self.trusted = True
                self._hub.wake_all()
            else:
                self._pass_on(notice.payload)

    def _pass_on(self, payload: str) -> None:
        hint = decode(payload)
        if hint.sender == self._sender:
            return  # This store's own commit woke its readers when it happened.
        if hint.threads is None:
            self._hub.wake_all()
        else:
            self._hub.wake(hint.threads)


class _Rouse:
    """A pipe that ends the thread's sleep from outside; open while the thread runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        self._ends = os.pipe()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            ends, self._ends = self._ends or (), None
        for end in ends:
            os.close(end)

    def now(self) -> None:
        """End the sleep, and every later one."""
        with self._lock:
            if self._ends is not None:
                os.write(self._ends[1], b"!")

    def selector(self, connection: int) -> selectors.BaseSelector:
        """What to sleep on: the pipe and the connection."""
        selector = selectors.DefaultSelector()
        for readable in (connection, *(self._ends or ())[:1]):
            selector.register(readable, selectors.EVENT_READ)
        return selector
