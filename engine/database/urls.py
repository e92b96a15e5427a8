"""Store URLs: which back end, and how to name the store without its password (api.md, ruling 10)."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, quote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from engine.arguments import of_kind
from engine.errors import ValidationError

SQLITE: Final = "sqlite:///"
MEMORY: Final = "memory:"
POSTGRES: Final = ("postgresql://", "postgres://", "postgresql+psycopg://")
_HIDDEN = "***"
_SECRET_OPTIONS = ("password", "sslpassword")


def check_url(url: str) -> None:
    """ValidationError unless the URL names a store; what follows `sqlite:///` is a path, taken as it stands."""
    if of_kind("url", url, str).startswith(POSTGRES):
        parse(url)
    elif url != MEMORY and not (url.startswith(SQLITE) and url != SQLITE):
        raise ValidationError("url", ("is not memory:, sqlite:///path or postgresql://…",))


def parse(url: str) -> URL:
    """A PostgreSQL URL taken apart."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # Not chained: what could not be taken apart may be quoted there, a password in it.
        problem = "is no PostgreSQL URL; write postgresql://user@host:port/database"
        raise ValidationError("url", (problem,)) from None
    if "@" in (parsed.host or ""):
        raise ValidationError("url", ("has an @ too many; write one in a password as %40",))
    return parsed


def connection_options(url: str) -> dict[str, str]:
    """What the driver is to be told, `pooler` included; of an option given twice, such as hosts, all values."""
    parsed = parse(url)
    given = {**parsed.translate_connect_args(username="user", database="dbname"), **parsed.query}
    return {key: ",".join(value) if isinstance(value, tuple) else str(value) for key, value in given.items()}


def shown(url: str) -> str:
    """The URL as it may be printed: no password in it, wherever it stood."""
    if not url.startswith(POSTGRES):
        return url
    parsed = parse(url)
    hidden = {key: _HIDDEN for key in _SECRET_OPTIONS if key in parsed.query}
    return parsed.update_query_dict(hidden).render_as_string(hide_password=True)


def secrets(url: str) -> tuple[str, ...]:
    """Every spelling of the URL's passwords, to be scrubbed from a driver's messages; the longest first."""
    if not url.startswith(POSTGRES):
        return ()
    parsed = parse(url)
    words = [parsed.password or "", *(str(parsed.query.get(key, "")) for key in _SECRET_OPTIONS)]
    spelled = {form for word in words if word for form in (word, quote(word, safe=""), quote_plus(word))}
    return tuple(sorted(spelled, key=len, reverse=True))
