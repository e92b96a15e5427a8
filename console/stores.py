"""Which store a word on the command line means, and how to name it without its password (api.md, ruling 62).

No driver and no SQLAlchemy here: this runs before the first frame.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote_plus, urlsplit

from console.model import StoreLabel

STORE_VARIABLE: Final = "HOLDWATCH_STORE"
"""The environment's word for the store, where the command line has none."""
SQLITE: Final = "sqlite:///"
POSTGRES: Final = ("postgresql://", "postgres://", "postgresql+psycopg://")
MEMORY: Final = "memory:"
_MAGIC: Final = b"SQLite format 3\0"
"""What every database file begins with; an empty one is a database without tables."""
_SECRETS: Final = frozenset({"password", "sslpassword"})
_UNKNOWN: Final = StoreLabel("postgresql", "postgresql", "postgresql://...")
"""Of what cannot be taken apart, which may hide a password anywhere."""
_PASSWORD: Final = re.compile(r"^([\w+]+://[^:/@?]*):[^@]*@")
"""As the engine reads it: up to the first @, whatever stands before that."""


class NoStoreError(ValueError):
    """A word that names no store that could be looked at; the message says what would."""


def url_of(word: str) -> str:
    """The URL of an existing store: a URL as it stands, or a path of a file.

    A missing file is never created.
    """
    if word.startswith(POSTGRES):
        return word
    check_shared(word)
    if "://" in word and not word.startswith(SQLITE):
        raise NoStoreError(
            f"{word.partition('://')[0]}:// is no store; use sqlite:///path or postgresql://..."
        )
    path = Path(word.removeprefix(SQLITE))
    if not _is_file(path):
        raise NoStoreError(_missing(path))
    _check_database(path)
    return f"{SQLITE}{path}"


def _check_database(path: Path) -> None:
    """NoStoreError for a file of another kind: asking it again and again would never be answered."""
    with (
        suppress(OSError),
        path.open("rb") as file,
    ):  # what may not be read is said by who opens it as a store
        begin = file.read(len(_MAGIC))
        if begin not in {b"", _MAGIC}:
            raise NoStoreError(f"{str(path)!r} is no SQLite database; name the file of a store")


def new_url_of(word: str) -> str:
    """The URL of a store that may not exist yet: a URL as it stands, or a path."""
    if word == MEMORY or "://" in word:
        return word
    return f"{SQLITE}{word}"


def _missing(path: Path) -> str:
    if path.is_dir():
        return f"{str(path)!r} is a folder; name the file of a store in it"
    return f"there is no store at {str(path)!r}; holdwatch migrate {SQLITE}{path} creates one there"


def check_shared(url: str) -> None:
    """NoStoreError for a store that no other process can see."""
    if url == MEMORY:
        raise NoStoreError("memory: lives inside one process and cannot be looked at; name a file or server")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a name too long, a folder that may not be entered
        raise NoStoreError(f"{str(path)[:200]!r}: {error.strerror}; name a file that can be read") from error


def file_of(url: str) -> Path | None:
    """The file of an SQLite store; None for a server."""
    return Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None


def label_of(url: str) -> StoreLabel:
    """How the header names a store; no password in it, wherever it stood."""
    path = file_of(url)
    if path is not None:
        return StoreLabel("sqlite", path.name, url)
    try:
        parts = urlsplit(_PASSWORD.sub(r"\1@", url))
        host, port, user = parts.hostname or "", parts.port, parts.username
    except ValueError:
        return _UNKNOWN
    if parts.netloc.count("@") > 1:
        return _UNKNOWN
    place = f"{f'{user}@' if user else ''}{host}{f':{port}' if port else ''}"
    options = "&".join(_hidden(option) for option in parts.query.split("&")) if parts.query else ""
    address = f"postgresql://{place}{parts.path}{f'?{options}' if options else ''}"
    return StoreLabel(
        "postgresql", f"{parts.path.lstrip('/') or 'postgres'}{f'@{host}' if host else ''}", address
    )


def has_password(url: str) -> bool:
    """Whether a server's URL holds a password, or may hold one where it cannot be taken apart."""
    if not url.startswith(POSTGRES):
        return False
    address, _, query = url.partition("?")
    written = _PASSWORD.match(address) is not None or address.count("@") > 1 or label_of(url) is _UNKNOWN
    return written or any(_is_secret(option) for option in query.split("&"))


def _is_secret(option: str) -> bool:
    """As a driver reads it: an option's name may be written with percent signs."""
    return unquote_plus(option.partition("=")[0]) in _SECRETS


def _hidden(option: str) -> str:
    return f"{option.partition('=')[0]}=***" if _is_secret(option) else option
