"""Hearing hints: LISTEN on a connection of its own, and the probe beside it (ruling 21)."""

from __future__ import annotations

import contextlib
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
LOOK_MS: Final = 2_000
"""Milliseconds that one look may take: a locked table must not keep the probe, nor a guest's query on a server."""

_DRAINED: Final = 4_096
"""Bytes of the rousing pipe that are read at once; each rousing writes one."""

_log = logging.getLogger(__name__)


class Listener:
    """One thread and connection per store, from the first waiter on, until told to rest. It wakes the hub and
    never raises.
    """

    def __init__(
        self, connect: Callable[[], psycopg.Connection[Any]], hub: Hub, sender: str, *, listen: bool
    ) -> None:
        self._connect = connect
        self._hub = hub
        self._sender = sender
        self._listen = listen
        self._rouse = _Rouse()
        self._needed = threading.Event()
        self._greeting = ""
        self._helper = Helper("holdwatch-listen", self._work)
        self.trusted = False

    def ensure(self) -> None:
        """Somebody waits."""
        self._needed.set()
        self._helper.ensure()

    def rest(self) -> None:
        """Nobody waits: let go of the connection until somebody does."""
        if self._hub.empty:
            self._needed.clear()
            self._rouse.now()
        if not self._hub.empty:  # Somebody came while we looked; waiters register before they ensure.
            self._needed.set()

    def close(self) -> None:
        """End the thread and its connection."""
        self._helper.close(self._end)

    def _end(self) -> None:
        self._needed.set()
        self._rouse.now()

    @property
    def _wanted(self) -> bool:
        return self._needed.is_set() and not self._helper.closing.is_set()

    def _work(self) -> None:
        backoff = Backoff(self._helper.closing)
        while not self._helper.closing.is_set():
            self._needed.wait()
            with self._rouse:
                self._keep_connected(backoff)

    def _keep_connected(self, backoff: Backoff) -> None:
        while self._wanted:
            try:
                with closing(self._connect()) as connection:
                    self._follow(connection, backoff)
            except (psycopg.Error, OSError) as error:
                _log.debug("the listening connection is lost, reconnecting: %s", error)
            self.trusted = False
            if self._wanted:
                backoff.rest()

    def _follow(self, connection: psycopg.Connection[Any], backoff: Backoff) -> None:
        self._subscribe(connection)
        probe = Probe(connection)
        due = Deadline(0)
        with self._rouse.selector(connection.fileno()) as selector:
            while self._wanted:
                if not due.left:
                    self._probe(probe)
                    backoff.reset()
                    due = Deadline(PROBE if self.trusted else PROBE_ALONE)
                self._receive(connection)
                selector.select(due.left)
                self._rouse.drain()

    def _subscribe(self, connection: psycopg.Connection[Any]) -> None:
        """LISTEN, and a greeting from elsewhere to prove that hints come through: a pooler swallows it."""
        if not self._listen:
            return
        try:
            connection.execute(f"SET statement_timeout = {LOOK_MS}")
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
    """A pipe that ends the thread's sleep from outside; open while the thread has a use for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        self._ends = os.pipe()
        os.set_blocking(self._ends[0], False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            ends, self._ends = self._ends or (), None
        for end in ends:
            os.close(end)

    def now(self) -> None:
        """End the sleep; what it is ended for was said before."""
        with self._lock:
            if self._ends is not None:
                os.write(self._ends[1], b"!")

    def drain(self) -> None:
        """Let the next sleep be one."""
        if self._ends is not None:
            with contextlib.suppress(BlockingIOError):  # nothing to drain: the sleep ended by itself
                os.read(self._ends[0], _DRAINED)

    def selector(self, connection: int) -> selectors.BaseSelector:
        """What to sleep on: the pipe and the connection."""
        selector = selectors.DefaultSelector()
        for readable in (connection, *(self._ends or ())[:1]):
            selector.register(readable, selectors.EVENT_READ)
        return selector
