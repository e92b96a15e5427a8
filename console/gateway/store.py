"""The store behind the gateway: opened when first asked, read-only, and again after its file changed."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from console import VERSION, stores
from console.gateway import faults
from console.gateway.running import Running
from console.model import GatewayError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine import Store, desk
    from engine.clock import Clock

CONNECTIONS: Final = 1
"""Of each store: a console reads on one, may listen on one, and writes on one while `W` is open (ruling 57)."""
STATEMENT_TIMEOUT: Final = timedelta(seconds=1)
WRITE_TIMEOUT: Final = timedelta(seconds=15)
"""For a change's statements, which may wait for a worker's lock and remove many rows."""
APPLICATION_NAME: Final = f"holdwatch/{VERSION}"


REFUSED_LOGIN: Final = frozenset({"28000", "28P01"})
"""What PostgreSQL says of a password that is wrong, or has lapsed since."""


class OpenedStore:
    """One store, through a door that turns the engine's errors into `GatewayError`.

    `secret` gives the URL with its password, asked for each time the store is opened; it may block and raise
    GatewayError.
    """

    _READ_ONLY: ClassVar[bool] = True
    _TIMEOUT: ClassVar[timedelta] = STATEMENT_TIMEOUT

    def __init__(self, url: str, clock: Clock | None = None, secret: Callable[[], str] | None = None) -> None:
        self._url = url
        self._secret = secret
        self._clock = clock
        self._file = stores.file_of(url)
        self._identity: tuple[int, int] | None = None
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._closing = threading.Event()
        self._reading = threading.RLock()
        self._running = Running()

    @property
    def closing(self) -> bool:
        """Whether it was closed for good."""
        return self._closing.is_set()

    @contextmanager
    def listening(self) -> Iterator[desk.Desk]:
        """What an operator may ask, for who asks nothing and only waits for hints."""
        from engine.errors import EngineError

        try:
            yield self._opened().desk
        except EngineError as error:
            if getattr(error, "sqlstate", None) in REFUSED_LOGIN:
                self._drop()  # the next call asks for the password anew
            raise faults.told(error, self._locks) from error

    def _locks(self) -> tuple[desk.TableLock, ...]:
        return self._opened().desk.table_locks()

    @contextmanager
    def desk(self) -> Iterator[desk.Desk]:
        """The same door for one call or a few that belong together; one caller at a time."""
        with self._running.one(), self._reading, self.listening() as door:
            yield door

    def interrupt(self) -> None:
        """End the calls that run now, in the database as well; they fail with the code `faults.STOPPED`."""
        self._running.end()

    def close(self) -> None:
        """End running calls and give the connections back."""
        self._closing.set()
        self._drop()

    def _opened(self) -> Store:
        import engine

        with self._opening:
            if self._file is not None:
                self._check_file(self._file)
            if self._store is None:
                self._store = engine.open_store(
                    self._url if self._secret is None else self._secret(),
                    clock=self._clock,
                    ensure_schema=False,
                    read_only=self._READ_ONLY,
                    pool_size=CONNECTIONS,
                    statement_timeout=self._TIMEOUT,
                    application_name=APPLICATION_NAME,
                    wakeups=False,
                    cancel=self._closing,
                )
            return self._store

    def _check_file(self, file: Path) -> None:
        """An open SQLite file that was removed or replaced still answers, with what nobody else sees
        any more.
        """
        try:
            status = file.stat()
        except OSError as error:
            self._drop()
            raise GatewayError(
                f"{file} cannot be reached: {error.strerror}; the console goes on when it is back",
                code="file_gone",
                retryable=True,
            ) from error
        identity = (status.st_dev, status.st_ino)
        if self._identity != identity:
            self._drop()
        self._identity = identity

    def _drop(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()


class WritableStore(OpenedStore):
    """The store that changes go to: made by `W` or by a script, and by nobody else."""

    _READ_ONLY = False
    _TIMEOUT = WRITE_TIMEOUT


def migrate(url: str) -> None:
    """Create or upgrade a store's tables; raises GatewayError."""
    import engine
    from engine.errors import EngineError

    try:
        engine.open_store(url, pool_size=1, application_name=APPLICATION_NAME, wakeups=False).close()
    except EngineError as error:
        raise GatewayError(error.explain(), code=error.code, retryable=error.retryable) from error
