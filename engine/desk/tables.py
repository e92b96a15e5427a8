"""The desk's own tables: plans, jobs, operations and the audit (schema.md; rulings 55 and 56)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    literal_column,
)

from engine.database.columns import METADATA, body, counter, identifier, instant
from engine.reserved import convention_columns, convention_indexes

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

plan = Table(
    "plan",
    METADATA,
    identifier("plan_id", primary_key=True),
    identifier("kind", nullable=False),
    body("params", nullable=False),
    body("actor", nullable=False),
    identifier("environment", nullable=False),
    identifier("hash", nullable=False),
    counter("items", nullable=False),
    body("totals", nullable=False),
    instant("created_at", nullable=False),
    instant("expires_at", nullable=False),
    body("approved_by"),
    instant("approved_at"),
    instant("cancelled_at"),
    Index("plan_by_time", "created_at", "plan_id"),
)

plan_item = Table(
    "plan_item",
    METADATA,
    identifier("plan_id", nullable=False),
    Column("n", Integer, nullable=False),
    identifier("kind", nullable=False),
    identifier("object_id", nullable=False),
    body("guard", nullable=False),
    body("note"),
    *convention_columns(),
    PrimaryKeyConstraint("plan_id", "n"),
)
convention_indexes("desk", plan_item)
"""An item's `txn_id` is its plan's id; `n` counts from 1."""

job = Table(
    "job",
    METADATA,
    identifier("job_id", primary_key=True),
    identifier("plan_id", nullable=False, unique=True),
    identifier("state", nullable=False),
    identifier("lease_owner"),
    counter("lease_token", nullable=False),
    instant("lease_until"),
    Column("next_n", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("applied", Integer, nullable=False),
    Column("skipped", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("rate", Integer, nullable=False),
    instant("created_at", nullable=False),
    Index("job_by_time", "created_at", "job_id"),
)
UNFINISHED: Final[ColumnElement[bool]] = literal_column("state IN ('ready', 'running', 'paused')", Boolean())
Index(
    "job_unfinished",
    job.c.lease_until,
    job.c.job_id,
    postgresql_where=UNFINISHED,
    sqlite_where=UNFINISHED,
)
"""`next_n` is the item that a run goes on with; `rate` items a second, 0 for no limit."""

job_item = Table(
    "job_item",
    METADATA,
    identifier("job_id", nullable=False),
    Column("n", Integer, nullable=False),
    identifier("outcome", nullable=False),
    body("detail"),
    identifier("operation_id", nullable=False),
    instant("at", nullable=False),
    PrimaryKeyConstraint("job_id", "n"),
)

operation = Table(
    "operation",
    METADATA,
    identifier("operation_id", primary_key=True),
    identifier("kind", nullable=False),
    identifier("object_kind", nullable=False),
    identifier("object_id", nullable=False),
    identifier("actor", nullable=False),
    instant("at", nullable=False),
    body("result", nullable=False),
)

audit = Table(
    "audit",
    METADATA,
    counter("seq", primary_key=True, autoincrement=False),
    identifier("hash", nullable=False, unique=True),
    identifier("operation_id", nullable=False),
    identifier("phase", nullable=False),
    instant("at", nullable=False),
    identifier("actor", nullable=False),
    identifier("route", nullable=False),
    identifier("object_kind", nullable=False),
    identifier("object_id", nullable=False),
    body("body", nullable=False),
    identifier("prev_hash", nullable=False),
    UniqueConstraint("operation_id", "phase", name="audit_once"),
    Index("audit_by_object", "object_kind", "object_id", "seq"),
    Index("audit_by_actor", "actor", "seq"),
)
"""Append-only: the database itself refuses to change or remove a row (ruling 56)."""

audit_head = Table(
    "audit_head",
    METADATA,
    Column("one", Integer, primary_key=True, autoincrement=False),
    counter("seq", nullable=False),
    identifier("hash", nullable=False),
)
"""One row: the last entry's number and hash. Locked last in a transaction, and not for long."""
