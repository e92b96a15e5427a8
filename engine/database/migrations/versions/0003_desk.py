"""What operators do: plans, jobs, operations, and an audit that only grows."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"

POSTGRES = "postgresql"
_ONLY_GROWS = "the audit only grows; record a correction as a new entry"


def _id(name: str, *args: Any, **options: Any) -> sa.Column[str]:
    kind = sa.Text().with_variant(sa.Text(collation="C"), POSTGRES)
    return sa.Column(name, kind, *args, **options)


def _int(name: str, *args: Any, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), *args, **options)


def _small(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _body(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), **options)


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, postgresql_where=condition, sqlite_where=condition)


def upgrade() -> None:
    """Create them."""
    _plans()
    _jobs()
    _operations()
    _audit()
    if op.get_bind().dialect.name == POSTGRES:
        _refuse_on_postgresql()
    else:
        _refuse_on_sqlite()
    op.execute("UPDATE meta SET schema_version = 3")


def downgrade() -> None:
    """An audit is not taken away."""
    raise NotImplementedError("a store is not taken back to an earlier version")


def _plans() -> None:
    op.create_table(
        "plan",
        _id("plan_id", primary_key=True, nullable=False),
        _id("kind", nullable=False),
        _body("params", nullable=False),
        _body("actor", nullable=False),
        _id("environment", nullable=False),
        _id("hash", nullable=False),
        _int("items", nullable=False),
        _body("totals", nullable=False),
        _int("created_at", nullable=False),
        _int("expires_at", nullable=False),
        _body("approved_by"),
        _int("approved_at"),
        _int("cancelled_at"),
    )
    op.create_index("plan_by_time", "plan", ["created_at", "plan_id"])
    op.create_table(
        "plan_item",
        _id("plan_id", nullable=False),
        _small("n"),
        _id("kind", nullable=False),
        _id("object_id", nullable=False),
        _body("guard", nullable=False),
        _body("note"),
        sa.Column("txn_id", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False, server_default="committed"),
        _int("reserve_deadline"),
        sa.PrimaryKeyConstraint("plan_id", "n"),
    )
    _partial("desk_plan_item_txn", "plan_item", ["txn_id"], "state = 'reserved'")
    _partial("desk_plan_item_deadline", "plan_item", ["reserve_deadline"], "state = 'reserved'")


def _jobs() -> None:
    op.create_table(
        "job",
        _id("job_id", primary_key=True, nullable=False),
        _id("plan_id", nullable=False, unique=True),
        _id("state", nullable=False),
        _id("lease_owner"),
        _int("lease_token", nullable=False),
        _int("lease_until"),
        *(_small(name) for name in ("next_n", "total", "applied", "skipped", "failed", "rate")),
        _int("created_at", nullable=False),
    )
    op.create_index("job_by_time", "job", ["created_at", "job_id"])
    _partial("job_unfinished", "job", ["lease_until", "job_id"], "state IN ('ready', 'running', 'paused')")
    op.create_table(
        "job_item",
        _id("job_id", nullable=False),
        _small("n"),
        _id("outcome", nullable=False),
        _body("detail"),
        _id("operation_id", nullable=False),
        _int("at", nullable=False),
        sa.PrimaryKeyConstraint("job_id", "n"),
    )


def _operations() -> None:
    op.create_table(
        "operation",
        _id("operation_id", primary_key=True, nullable=False),
        _id("kind", nullable=False),
        _id("object_kind", nullable=False),
        _id("object_id", nullable=False),
        _id("actor", nullable=False),
        _int("at", nullable=False),
        _body("result", nullable=False),
    )


def _audit() -> None:
    op.create_table(
        "audit",
        _int("seq", primary_key=True, nullable=False, autoincrement=False),
        _id("hash", nullable=False, unique=True),
        _id("operation_id", nullable=False),
        _id("phase", nullable=False),
        _int("at", nullable=False),
        _id("actor", nullable=False),
        _id("route", nullable=False),
        _id("object_kind", nullable=False),
        _id("object_id", nullable=False),
        _body("body", nullable=False),
        _id("prev_hash", nullable=False),
        sa.UniqueConstraint("operation_id", "phase", name="audit_once"),
    )
    op.create_index("audit_by_object", "audit", ["object_kind", "object_id", "seq"])
    op.create_index("audit_by_actor", "audit", ["actor", "seq"])
    op.create_table(
        "audit_head",
        sa.Column("one", sa.Integer(), primary_key=True, autoincrement=False, nullable=False),
        _int("seq", nullable=False),
        _id("hash", nullable=False),
        sa.CheckConstraint("one = 1", name="audit_head_one"),
    )
    op.execute("INSERT INTO audit_head (one, seq, hash) VALUES (1, 0, '')")


def _refuse_on_sqlite() -> None:
    # INSERT OR REPLACE removes a row without asking the DELETE trigger, hence the third.
    taken = "EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq OR hash = NEW.hash)"
    once = "EXISTS (SELECT 1 FROM audit WHERE operation_id = NEW.operation_id AND phase = NEW.phase)"
    for name, event, when in (
        ("audit_no_update", "UPDATE", ""),
        ("audit_no_delete", "DELETE", ""),
        ("audit_no_replace", "INSERT", f"WHEN {taken} OR {once} "),
    ):
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {event} ON audit {when}"
            f"BEGIN SELECT RAISE(ABORT, '{_ONLY_GROWS}'); END"
        )


def _refuse_on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION audit_only_grows() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{_ONLY_GROWS}' USING ERRCODE = 'insufficient_privilege'; END $$"
    )
    for name, when in (
        ("audit_no_change", "BEFORE UPDATE OR DELETE ON audit FOR EACH ROW"),
        ("audit_no_truncate", "BEFORE TRUNCATE ON audit FOR EACH STATEMENT"),
    ):
        op.execute(f"CREATE TRIGGER {name} {when} EXECUTE FUNCTION audit_only_grows()")
    op.execute("REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM PUBLIC")
