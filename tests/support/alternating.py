"""Stores over one file that take turns, one of them in another process (case 126 of checkpoints.md)."""

from __future__ import annotations

import itertools
from multiprocessing.managers import BaseManager
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, cast

from engine import open_store
from engine.clock import ManualClock
from engine.store import Store
from tests.support.harness import Harness
from tests.support.processes import CONTEXT

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from engine.checkpoints import Checkpointer
    from tests.support.storages import Storage

LOCAL_ONLY = frozenset({"cancel"})
"""Options that cannot be sent to another process: calls with them stay in this one."""


class RemoteStore:
    """Lives in the other process: a store on a clock that is set before every call."""

    def __init__(self, url: str, now: datetime) -> None:
        self._clock = ManualClock(now)
        self._store = open_store(url, clock=self._clock)
        self._lock = Lock()

    def call(self, now: datetime, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call the checkpointer's method of that name at the instant `now`."""
        with self._lock:
            self._clock.advance(now - self._clock.now())
        return getattr(self._store.checkpoints, name)(*arguments, **options)

    def close(self) -> None:
        """Close the store."""
        self._store.close()


class _Manager(BaseManager):
    """Runs the calls of each of our threads in a thread of its own, over there."""


_Manager.register("RemoteStore", RemoteStore, exposed=("call", "close"))


class OtherProcess:
    """Opens stores elsewhere, until it is left."""

    def __init__(self) -> None:
        self._manager = _Manager(ctx=CONTEXT)

    def __enter__(self) -> Self:
        self._manager.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._manager.shutdown()

    def open(self, url: str, clock: ManualClock) -> Any:
        """A RemoteStore's proxy."""
        return self._manager.RemoteStore(url, clock.now())  # type: ignore[attr-defined]


class Alternating:
    """A Checkpointer whose calls go here and there by turns."""

    def __init__(self, here: Checkpointer, there: Any, clock: ManualClock) -> None:
        self._here, self._there, self._clock = here, there, clock
        self._turn = itertools.cycle((True, False))

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._here, name)

        def call(*arguments: Any, **options: Any) -> Any:
            if next(self._turn) or LOCAL_ONLY & options.keys() or not _plain(arguments):
                return method(*arguments, **options)
            return self._there.call(self._clock.now(), name, arguments, options)

        return call


def _plain(arguments: tuple[Any, ...]) -> bool:
    """Whether they can be sent: an event to cancel by cannot."""
    return not any(hasattr(argument, "is_set") for argument in arguments)


class TwoStores(Store):
    """A store whose checkpointer alternates; all else is the local one's, found as if it were its own."""

    def __init__(self, here: Store, there: Any, clock: ManualClock) -> None:
        self._here, self._there = here, there
        self.checkpoints = cast("Checkpointer", Alternating(here.checkpoints, there, clock))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._here, name)

    def close(self) -> None:
        """Close both."""
        self._there.close()
        self._here.close()


class AlternatingHarness(Harness):
    """Every store that is opened without options of its own is two."""

    def __init__(self, storage: Storage, home: Path, other: OtherProcess) -> None:
        self._other = other
        super().__init__(storage, home)

    def open(self, url: str | None = None, **options: Any) -> Store:
        """See `Harness`; with options, a single local store."""
        if options:
            return super().open(url, **options)
        where = self.url if url is None else url
        here = super().open(where)
        both = TwoStores(here, self._other.open(where, self.clock), self.clock)
        self._opened.append(both)
        return both
