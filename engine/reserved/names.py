"""The table that a verb is about: a SQLAlchemy table, or the name of one, checked and quoted by the dialect."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from sqlalchemy import BigInteger, FromClause, TableClause, Text, column, table

from engine.arguments import of_kind
from engine.errors import ValidationError

COLUMNS: Final = ("txn_id", "state", "reserve_deadline")
"""The convention's columns (reserved.md, "Convention columns")."""
MAX_INDEX_BYTES: Final = 63
"""Of an index's name: what PostgreSQL keeps of a longer one is not told apart from its neighbour's."""
MAX_NAME: Final = 255
"""Characters of a table's name, its schema's included."""
_PART: Final = re.compile(r"[^\W\d][\w$]*")
_PLACEHOLDER: Final = re.compile(r"%\(|\[(?:POSTCOMPILE|SCHEMA)_")
"""What SQLAlchemy replaces in the finished text of a statement, inside quoted names as well."""
_HASH: Final = 8
"""Hexadecimal digits that stand for what was cut from a name."""


def source(given: FromClause | str) -> FromClause:
    """What to read from: a table, an alias of one, or the table of that name.

    ValidationError for a name that is no identifier, and for a table without the convention's columns.
    """
    if isinstance(given, str):
        return table_named(*split(given))
    if not isinstance(given, FromClause):
        raise ValidationError("table", (f"must be a table or its name, not {type(given).__name__}",))
    missing = [name for name in COLUMNS if name not in given.c]
    if missing:
        raise ValidationError("table", (f"lacks {', '.join(missing)}; add convention_columns() to it",))
    return given


def target(given: TableClause | str) -> TableClause:
    """What to change: `source` without the aliases."""
    found = source(given)
    if isinstance(found, TableClause):
        return found
    raise ValidationError("table", (f"must be a table or its name, not {type(found).__name__}",))


def split(name: str) -> tuple[str | None, str]:
    """The schema, if one is named, and the table; ValidationError unless both are plain identifiers."""
    parts = of_kind("table", name, str).split(".")
    if len(parts) > 2 or len(name) > MAX_NAME or not all(map(_PART.fullmatch, parts)):
        rule = "letters, digits, _ and $, beginning with a letter, and one schema in front at most"
        raise ValidationError("table", (f"must be an identifier ({rule}), not {name!r:.80}",))
    return (parts[0], parts[1]) if len(parts) == 2 else (None, parts[0])


def table_named(schema: str | None, name: str) -> TableClause:
    """The table of exactly that name: for one that the database itself gave, which may be any text."""
    columns = (column("txn_id", Text()), column("state", Text()), column("reserve_deadline", BigInteger()))
    return table(name, *columns, schema=schema)


def can_be_named(*names: str | None) -> bool:
    """Whether statements can hold these names of the database's own, each of which is any text, as they are."""
    return not any(_PLACEHOLDER.search(name) for name in names if name is not None)


def shown(given: TableClause) -> str:
    """The table as messages name it."""
    return given.name if given.schema is None else f"{given.schema}.{given.name}"


def index_name(prefix: str, table_name: str, suffix: str) -> str:
    """`<prefix>_<table>_<suffix>`; where that is too long, a hash stands in place of its middle (ruling 32)."""
    whole = f"{prefix}_{table_name}_{suffix}"
    if len(whole.encode()) <= MAX_INDEX_BYTES:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_HASH]
    tail = f"_{digest}_{suffix}"
    head = f"{prefix}_{table_name}".encode()[: MAX_INDEX_BYTES - len(tail)]
    return head.decode(errors="ignore") + tail
