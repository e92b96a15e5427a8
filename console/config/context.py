"""`[contexts.NAME]`: a store by name, what it is called on the screen, and how its password is had.

A password never stands in the file: libpq takes it from PGPASSFILE or PGPASSWORD, or a command prints it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from console import stores
from console.config.source import DEFAULT, Layer, Valued

if TYPE_CHECKING:
    from console.config.table import Table

LEAST_REFRESH: Final = 0.5
MOST_REFRESH: Final = 60.0
"""Seconds between two queries of a view."""
LABEL_CELLS: Final = 32
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
ENVIRONMENT: Final = re.compile(r"[A-Z][A-Z0-9_-]{0,15}")
"""Letters that every keyboard types: the word is part of the phrase that confirms a change."""
_PLAIN_PASSWORD: Final = ("password", "passwd", "pgpassword")
_NO_PASSWORD: Final = (
    "a password does not belong in this file; use password_command, PGPASSFILE or PGPASSWORD"  # noqa: S105
)


class Colour(StrEnum):
    """What a context's tag may be coloured; the word on it says the same (console.md F12)."""

    RED = "red"
    AMBER = "amber"
    GREEN = "green"
    CYAN = "cyan"
    BLUE = "blue"
    VIOLET = "violet"
    GREY = "grey"


@dataclass(frozen=True, slots=True)
class Context:
    """One store. `url` holds no password; `environment` is the word of the phrases that confirm changes.

    The command is in no repr: its words may be secret, and a crash prints reprs.
    """

    name: str
    url: Valued[str]
    label: Valued[str]
    environment: Valued[str]
    colour: Valued[Colour]
    tenant: Valued[str] | None = None
    refresh: Valued[float] | None = None
    read_only: Valued[bool] | None = None
    password_command: Valued[tuple[str, ...]] | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """The store's address as it may be shown."""
        return stores.label_of(self.url.value).address


def contexts_of(root: Table) -> dict[str, Context]:
    """All contexts by name; raises ConfigError."""
    return {name: _context(name, table) for name, table in root.tables("contexts", Layer.CONTEXT)}


def _context(name: str, table: Table) -> Context:
    if not NAME.fullmatch(name):
        raise table.named_error(
            "is no name; use letters, digits, - and _, at most 32: no path and no address looks like that"
        )
    for key in _PLAIN_PASSWORD:
        if key in table.values:
            raise table.error(key, _NO_PASSWORD)
    url = _url(table)
    context = Context(
        name=name,
        url=url,
        label=_label(name, table),
        environment=_environment(name, table),
        colour=table.word("colour", Colour, "colour") or Valued(Colour.GREY, DEFAULT),
        tenant=table.text("tenant"),
        refresh=table.number("refresh", LEAST_REFRESH, MOST_REFRESH, "seconds"),
        read_only=table.truth("read_only"),
        password_command=_password_command(table, url.value),
    )
    table.done()
    return context


def _label(name: str, table: Table) -> Valued[str]:
    label = table.text("label") or Valued(name, DEFAULT)
    if len(label.value) > LABEL_CELLS or not label.value.isprintable():
        raise table.error("label", f"must be at most {LABEL_CELLS} printable characters")
    return label


def _environment(name: str, table: Table) -> Valued[str]:
    word = table.text("environment") or Valued(_shouted(name), DEFAULT)
    if not ENVIRONMENT.fullmatch(word.value):
        raise table.error(
            "environment", "must be a word to type: capitals, digits, - and _, at most 16, such as PROD"
        )
    return word


def _shouted(name: str) -> str:
    word = name.upper()[:16]
    return word if word[0].isalpha() else f"C{word}"[:16]


def _url(table: Table) -> Valued[str]:
    url = table.text("url")
    allowed = "sqlite:////absolute/path or postgresql://user@host/database"
    table.needed("url", url, allowed)
    assert url is not None
    if stores.has_password(url.value):
        raise table.error("url", _NO_PASSWORD)
    if url.value.startswith(stores.POSTGRES):
        return url
    if not url.value.startswith(stores.SQLITE):
        raise table.error("url", f"must be {allowed}")
    path = Path(url.value.removeprefix(stores.SQLITE)).expanduser()
    if not path.is_absolute():
        raise table.error(
            "url", "must name the file by its absolute path, as in sqlite:////var/lib/agents.db"
        )
    return Valued(f"{stores.SQLITE}{path}", url.source)


def _password_command(table: Table, url: str) -> Valued[tuple[str, ...]] | None:
    command = table.texts("password_command", 'a list of words, such as ["pass", "show", "ledger"]')
    if command is not None and not url.startswith(stores.POSTGRES):
        raise table.error("password_command", "is for postgresql://; a file has no password")
    return command
