"""What `holdwatch doctor` finds out: versions, whether the store answers, and what it says of itself."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from console import VERSION, stores, targets
from console.gateway.store import OpenedStore
from console.model import GatewayError

if TYPE_CHECKING:
    from datetime import datetime, timedelta

LIBRARIES: Final = ("sqlalchemy", "psycopg", "alembic", "textual")


@dataclass(frozen=True, slots=True)
class Finding:
    """One subject, how it is (`ok`, `warning`, `failure`), and what there is to say."""

    subject: str
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Examination:
    """All findings on a store. Skew and time are those of a store that answered, else None."""

    store: str
    findings: tuple[Finding, ...]
    skew: timedelta | None = None
    within: timedelta | None = None
    as_of: datetime | None = None


def examine(word: str) -> Examination:
    """Look at the store that a word means; never raises for a store that cannot be looked at."""
    programs = Finding("program", "ok", _versions())
    try:
        url = targets.url_of(word)
    except stores.NoStoreError as error:
        return Examination(_address(word), (programs, Finding("reachable", "failure", str(error))))
    store = OpenedStore(url)
    try:
        with store.desk() as door:
            health = door.health()
    except GatewayError as error:
        return Examination(_address(url), (programs, *_refused(error)))
    finally:
        store.close()
    found = (Finding(each.subject, each.level.value, each.text) for each in health.findings)
    findings = (programs, Finding("reachable", "ok", "it answers"), *found)
    return Examination(_address(url), findings, health.skew, health.within, health.as_of)


def _refused(error: GatewayError) -> tuple[Finding, ...]:
    if error.code == "schema_mismatch":
        answered = Finding("reachable", "ok", "it answers")
        return answered, Finding("schema", "failure", error.message)
    return (Finding("reachable", "failure", error.message),)


def _address(word: str) -> str:
    """The store without its password; of a URL of another kind, which may hide one anywhere, the kind alone."""
    if word.startswith((*stores.POSTGRES, stores.SQLITE)):
        return stores.label_of(word).address
    kind, found, _ = word.partition("://")
    return f"{kind}://..." if found else word


def _versions() -> str:
    found = (f"{name} {_version(name)}" for name in LIBRARIES)
    return ", ".join((f"holdwatch {VERSION}", f"Python {platform.python_version()}", *found))


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "missing"
