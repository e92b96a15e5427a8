"""What a dialect must offer, and how a verb finds it from the caller's Connection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from engine.errors import ValidationError

if TYPE_CHECKING:
    import threading
    from contextlib import AbstractContextManager
    from datetime import timedelta

    from sqlalchemy import Connection, Engine

    from engine.database.constructs import Counter
    from engine.database.wakeups import Signals

BACKEND_OPTION = "holdwatch_backend"
MODE_OPTION = "holdwatch_mode"


class Mode(StrEnum):
    """How a transaction begins. A caller's own Connection is WRITE; a SINGLE statement commits by itself.

    LEAN is SINGLE, and LEAN_WRITE is WRITE on SQLite, for verbs that run `Statement`s and nothing else. The
    statements of a SNAPSHOT see one moment together; those of a READ may see one each.
    """

    LEAN = "lean"
    LEAN_WRITE = "lean_write"
    SINGLE = "single"
    READ = "read"
    SNAPSHOT = "snapshot"
    WRITE = "write"


READING = frozenset({Mode.READ, Mode.SNAPSHOT})
ALONE = frozenset({Mode.LEAN, Mode.SINGLE})
WRITING = frozenset({Mode.LEAN_WRITE, Mode.WRITE})


class Fault(StrEnum):
    """What a driver's exception means for the transaction it ended."""

    CONFLICT = "conflict"  # serialization failure or deadlock: the whole transaction may run again
    LOST = "lost"  # the connection is gone
    ENDED_IDLE = "ended_idle"  # it was gone before this call: the server had ended it while nothing ran
    ENDED = "ended"  # the server ended it, and the transaction with it, for taking too long
    BUSY = "busy"  # the writer's lock was not had in time
    CROWDED = "crowded"  # every connection of the pool was in use
    CANCELLED = "cancelled"  # ended by a cancel or a deadline
    DUPLICATE = "duplicate"  # a unique key is taken
    READ_ONLY = "read_only"  # the database refused a write
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a back end can do, for callers that must say so."""

    name: str
    server_clock: bool
    one_statement_commit: bool
    shared: bool
    """Whether several machines may use one store at once."""
    shared_writes: float | None = None
    """Seconds a writer waits for a transaction that it may share with other threads; None: it shares none."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one call."""

    timeout: timedelta | None = None
    cancel: threading.Event | None = None
    patience: float | None = None
    """Seconds for SQLite's writer lock, where fewer than the busy timeout are left."""

    @property
    def any(self) -> bool:
        """Whether its statements are bounded at all."""
        return self.timeout is not None or self.cancel is not None


class Backend(Protocol):
    """Everything above it is one implementation for both."""

    engine: Engine
    capabilities: Capabilities
    signals: Signals
    driver_error: type[Exception]

    def now(self) -> int | None:
        """Nanoseconds by the injected or the process clock; None where the server's clock decides."""
        ...

    def session(self, mode: Mode, limits: Limits) -> AbstractContextManager[Connection]:
        """A connection whose transactions begin in `mode` and end at `limits`; given back on exit."""
        ...

    def advance(self, connection: Connection, counter: Counter) -> None:
        """Record that the number drawn by `Next(counter)` is used."""
        ...

    def lock_children(self, connection: Connection, parent: str) -> None:
        """Hold `parent`'s child numbering until the transaction ends (ruling 7)."""
        ...

    def classify(self, error: BaseException) -> Fault:
        """What a driver's exception means."""
        ...

    def close(self) -> None:
        """Give everything back; safe to call twice."""
        ...


def backend_of(connection: Connection) -> Backend:
    """The back end behind a Connection of `store.engine`; ValidationError for anybody else's."""
    backend = connection.get_execution_options().get(BACKEND_OPTION)
    if backend is None:
        raise ValidationError("connection", ("is not of this store; use store.engine.connect()",))
    return backend  # type: ignore[no-any-return]
