"""A throw-away PostgreSQL for tests and the demo: no installation, no port, nothing left behind (ruling 63).

`start()` makes a fresh cluster in a private folder and serves it on a unix socket in there. A small shell
stands between the program and the server and waits for the end of a pipe that only the program holds:
whichever way the program ends, SIGKILL included, the server stops and the folder goes. As root the server
runs as `nobody`.

Unix only; importing this loads no driver. `python -m engine.localpg` starts a server, prints its URL and
waits until interrupted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast
from urllib.parse import quote

from engine.localpg_programs import (
    Account,
    PostgresFailed,
    PostgresNotFound,
    account,
    environment,
    find_binaries,
    runnable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import LiteralString, NoReturn, Self

__all__ = ["PostgresFailed", "PostgresNotFound", "Server", "find_binaries", "start"]

SHORT_BASE = Path("/tmp")  # noqa: S108 - the folder made in it is private and its name cannot be guessed
PORT = 5432  # a part of the socket's name; always given, because PGPORT would move the client's default
SOCKET_PATH_BYTES = 103  # what macOS takes; Linux takes 107
START_SECONDS = 60.0
STOP_SECONDS = 30.0
POLL_SECONDS = 0.01
LOG_BYTES = 4096
STATUS_LINE = 7  # of postmaster.pid, counted from zero; it says "ready" once connections are accepted

BASICS = {"listen_addresses": "", "max_connections": "200", "port": str(PORT), "shared_buffers": "64MB"}
RELAXED = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}

# Arguments: the programs' folder, the private folder, the server's options; standard input is the pipe.
# A job in the background ignores SIGQUIT until the server has set its own handler, hence the repetition.
SUPERVISOR = """
programs=$1 folder=$2; shift 2
exec 3<&0 </dev/null
trap '' HUP INT TERM
"$programs/initdb" -D "$folder/data" --username=postgres --auth=trust --encoding=UTF8 --no-locale --no-sync
status=$?
if [ $status -eq 0 ]; then
    "$programs/postgres" -D "$folder/data" "$@" 3<&- &
    server=$!
    (
        read -r _ <&3
        for _ in 1 2 3 4 5; do kill -QUIT $server; sleep 1; done
        kill -KILL $server
    ) >/dev/null 2>&1 &
    watcher=$!
    wait $server
    status=$?
    kill -KILL $watcher
fi
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
exit $status
"""


class Server:
    """A running server. End it with `stop()` or a `with` block; a forked child cannot stop its parent's."""

    def __init__(self, folder: Path, version: str, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
        self.folder = folder
        self.version = version
        self._process = process
        # Closing this pipe, which dying does as well, stops the server.
        self._lifeline = cast("IO[bytes]", process.stdin)
        self._log = log
        _running.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def url(self, database: str = "postgres") -> str:
        """The libpq URL of a database that may not exist yet; the user is `postgres`, without a password."""
        host = quote(str(self.folder), safe="/")
        return f"postgresql://postgres@/{quote(database, safe='')}?host={host}&port={PORT}"

    def create(self, database: str, template: str | None = None) -> str:
        """Create a database, empty or a copy of `template`, which nobody may be using; answers its URL."""
        if template is None:
            self._administer("CREATE DATABASE {}", database)
        else:
            self._administer("CREATE DATABASE {} TEMPLATE {}", database, template)
        return self.url(database)

    def drop(self, database: str) -> None:
        """Drop a database, throwing out whoever is connected; one that does not exist is passed over."""
        self._administer("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)

    def log(self) -> str:
        """The last few kilobytes of what initdb and the server said; empty once stopped."""
        return "" if self._log.closed else _tail(self._log)

    def wait(self) -> NoReturn:
        """Wait as long as the server runs; raises PostgresFailed when it ends."""
        status = self._process.wait()
        raise PostgresFailed(f"the server ended (status {status}); its log may say why:\n{self.log()}")

    def stop(self) -> None:
        """Stop the server at once and remove its folder; a second call does nothing."""
        if self._lifeline.closed:
            return
        self._lifeline.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            message = f"the server did not stop in {STOP_SECONDS:.0f} s; end process {self._process.pid}"
            raise PostgresFailed(message) from None
        finally:
            self._log.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _await_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                message = f"PostgreSQL {self.version} did not start; its log says why:"
                raise PostgresFailed(f"{message}\n{self.log()}")
            if _is_ready(self.folder / "data" / "postmaster.pid"):
                return
            time.sleep(POLL_SECONDS)
        message = f"the server was not ready in {START_SECONDS:.0f} s; its log may say why:"
        raise PostgresFailed(f"{message}\n{self.log()}")

    def _administer(self, statement: LiteralString, *names: str) -> None:
        import psycopg
        from psycopg import sql

        composed = sql.SQL(statement).format(*map(sql.Identifier, names))
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(composed)


_running: weakref.WeakSet[Server] = weakref.WeakSet()


def _let_go_of_parents_servers() -> None:
    """In a forked child: a pipe kept open here would keep the server alive after its program was killed."""
    for server in list(_running):
        server._lifeline.close()  # noqa: SLF001 - of this module


os.register_at_fork(after_in_child=_let_go_of_parents_servers)


def start(settings: Mapping[str, str] | None = None) -> Server:
    """Start a fresh server and return once it accepts connections; `settings` go over its configuration.

    By default nothing waits for the disk. Whoever names `fsync` takes charge of durability: then
    synchronous_commit and full_page_writes are PostgreSQL's own, so `{"fsync": "on"}` is a durable server.
    Raises PostgresNotFound or PostgresFailed.
    """
    runner = account()
    found = find_binaries()
    folder = _private_folder(runner)
    try:
        binaries, version = runnable(found, folder, runner)
        process, log = _launch(binaries, folder, runner, _configuration(settings or {}, folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    server = Server(folder, version, process, log)
    try:
        server._await_ready()  # noqa: SLF001 - of this module
    except BaseException:
        server.stop()
        raise
    return server


def _private_folder(runner: Account) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="hw-", dir=_base(runner)))
    runner.own(folder)
    return folder


def _base(runner: Account) -> Path:
    """The temporary folder, unless too long a name for a socket or closed to the server's account."""
    base = Path(tempfile.gettempdir()).resolve()
    socket = base / "hw-12345678" / f".s.PGSQL.{PORT}"
    fits = len(os.fsencode(socket)) <= SOCKET_PATH_BYTES
    return base if fits and (runner.uid is None or _is_open(base)) else SHORT_BASE


def _is_open(base: Path) -> bool:
    return base.stat().st_mode & 0o003 == 0o003 and all(path.stat().st_mode & 0o001 for path in base.parents)


def _configuration(settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    relaxed = {} if "fsync" in settings else RELAXED
    return {**BASICS, **relaxed, **settings, "unix_socket_directories": str(folder)}


def _launch(
    binaries: Path, folder: Path, runner: Account, configuration: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """The supervisor and its log; its session is its own, so that Ctrl-C at the terminal passes it by."""
    options = [word for name, value in configuration.items() for word in ("-c", f"{name}={value}")]
    log = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - the caller closes it
    process = subprocess.Popen(  # noqa: S603 - the script is the constant above, all else are its arguments
        ["/bin/sh", "-c", SUPERVISOR, "holdwatch-localpg", binaries, folder, *options],
        cwd="/",
        env=environment(),
        extra_groups=runner.groups,
        group=runner.gid,
        start_new_session=True,
        stderr=log,
        stdin=subprocess.PIPE,
        stdout=log,
        user=runner.uid,
    )
    return process, log


def _is_ready(pidfile: Path) -> bool:
    try:
        lines = pidfile.read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > STATUS_LINE and lines[STATUS_LINE].strip() == "ready"


def _tail(log: IO[bytes]) -> str:
    size = os.fstat(log.fileno()).st_size
    return os.pread(log.fileno(), LOG_BYTES, max(0, size - LOG_BYTES)).decode(errors="replace")


def main() -> None:
    """Start a server, print its URL and keep it until interrupted."""
    # Ctrl-C is how this is meant to end.
    with suppress(KeyboardInterrupt), start() as server:
        sys.stdout.write(f"{server.url()}\n")
        sys.stdout.flush()
        server.wait()


if __name__ == "__main__":
    main()
