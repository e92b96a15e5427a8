"""Thousands of threads written under the store, for plans and bounds: SQL that both back ends run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from engine.clock import to_ns
from tests.support.builders import T0

if TYPE_CHECKING:
    from sqlalchemy import Connection

_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
_NAME = "'{prefix}' || substr(CAST(1000000 + i AS TEXT), 2)"
_THREADS = """
INSERT INTO thread (thread_id, tenant_key, parent_id, child_position, latest_id, latest_place,
    latest_status, latest_run_id, last_place, metadata_keys, created_at, updated_at,
    claim_token, claim_holder, claim_expires_at)
{numbers}
SELECT {name}, :tenant, :parent, CASE WHEN :parent IS NULL THEN NULL ELSE i END, 'c1', 1, {status}, 'run', 1,
    :keys, :at, :at + i * 1000, CASE WHEN {claimed} THEN i END, CASE WHEN {claimed} THEN 'worker' END,
    CASE WHEN {claimed} THEN CASE WHEN {over} THEN :at - 1000 ELSE :until END END
FROM n
"""
_PAIRS = """
INSERT INTO thread_metadata (thread_id, key, value, tenant_key, updated_at)
{numbers} SELECT {name}, 'kind', {value}, :tenant, :at + i * 1000 FROM n
"""
_PLACES = """
INSERT INTO child_place (parent_id, position, child_id) {numbers} SELECT :parent, i, {name} FROM n
"""
_CHECKPOINTS = """
INSERT INTO checkpoint (thread_id, place, checkpoint_id, run_id, status, committed_at, first_seq, format,
    body)
{numbers}
SELECT :thread, i, 'c' || CAST(i AS TEXT), 'run-' || CAST(i / :each AS TEXT), 'running', :at, i, 1, '{{}}'
FROM n
"""
_TOMBS = """
INSERT INTO thread (thread_id, tomb_first, deleted_at) {numbers} SELECT {name}, i + 1, :at + i * 1000 FROM n
"""
HOUR = 3_600 * 10**9
STATUS = "CASE i % 10 WHEN 0 THEN 'suspended' WHEN 1 THEN 'failed' WHEN 2 THEN 'running' ELSE 'completed' END"
"""Of ten threads one waits, one has failed, one runs, seven are done."""
NOBODY, EVERYBODY = "FALSE", "TRUE"


def _run(connection: Connection, statement: str, count: int, **values: object) -> None:
    base = {"count": count, "at": to_ns(T0)} | values
    names = text(statement).compile().params
    connection.execute(text(statement), {name: value for name, value in base.items() if name in names})


def threads(
    connection: Connection,
    prefix: str,
    count: int,
    *,
    tenant: str = "",
    parent: str | None = None,
    status: str = STATUS,
    claimed: str = NOBODY,
    over: str = NOBODY,
    later: int = 0,
    keys: int = 0,
) -> None:
    """Threads `prefix` + a number, a microsecond apart from `later` ns after T0 on.

    `status`, `claimed` and `over` are SQL over the number `i`; a claim lives for an hour after T0.
    """
    statement = _THREADS.format(
        numbers=_NUMBERS, name=_NAME.format(prefix=prefix), status=status, claimed=claimed, over=over
    )
    # PostgreSQL cannot tell the type of a parameter that is only compared with NULL.
    statement = statement.replace(":parent", "CAST(:parent AS TEXT)")
    at = to_ns(T0) + later
    until = to_ns(T0) + HOUR
    _run(connection, statement, count, tenant=tenant, parent=parent, at=at, until=until, keys=keys)


def pairs(
    connection: Connection, prefix: str, count: int, *, tenant: str = "", value: str = "'chat'"
) -> None:
    """One pair `kind` for each of the threads of that prefix."""
    statement = _PAIRS.format(numbers=_NUMBERS, name=_NAME.format(prefix=prefix), value=value)
    _run(connection, statement, count, tenant=tenant)


def places(connection: Connection, parent: str, prefix: str, count: int) -> None:
    """The children's places, in the order of their numbers."""
    _run(connection, _PLACES.format(numbers=_NUMBERS, name=_NAME.format(prefix=prefix)), count, parent=parent)


def checkpoints(connection: Connection, thread: str, count: int, *, each: int) -> None:
    """A history, in runs of `each` checkpoints."""
    _run(connection, _CHECKPOINTS.format(numbers=_NUMBERS), count, thread=thread, each=each)


def tombs(connection: Connection, prefix: str, count: int) -> None:
    """Tombstones, a microsecond apart."""
    _run(connection, _TOMBS.format(numbers=_NUMBERS, name=_NAME.format(prefix=prefix)), count)
