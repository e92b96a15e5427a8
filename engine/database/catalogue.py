"""Tables of a database that are known by their columns alone, whoever made them and whatever they are called."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Found:
    """A table as the catalogue names it, and the columns of its primary key in order: none without a key."""

    schema: str | None
    name: str
    key: tuple[str, ...]


# A partition is reached through its table; temporary tables are another session's.
_POSTGRES: Final = text(
    """
    SELECT n.nspname, c.relname, CAST((
        SELECT json_agg(a.attname ORDER BY k.place)
        FROM pg_index i
        CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(number, place)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
        WHERE i.indrelid = c.oid AND i.indisprimary
    ) AS text)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
        AND n.nspname <> 'information_schema' AND left(n.nspname, 3) <> 'pg_'
        AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
        AND (
            SELECT count(*) FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND (
                a.attname = ANY(CAST(:words AS text[])) AND a.atttypid IN (25, 1043)
                OR a.attname = ANY(CAST(:numbers AS text[])) AND a.atttypid = 20
            )
        ) = :columns
    ORDER BY n.nspname, c.relname
    LIMIT :most
    """
)
# A key of bytes or of fractions has no text on SQLite that finds it again, so it counts as none.
_SQLITE: Final = text(
    """
    SELECT NULL, l.name, (
        SELECT json_group_array(k.name)
        FROM (SELECT name, type FROM pragma_table_info(l.name) WHERE pk > 0 ORDER BY pk) AS k
        HAVING max(upper(k.type) LIKE '%BLOB%' OR upper(k.type) LIKE '%REAL%'
            OR upper(k.type) LIKE '%FLOA%' OR upper(k.type) LIKE '%DOUB%') = 0
    )
    FROM pragma_table_list AS l
    WHERE l.schema = 'main' AND l.type = 'table' AND (
        SELECT count(*) FROM pragma_table_info(l.name) AS i
        WHERE i.name IN (SELECT value FROM json_each(:words)) AND upper(i.type) NOT LIKE '%INT%'
            OR i.name IN (SELECT value FROM json_each(:numbers)) AND upper(i.type) LIKE '%INT%'
    ) = :columns
    ORDER BY l.name
    LIMIT :most
    """
)


def tables_with(
    connection: Connection, words: Collection[str], numbers: Collection[str], most: int
) -> list[Found]:
    """At most `most` tables, by name, with all these columns: texts, and whole numbers of 64 bits.

    On PostgreSQL those of every schema that the user may read. Temporary tables and views are left out.
    """
    count = len(words) + len(numbers)
    if connection.dialect.name == "postgresql":
        given = {"words": list(words), "numbers": list(numbers), "columns": count, "most": most}
        rows = connection.execute(_POSTGRES, given)
    else:
        asked = {"words": json.dumps(list(words)), "numbers": json.dumps(list(numbers))}
        rows = connection.execute(_SQLITE, {**asked, "columns": count, "most": most})
    return [Found(schema, name, tuple(json.loads(key or "[]"))) for schema, name, key in rows]
