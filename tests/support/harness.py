"""One test's store and what it may do to it: open it again, open it twice, move its time, look under it."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from engine import open_store
from engine.checkpoints import MeteredCheckpointer
from engine.clock import ManualClock
from tests.support.builders import STEP, T0, TTL
from tests.support.shift import shift_back

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta
    from pathlib import Path

    from sqlalchemy import Connection

    from engine.checkpoints import Checkpointer, RunClaim
    from engine.store import Store
    from tests.support.storages import Storage

MARGIN = TTL / 3
"""How far a test on a server's clock keeps from a lease's end, so that its own duration decides nothing."""


class Harness:
    """A storage of the test's own, thrown away by `close`.

    `kind` is "sqlite" or "postgresql"; `clock` is injected into every store it opens, and stands at T0.
    """

    exact_expiry = True
    """False when the store reads a clock the test cannot hold still: expiries are then only compared."""

    def __init__(self, storage: Storage, home: Path) -> None:
        self.kind = storage.kind
        self.clock = ManualClock(T0)
        self._storage = storage
        self._home = home
        self._urls: list[str] = []
        self._opened: list[Store] = []
        self._store: Store | None = None
        self.url = self._keep(storage.migrated(home))

    @property
    def store(self) -> Store:
        """The test's first store, opened at the first use."""
        if self._store is None:
            self._store = self.open()
        return self._store

    @property
    def checkpoints(self) -> Checkpointer:
        """The first store's checkpointer."""
        return self.store.checkpoints

    def open(self, url: str | None = None, **options: Any) -> Store:
        """A store on this storage, or on `url`; closed with the harness."""
        store = open_store(self.url if url is None else url, **(self._defaults() | options))
        self._opened.append(store)
        self._equip(store)
        return store

    def reopen(self) -> Store:
        """Close the first store and open the same storage again in its place."""
        self.store.close()
        self._store = None
        return self.store

    def sibling(self) -> Store:
        """A second store over the same storage."""
        return self.open()

    def now(self) -> datetime:
        """What the store's clock says."""
        return self.clock.now()

    def advance(self, by: timedelta) -> None:
        """Let `by` pass on the store's clock."""
        self.clock.advance(by)

    def advance_to_just_before(self, span: timedelta) -> None:
        """Let nearly `span` pass: all but one step where time can be held still, else all but a margin."""
        self.advance(span - (STEP if self.exact_expiry else MARGIN))

    def check_expiry(self, claim: RunClaim, *, after: timedelta, later_than: RunClaim | None = None) -> None:
        """The claim ends `after` T0; on a clock that moves by itself just in the future, after another."""
        if self.exact_expiry:
            assert claim.expires_at == T0 + after
            return
        assert claim.expires_at > datetime.now(UTC)
        assert later_than is None or claim.expires_at > later_than.expires_at

    def fresh_url(self) -> str:
        """Another storage of this kind, without a schema."""
        return self._keep(self._storage.empty(self._home))

    @contextmanager
    def raw(self, url: str | None = None) -> Iterator[Connection]:
        """A transaction on a connection of the test's own, committed at the end."""
        engine = self._storage.engine(self.url if url is None else url)
        try:
            with engine.begin() as connection:
                yield connection
        finally:
            engine.dispose()

    def close(self) -> None:
        """Close every store, then throw the storages away."""
        for store in self._opened:
            store.close()
        for url in self._urls:
            self._storage.drop(url)

    def _defaults(self) -> dict[str, Any]:
        return {"clock": self.clock}

    def _equip(self, store: Store) -> None:
        """Whatever a kind of harness does to each store it opens."""

    def _keep(self, url: str) -> str:
        self._urls.append(url)
        return url


class MeteredHarness(Harness):
    """Stores whose threads are reached through a metered wrapper (case 134 of checkpoints-operations.md)."""

    def _equip(self, store: Store) -> None:
        # A store's checkpointer is made once and then kept as an attribute: this one takes its place.
        vars(store)["checkpoints"] = MeteredCheckpointer(store.checkpoints, CollectorRegistry())


class ServerClockHarness(Harness):
    """Stores that read the server's clock; time passes through the shift hook (ruling 5)."""

    exact_expiry = False

    def now(self) -> datetime:
        """See `Harness`; the server runs on this machine."""
        return datetime.now(UTC)

    def advance(self, by: timedelta) -> None:
        """Move everything stored `by` into the past."""
        with self.raw() as connection:
            shift_back(connection, by)

    def _defaults(self) -> dict[str, Any]:
        return {}
