"""Query plans of what a store runs, as both back ends tell them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from engine.store import Store


@dataclass(frozen=True, slots=True)
class Step:
    """One access or sort of a plan. `rows`: how many rows it touched, None where nobody says."""

    text: str
    rows: int | None


@contextmanager
def statements(store: Store) -> Iterator[list[tuple[str, Any]]]:
    """The statements, with their values, that SQLAlchemy runs for this store meanwhile."""
    seen: list[tuple[str, Any]] = []

    def note(*told: Any) -> None:
        seen.append((told[2], told[3]))

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(store.engine, "before_cursor_execute", note)


def plan(connection: Connection, statement: str, values: Any) -> list[Step]:
    """The steps that read a table or sort."""
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
        return [Step(row[3], None) for row in rows]
    found = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).scalar_one()
    tree = json.loads(found) if isinstance(found, str) else found
    return list(steps_of(tree[0]["Plan"]))


def steps_of(node: dict[str, Any]) -> Iterator[Step]:
    names = (node["Node Type"], node.get("Relation Name"), node.get("Index Name"))
    touched = node.get("Actual Rows", 0) + node.get("Rows Removed by Filter", 0)
    yield Step(" ".join(name for name in names if name), round(touched * node.get("Actual Loops", 1)))
    for child in node.get("Plans", ()):
        yield from steps_of(child)
