"""The `Statement`s that a call runs, and how a database would answer them under either kind of plan."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import sql
from sqlalchemy import text

from engine.database import statement as statements
from tests.support.plans import Step, plan, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest
    from sqlalchemy import Connection

    from tests.support.harness import Harness

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
PLANS = ("force_custom_plan", "force_generic_plan")
"""PostgreSQL plans a prepared statement for the values at hand, or once for all values."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One statement as the driver got it."""

    text: str
    values: Any


@contextmanager
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Ran]]:
    """What every `Statement` runs meanwhile."""
    seen: list[Ran] = []
    run = statements.Statement._run

    def noted(self: Any, connection: Any, values: dict[str, Any]) -> Any:
        form, cursor = run(self, connection, values)
        seen.append(Ran(form.text, form.arguments(values)))
        return form, cursor

    with monkeypatch.context() as patch:
        patch.setattr(statements.Statement, "_run", noted)
        yield seen


def plans(harness: Harness, ran: Ran, *settings: str) -> list[list[Step]]:
    """How the database goes about it: one plan on SQLite, one of each kind on PostgreSQL.

    `settings` are what the transaction sets on PostgreSQL before it, as `name = value`.
    """
    with harness.raw() as connection:
        if harness.kind == "sqlite":
            return [plan(connection, ran.text, tuple(ran.values))]
        for setting in settings:
            connection.execute(text(f"SET LOCAL {setting}"))
        return [_prepared(connection, ran, kind) for kind in PLANS]


def _prepared(connection: Connection, ran: Ran, kind: str) -> list[Step]:
    names: list[str] = list(dict.fromkeys(_PLACEHOLDER.findall(ran.text)))
    numbered = _PLACEHOLDER.sub(lambda found: f"${names.index(found[1]) + 1}", ran.text).replace("%%", "%")
    values = sql.SQL(", ").join(sql.Literal(ran.values[name]) for name in names)
    cursor: Any = connection.connection.cursor()
    cursor.execute(f"SET LOCAL plan_cache_mode = {kind}")
    cursor.execute("SET LOCAL random_page_cost = 1.1")  # what solid state costs
    cursor.execute(f"PREPARE asked AS {numbered}")
    cursor.execute(
        sql.SQL("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked ({})").format(values)
        if names
        else "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked"
    )
    ((found,),) = cursor.fetchall()
    connection.execute(text("DEALLOCATE asked"))
    return list(steps_of(found[0]["Plan"]))
