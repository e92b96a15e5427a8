"""The day store: totals per UTC day, reservations, the runs of operations."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"

POSTGRES = "postgresql"


def _id(name: str, *args: Any, **options: Any) -> sa.Column[str]:
    kind = sa.Text().with_variant(sa.Text(collation="C"), POSTGRES)
    return sa.Column(name, kind, *args, **options)


def _int(name: str, *args: Any, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), *args, **options)


def _partial(name: str, columns: list[str], where: str, flag: str | None = None) -> None:
    postgres, sqlite = (where, where) if flag is None else (f"{where} AND {flag}", f"{where} AND {flag} = 1")
    op.create_index(
        name,
        "spend_day_reservations",
        columns,
        postgresql_where=sa.text(postgres),
        sqlite_where=sa.text(sqlite),
    )


def upgrade() -> None:
    """Create them."""
    _days()
    _reservations()
    _runs()
    op.execute("UPDATE meta SET schema_version = 2")


def downgrade() -> None:
    """A total that was counted on is not taken away."""
    raise NotImplementedError("a store is not taken back to an earlier version")


def _days() -> None:
    op.create_table(
        "spend_days",
        _id("day", primary_key=True, nullable=False),
        _int("reserved_micro", nullable=False, server_default=sa.text("0")),
        _int("settled_micro", nullable=False, server_default=sa.text("0")),
        sa.CheckConstraint("reserved_micro >= 0 AND settled_micro >= 0", name="spend_days_totals"),
    )


def _reservations() -> None:
    op.create_table(
        "spend_day_reservations",
        _id("id", primary_key=True, nullable=False),
        _id("day", nullable=False),
        _id("kind", nullable=False),
        _int("micro", nullable=False),
        _int("created_at", nullable=False),
        _int("expires_at", nullable=False),
        _int("due_at", nullable=False),
        sa.Column("require_fence", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        _int("next_check_at"),
        sa.Column("evidence", sa.Text()),
        sa.Column("deferrals", sa.Integer(), nullable=False, server_default=sa.text("0")),
        _id("operation_id", unique=True),
        _id("thread_id"),
        _int("recorded_micro"),
        sa.Column("runs", sa.Integer()),
        sa.Column("lease_run", sa.Integer()),
        _int("lease_until"),
        _int("settled_micro"),
        _int("settled_at"),
        sa.CheckConstraint("micro >= 0", name="spend_day_micro"),
        sa.CheckConstraint("recorded_micro BETWEEN 0 AND micro", name="spend_day_recorded"),
        sa.CheckConstraint("(lease_run IS NULL) = (lease_until IS NULL)", name="spend_day_lease"),
        sa.CheckConstraint(
            "(settled_at IS NULL) = (settled_micro IS NULL) AND settled_micro BETWEEN 0 AND micro",
            name="spend_day_settled",
        ),
    )
    op.create_index("spend_day_by_day", "spend_day_reservations", ["day"])
    _partial("spend_day_due", ["due_at", "id"], "settled_at IS NULL")
    _partial("spend_day_fenced", ["due_at", "id"], "settled_at IS NULL", flag="require_fence")
    _partial("spend_day_by_thread", ["thread_id"], "settled_at IS NULL AND thread_id IS NOT NULL")


def _runs() -> None:
    op.create_table(
        "spend_day_runs",
        _id("reservation_id", nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        _int("bound_micro", nullable=False),
        _int("began_at", nullable=False),
        _int("settled_micro"),
        _int("ended_at"),
        sa.PrimaryKeyConstraint("reservation_id", "run"),
        sa.CheckConstraint("(ended_at IS NULL) = (settled_micro IS NULL)", name="spend_day_run_ended"),
        sa.CheckConstraint("settled_micro BETWEEN 0 AND bound_micro", name="spend_day_run_bound"),
    )
