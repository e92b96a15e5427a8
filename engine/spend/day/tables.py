"""The tables of the day store (spend.md 1.1, schema.md, rulings 41 and 42); instants in nanoseconds."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    and_,
    text,
)

from engine.database.columns import METADATA, body, counter, identifier, instant

spend_day = Table(
    "spend_days",
    METADATA,
    identifier("day", primary_key=True),
    counter("reserved_micro", nullable=False, server_default=text("0")),
    counter("settled_micro", nullable=False, server_default=text("0")),
    CheckConstraint("reserved_micro >= 0 AND settled_micro >= 0", name="spend_days_totals"),
)

reservation = Table(
    "spend_day_reservations",
    METADATA,
    identifier("id", primary_key=True),
    identifier("day", nullable=False),
    identifier("kind", nullable=False),
    counter("micro", nullable=False),
    instant("created_at", nullable=False),
    instant("expires_at", nullable=False),
    instant("due_at", nullable=False),
    Column("require_fence", Boolean, nullable=False, server_default=text("false")),
    instant("next_check_at"),
    body("evidence"),
    Column("deferrals", Integer, nullable=False, server_default=text("0")),
    identifier("operation_id", unique=True),
    identifier("thread_id"),
    counter("recorded_micro"),
    Column("runs", Integer),
    Column("lease_run", Integer),
    instant("lease_until"),
    counter("settled_micro"),
    instant("settled_at"),
    CheckConstraint("micro >= 0", name="spend_day_micro"),
    CheckConstraint("recorded_micro BETWEEN 0 AND micro", name="spend_day_recorded"),
    CheckConstraint("(lease_run IS NULL) = (lease_until IS NULL)", name="spend_day_lease"),
    CheckConstraint(
        "(settled_at IS NULL) = (settled_micro IS NULL) AND settled_micro BETWEEN 0 AND micro",
        name="spend_day_settled",
    ),
)
"""`due_at` is the latest of expires_at, next_check_at and lease_until, kept by every verb (ruling 41)."""

OPEN = reservation.c.settled_at.is_(None)
FENCED = and_(OPEN, reservation.c.require_fence)

run = Table(
    "spend_day_runs",
    METADATA,
    identifier("reservation_id", nullable=False),
    Column("run", Integer, nullable=False),
    counter("bound_micro", nullable=False),
    instant("began_at", nullable=False),
    counter("settled_micro"),
    instant("ended_at"),
    PrimaryKeyConstraint("reservation_id", "run"),
    CheckConstraint("(ended_at IS NULL) = (settled_micro IS NULL)", name="spend_day_run_ended"),
    CheckConstraint("settled_micro BETWEEN 0 AND bound_micro", name="spend_day_run_bound"),
)


def _partial(name: str, where: object, *columns: str) -> Index:
    return Index(name, *(reservation.c[key] for key in columns), postgresql_where=where, sqlite_where=where)


Index("spend_day_by_day", reservation.c.day)
_partial("spend_day_due", OPEN, "due_at", "id")
_partial("spend_day_fenced", FENCED, "due_at", "id")
_partial("spend_day_by_thread", and_(OPEN, reservation.c.thread_id.is_not(None)), "thread_id")
