"""The evidence of fenced rows: cut to its beginning in lists, one look-up by key for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from engine.desk.money_views import FenceRow
from engine.desk.texts import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from engine.desk.money_source import Source


def fence_rows(connection: Connection, found: Sequence[tuple[Source, Any]]) -> tuple[FenceRow, ...]:
    """Rows of a page with their evidence: one statement for each source that has any."""
    texts = {
        source.place: _texts(connection, source, [row for other, row in found if other is source])
        for source in {source.place: source for source, _ in found}.values()
    }
    made = []
    for source, row in found:
        evidence, size = texts[source.place].get(source.key_text(row), (None, None))
        made.append(FenceRow(source.row(row), evidence, size or 0))
    return tuple(made)


def _texts(connection: Connection, source: Source, rows: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
    """The beginnings and sizes by key, for at most a page of rows."""
    assert source.evidence is not None
    (key,) = source.key
    column = source.columns[key]
    wanted = select(column, *cut(source.columns[source.evidence], "evidence")).where(
        column.in_(bindparam("keys", expanding=True))
    )
    keys = [getattr(row, key) for row in rows]
    return {str(row[0]): (row.evidence, row.size) for row in connection.execute(wanted, {"keys": keys})}
