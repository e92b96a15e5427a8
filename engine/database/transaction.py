"""The only place that opens a transaction: deadline, retry, error translation (design 2 and 8, ruling 3)."""

from __future__ import annotations

import copy
import os
import random
import time
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy.exc

from engine.database.backend import WRITING, Fault, Limits, Mode
from engine.database.cancel import cancel_around
from engine.database.group import Group, Ticket, Turn
from engine.database.retries import STORE_RETRIES
from engine.errors import (
    CommitUnknown,
    EngineError,
    ReadOnlyStore,
    StoreClosed,
    StoreFailure,
    WaitCancelled,
)

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from datetime import timedelta

    from sqlalchemy import Connection

    from engine.database.backend import Backend
    from engine.database.retries import RetryPolicy

    P = ParamSpec("P")
    T = TypeVar("T")
    Verb = Callable[Concatenate[Connection, P], T]

_FORKED = "the store was opened before this process was forked; open one here"
_GONE = {Fault.LOST, Fault.ENDED_IDLE, Fault.ENDED}
_UNDONE = {Fault.CONFLICT, Fault.ENDED_IDLE}
_ADVICE = {
    Fault.BUSY: "another writer held the lock for the whole busy timeout; try again, or raise busy_timeout",
    Fault.CROWDED: "every connection was in use; raise pool_size, or call from fewer threads",
    Fault.CANCELLED: "the statement ran past its time limit; narrow the request or raise statement_timeout",
    Fault.ENDED: "the transaction ran past the server's time limit; narrow the request, or raise transaction_timeout",
    Fault.CONFLICT: "other transactions kept getting in the way; try again",
    Fault.READ_ONLY: "the database takes no writes from here: give this user write access (to a file and its folder)",
    Fault.LOST: "the database cannot be reached; check that it is up and try again",
}


class _Life:
    """Whether the connections may still be used: one answer for all that share them."""

    __slots__ = ("__weakref__", "closed", "forked")

    def __init__(self) -> None:
        self.closed = False
        self.forked = False
        _opened.add(self)


@dataclass(slots=True)
class _Progress:
    """How far one attempt got: what a lost connection means depends on it."""

    alone: bool  # the statement commits by itself, so from its start it may have landed
    sent: bool = False


class Transactions:
    """Binds verbs to a back end: one call, one transaction, one outcome."""

    def __init__(
        self,
        backend: Backend,
        *,
        read_only: bool = False,
        timeout: timedelta | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.backend = backend
        self.read_only = read_only
        self._limits = Limits(timeout)
        self._secrets = secrets
        self._retries = STORE_RETRIES
        self._retried = _UNDONE
        self._life = _Life()
        self._group = None if backend.capabilities.shared_writes is None else Group()

    def retrying(self, policy: RetryPolicy) -> Transactions:
        """The same transactions under a caller's policy, which also tries again when the store is busy."""
        patient = copy.copy(self)
        patient._retries = policy  # noqa: SLF001 - of the copy
        patient._retried = _UNDONE | {Fault.BUSY}  # noqa: SLF001
        return patient

    @property
    def closed(self) -> bool:
        """Whether the store was closed."""
        return self._life.closed

    @property
    def forked(self) -> bool:
        """Whether this is a child of the process that opened the store: the connections are its parent's."""
        return self._life.forked

    def end(self) -> None:
        """From now on every call raises StoreClosed."""
        self._life.closed = True

    def read(self, name: str, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a verb in one read-only snapshot-free transaction."""
        return self._attempts(name, Mode.READ, self._reading(), verb, args, options)

    def snapshot(self, name: str, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a verb of several reading statements that must all see one moment."""
        return self._attempts(name, Mode.SNAPSHOT, self._reading(), verb, args, options)

    def read_until(
        self, name: str, cancel: threading.Event | None, verb: Verb[P, T], *args: P.args, **options: P.kwargs
    ) -> T:
        """`read` that the caller's event ends, also inside the driver (ruling 22)."""
        return self._attempts(name, Mode.READ, replace(self._limits, cancel=cancel), verb, args, options)

    def single(self, name: str, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a verb that is one reading statement, in a transaction only where a deadline asks for one."""
        return self._attempts(name, Mode.SINGLE, self._reading(), verb, args, options)

    def lean(self, name: str, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """`single` for a verb that runs one `Statement` and nothing else: half the cost of a checkout."""
        return self._attempts(name, Mode.LEAN, self._limits, verb, args, options)

    def write(self, name: str, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a verb in one writing transaction and commit it."""
        self._writable(name)
        return self._attempts(name, Mode.WRITE, self._limits, verb, args, options)

    def single_write(self, name: str, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a verb that is one self-committing `Statement`; a lost connection is CommitUnknown."""
        self._writable(name)
        mode = Mode.WRITE if self._limits.any else Mode.LEAN
        return self._attempts(name, mode, self._limits, verb, args, options, alone=mode is Mode.LEAN)

    def write_shared(self, name: str, verb: Callable[[Connection], T]) -> T:
        """`write` for a verb that runs `Statement`s only; writers of other threads may share its transaction."""
        self._writable(name)
        patience = self.backend.capabilities.shared_writes
        if self._group is None or patience is None or self._limits.any:
            return self._attempts(name, Mode.WRITE, self._limits, verb, (), {})

        def transact(together: Callable[[Connection], Any], left: float) -> None:
            self._attempts(name, Mode.LEAN_WRITE, Limits(patience=left), together, (), {})

        ticket = Ticket(verb, patience)
        return self._settled(name, ticket, self._group.submit(ticket, transact))

    def _settled(self, name: str, ticket: Ticket[T], turn: Turn) -> T:
        if turn is Turn.ALONE:
            return self._attempts(name, Mode.WRITE, self._limits, ticket.verb, (), {})
        if turn is Turn.LATE:
            raise StoreFailure(name, _ADVICE[Fault.BUSY])
        if turn is Turn.UNKNOWN:
            raise CommitUnknown(name)
        if ticket.error is not None:
            raise ticket.error
        return ticket.value

    def write_until(
        self, name: str, cancel: threading.Event | None, verb: Verb[P, T], *args: P.args, **options: P.kwargs
    ) -> T:
        """`write` that the caller's event ends while it waits for its lock."""
        self._writable(name)
        return self._attempts(name, Mode.WRITE, replace(self._limits, cancel=cancel), verb, args, options)

    def check_open(self, name: str) -> None:
        """StoreClosed once the store was closed, and in a process that was forked from the one that opened it."""
        if self.closed:
            raise StoreClosed(name)
        if self.forked:
            raise StoreClosed(name, _FORKED)

    def _reading(self) -> Limits:
        """The bounds of a read: the caller's event as well, where he reads within `cancelling`."""
        cancel = cancel_around()
        return self._limits if cancel is None else replace(self._limits, cancel=cancel)

    def _writable(self, name: str) -> None:
        self.check_open(name)
        if self.read_only:
            raise ReadOnlyStore(name)

    def _attempts(
        self,
        name: str,
        mode: Mode,
        limits: Limits,
        verb: Callable[..., T],
        args: tuple[Any, ...],
        options: dict[str, Any],
        *,
        alone: bool = False,
    ) -> T:
        self.check_open(name)
        if limits.cancel is not None and limits.cancel.is_set():
            raise WaitCancelled(name)
        attempt, begun = 1, time.monotonic()
        while True:
            stage = _Progress(alone)
            try:
                return self._once(mode, limits, stage, verb, args, options)
            except EngineError:
                raise
            except Exception as error:
                fault = self._fault(error)
                if fault is None:
                    raise
                pause = self._retries.pause(attempt, time.monotonic() - begun)
                if pause is None or not self._repeatable(fault, stage):
                    raise self._translate(name, fault, stage, limits, error) from error
            time.sleep(pause * (0.5 + random.random() / 2))  # noqa: S311
            attempt += 1

    def _once(
        self, mode: Mode, limits: Limits, stage: _Progress, verb: Callable[..., T], args: Any, options: Any
    ) -> T:
        with self.backend.session(mode, limits) as connection:
            stage.sent = stage.alone
            try:
                result = verb(connection, *args, **options)
                if connection.in_transaction():
                    stage.sent = mode in WRITING
                    connection.commit()
            except EngineError:
                raise
            except BaseException as error:
                # A connection left in the middle of something is never used again; nor is one that was lost.
                if not isinstance(error, Exception):
                    connection.invalidate()
                elif self._fault(error) in _GONE:
                    connection.invalidate()
                    self.backend.engine.dispose()  # its neighbours in the pool are as old, and as lost
                raise
            return result

    def _fault(self, error: Exception) -> Fault | None:
        """What a driver's error means; None when it is no driver's error but a defect to be seen as such."""
        if isinstance(error, sqlalchemy.exc.TimeoutError):
            return Fault.CROWDED
        cause = error.orig if isinstance(error, sqlalchemy.exc.DBAPIError) else error
        if cause is None or not isinstance(cause, self.backend.driver_error):
            return None
        return self.backend.classify(cause)

    def _repeatable(self, fault: Fault, stage: _Progress) -> bool:
        if self.closed:
            return False
        return fault in self._retried or (fault is Fault.LOST and not stage.sent)

    def _translate(
        self, name: str, fault: Fault, stage: _Progress, limits: Limits, error: Exception
    ) -> EngineError:
        if self.closed:
            return StoreClosed(name)
        if fault is Fault.LOST and stage.sent:
            return CommitUnknown(name)
        if fault is Fault.CANCELLED and limits.cancel is not None and limits.cancel.is_set():
            return WaitCancelled(name)
        cause = getattr(error, "orig", None) or error
        state = getattr(cause, "sqlstate", None)
        said = (str(cause).strip() or type(cause).__name__).splitlines()[0].partition(" (Background on")[0]
        for secret in self._secrets:
            said = said.replace(secret, "***")
        advice = _ADVICE.get(fault)
        if fault is Fault.READ_ONLY:
            return ReadOnlyStore(name, f"{said}; {advice}", sqlstate=state)
        return StoreFailure(name, f"{said}; {advice}" if advice else said, sqlstate=state)


_opened: weakref.WeakSet[_Life] = weakref.WeakSet()


def _tell_the_child() -> None:
    for life in list(_opened):
        life.forked = True


os.register_at_fork(after_in_child=_tell_the_child)
