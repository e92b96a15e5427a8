"""What the connection's role may do to tables; a file knows no roles, so there everything is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import text

from engine.database.wording import dialect_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

_MAY: Final = text("SELECT has_table_privilege(to_regclass(:table), :right)")
_SPELL: Final = dialect_of("postgresql").identifier_preparer


def lacking(connection: Connection, wanted: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Those of (table, right) that the role has not."""
    if connection.dialect.name != "postgresql":
        return frozenset()
    return frozenset(
        (table, right)
        for table, right in wanted
        if not connection.execute(_MAY, {"table": table, "right": right}).scalar()
    )


def spelled(name: str) -> str:
    """A name as it stands in a statement for a server, quoted where it must be."""
    return str(_SPELL.quote(name))
