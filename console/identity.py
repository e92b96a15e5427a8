"""Which store the live connection has reached, and whether it is the one that a context's name stands for.

A name in a file proves nothing: an address may lead elsewhere tomorrow. The header says a context's environment
only when the server and the database behind the connection are those it was seen with (console.md 3.1, rows 12
and 15).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from console.stores import SQLITE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from console.config import Context


@dataclass(frozen=True, slots=True)
class Identity:
    """What the other end says of itself.

    `server` is an id that stays with the data, `role` decides what is allowed, `login` is who asked: they differ
    where a role was put on, and are empty for a file. `version` is the server's, `standby` whether it follows
    another.
    """

    server: str
    database: str
    role: str
    login: str
    version: str
    standby: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """What makes two connections the same store."""
        return self.server, self.database


@dataclass(frozen=True, slots=True)
class Seen:
    """A context as it was when last connected to: the store's identity then, and the time of this machine."""

    server: str
    database: str
    role: str
    at: datetime

    @property
    def place(self) -> tuple[str, str]:
        """What makes two connections the same store."""
        return self.server, self.database


class Trust(StrEnum):
    """What can be said of a context's name while a connection stands."""

    UNKNOWN = "not connected yet"
    CONFIRMED = "confirmed"
    OTHER = "another store"


@dataclass(frozen=True, slots=True)
class Standing:
    """Whose environment and colour the header may show: `context`, where `trust` is CONFIRMED.

    Where the store is another one, `context` is the one it is known as, or None.
    """

    trust: Trust = Trust.UNKNOWN
    context: Context | None = None


def standing_of(
    identity: Identity, opened: Context | None, contexts: Mapping[str, Context], seen: Mapping[str, Seen]
) -> Standing:
    """How an opened store stands to the contexts: `seen` is what each was connected to when last seen."""
    known = [
        context for name, context in contexts.items() if name in seen and seen[name].place == identity.place
    ]
    if opened is None:
        return Standing(Trust.CONFIRMED, known[0] if known else None)
    if opened.name in {context.name for context in known}:
        return Standing(Trust.CONFIRMED, opened)
    others = [each for each in known if not _same_address(each.url.value, opened.url.value)]
    stranger = next((each for each in others if each.environment.value != opened.environment.value), None)
    if opened.name in seen or stranger is not None:
        return Standing(Trust.OTHER, stranger or (known[0] if known else None))
    return Standing(Trust.CONFIRMED, opened)


def _same_address(one: str, other: str) -> bool:
    """Whether two contexts were given one store on purpose: the same URL, or the same file however it is written."""
    files = [url.removeprefix(SQLITE) for url in (one, other) if url.startswith(SQLITE) or "://" not in url]
    if len(files) == 2:
        return Path(files[0]).absolute() == Path(files[1]).absolute()
    return one == other
