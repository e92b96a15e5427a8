"""The changing calls, on a store of their own that is opened for as long as changes are on, and for as long as a job
that was begun meanwhile goes on (ruling 57).
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from console.acting.model import Outcome
from console.gateway.store import WritableStore
from console.model import GatewayError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from console.acting.model import Order, Person
    from engine import desk
    from engine.clock import Clock
    from engine.desk.actor import Actor, Mandate
    from engine.desk.audit.model import Told
    from engine.desk.operations import KnownOutcome


_LEFT_ALONE: Final = frozenset({"overtaken", "gone"})
"""What a resolution came to that changed nothing."""


class ActingBase:
    """The store and who acts on it; what changes there are is added by the classes beside this one."""

    def __init__(
        self, url: str, person: Person, clock: Clock | None = None, secret: Callable[[], str] | None = None
    ) -> None:
        self._url, self._clock, self._secret = url, clock, secret
        self._person = person
        self._role: str | None = None
        self._store: WritableStore | None = None
        self._opening: Order | None = None
        self._on = False
        self._at_work = 0
        self._lock = threading.Lock()

    def open(self, order: Order) -> Mapping[str, tuple[str, ...]]:
        """Connect for writing and record why; what the role may not do, by deed, with the rights that it lacks."""
        from engine.desk.audit.model import Deed, ObjectKind, Told

        with self._lock:
            if self._store is None:
                self._store = WritableStore(self._url, self._clock, self._secret)
            self._on = True
        with self.door() as door:
            identity = door.identity()
            self._role = identity.role or None
            lacking = door.missing_rights()
            door.record(self.mandate(order), Told(Deed.WINDOW, ObjectKind.STORE, identity.database))
        self._opening = order
        return {deed.value: rights for deed, rights in lacking.items()}

    def close(self, why: str) -> None:
        """Record the end and give the connection back: at once, or when the job that is being run here has ended."""
        from engine.desk.audit.model import Deed, ObjectKind, Told

        with self._lock:
            store, opening, self._opening, self._on = self._store, self._opening, None, False
        try:
            if store is not None and opening is not None:
                with store.desk() as door:
                    told = Told(Deed.WINDOW, ObjectKind.STORE, door.identity().database, {"ended": why})
                    door.recorded(self.mandate(opening), told)
        finally:
            self._give_back()

    def _give_back(self) -> None:
        """Close the store once nobody needs it."""
        with self._lock:
            if self._on or self._at_work:
                return
            store, self._store = self._store, None
        if store is not None:
            store.close()

    def record(self, order: Order, facts: Mapping[str, Any]) -> None:
        """Write down that something is about to be done outside the store, such as a command of the operator's own;
        the connection stays until `recorded`, however long that takes.
        """
        with self._lock:
            store = self._opened()
            self._at_work += 1
        try:
            with store.desk() as door:
                door.record(self.mandate(order), self._outside(door, facts))
        except BaseException:
            self._leave()
            raise

    def recorded(self, order: Order, facts: Mapping[str, Any]) -> None:
        """Write down how it ended."""
        try:
            with self._working().desk() as door:
                door.recorded(self.mandate(order), self._outside(door, facts))
        finally:
            self._leave()

    def _outside(self, door: desk.Desk, facts: Mapping[str, Any]) -> Told:
        from engine.desk.audit.model import Deed, ObjectKind, Told

        return Told(Deed.CUSTOM, ObjectKind.STORE, door.identity().database, facts)

    def _working(self) -> WritableStore:
        if self._store is None:
            raise GatewayError("nothing was begun", code="read_only", retryable=False)
        return self._store

    def _leave(self) -> None:
        with self._lock:
            self._at_work -= 1
        self._give_back()

    def door(self) -> AbstractContextManager[desk.Desk]:
        """The desk of the store that may be written; GatewayError while changes are off."""
        return self._opened().desk()

    @contextmanager
    def beside(self) -> Iterator[desk.Desk]:
        """The same desk for who works long in small steps: the operator's own changes go on between them.

        It must be begun while changes are on, and outlives them.
        """
        with self._lock:
            store = self._opened()
            self._at_work += 1
        try:
            with store.listening() as door:
                yield door
        finally:
            self._leave()

    def _opened(self) -> WritableStore:
        store = self._store
        if store is None or not self._on:
            raise GatewayError("changes are off: W turns them on", code="read_only", retryable=False)
        return store

    def actor(self) -> Actor:
        """The person who sits here, as the engine names him."""
        from engine.desk.actor import Actor

        return Actor(self._person.user, self._person.host, self._person.tool, self._role)

    def mandate(self, order: Order) -> Mandate:
        """The order as the engine takes it, on that person's word."""
        from console.acting.equivalent import kept
        from engine.desk.actor import Mandate, Route

        route = Route(order.route.value)
        return Mandate(self.actor(), order.reason, route, kept(order.command), order.operation)

    @property
    def owner(self) -> str:
        """Who is told to hold the lease of a job that is run from here."""
        return f"{self._person.name}/{os.getpid()}"


def outcome_of(found: KnownOutcome) -> Outcome:
    """An operation's stored outcome as a line for the operator."""
    told = ", ".join(f"{key} {value}" for key, value in _flat(found.result))
    applied = "refused" not in found.result and found.result.get("status") not in _LEFT_ALONE
    return Outcome(
        found.operation_id, f"{found.kind} {found.object_id}", found.actor, found.at, told, applied
    )


def _flat(result: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    return ((key, value) for key, value in result.items() if not isinstance(value, dict | list))
