"""`python -m console.web.served`: the console of one browser tab, started by the server (never by hand).

It is read-only whatever anybody asks for, and ends when the server is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from console.config import Asked, ConfigError
from console.starting import open_console, opener_of
from console.stores import NoStoreError
from console.targets import target_of
from console.web.wish import SERVER_VARIABLE, WISH_VARIABLE, Wish

if TYPE_CHECKING:
    from console.session import Session

LOOK_SECONDS: Final = 1.0
GRACE_SECONDS: Final = 3.0
FAILED: Final = 1


def session_of(wish: Wish) -> Session:
    """A session that no read-write window can be opened in; raises ConfigError and NoStoreError."""
    file = None if wish.config is None else Path(wish.config)
    opener = opener_of(file, Asked(wish.refresh, wish.tenant, read_only=True))
    return opener.session(target_of(wish.store, opener.config), wish.cap)


def main() -> int:
    """Show the console; its exit code."""
    # What the operator's own commands start has no need of either.
    wish = Wish.of(os.environ.pop(WISH_VARIABLE))
    server = int(os.environ.pop(SERVER_VARIABLE))
    threading.Thread(target=_leave_with, args=(server,), daemon=True, name="server").start()
    try:
        session = session_of(wish)
    except (ConfigError, NoStoreError) as error:
        print(f"holdwatch: {error}", file=sys.stderr)  # noqa: T201 - the server shows it to the operator
        return FAILED
    return open_console(session)


def _leave_with(server: int) -> None:
    while os.getppid() == server:
        time.sleep(LOOK_SECONDS)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # nobody reads them any more, and a broken pipe would be an error of its own
        os.dup2(nowhere, stream)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(FAILED)


def _leave(code: int) -> NoReturn:
    """End at once: nobody is left to look, and no thread may keep the process of a tab that is closed."""
    with contextlib.suppress(OSError):  # the server may be gone before it
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _leave(main())
