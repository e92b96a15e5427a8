"""The tables of durable threads (schema.md). Measured costs of the indexes stand in the migration's comments.

`thread` is the whole state of an id: its registry row, its three event numbers, its claim and its tombstone.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Sequence,
    Table,
    UniqueConstraint,
    and_,
    literal_column,
    text,
)

from engine.database.columns import METADATA, body, counter, identifier, instant

NO_TENANT = ""  # tenant_key of None; of a tenant it is 't' and the id, so that '' and None stay apart


def tenant_key(tenant: str | None) -> str:
    """The indexed form of a tenant, in which None is a value like any other."""
    return NO_TENANT if tenant is None else f"t{tenant}"


def tenant_of(key: str | None) -> str | None:
    """The tenant of a `tenant_key`."""
    return key[1:] if key else None


meta = Table(
    "meta",
    METADATA,
    Column("one", Integer, primary_key=True, autoincrement=False),
    counter("schema_version", nullable=False),
    counter("reclamation_mark", nullable=False),
    counter("last_token", nullable=False),
    counter("last_child", nullable=False),
)

# One draw at a time (CACHE 1), or numbers would not rise in the order in which row locks are held (ruling 6).
TOKENS = Sequence("token", metadata=METADATA, cache=1)
CHILD_POSITIONS = Sequence("child_position", metadata=METADATA, cache=1)
EVENT_POSITIONS = Sequence("event_position", metadata=METADATA, cache=1)

thread = Table(
    "thread",
    METADATA,
    identifier("thread_id", primary_key=True),
    identifier("tenant_key"),
    identifier("parent_id"),
    counter("child_position"),
    identifier("latest_id"),
    counter("latest_place"),
    identifier("latest_status"),
    identifier("latest_run_id"),
    counter("last_place", nullable=False, server_default=text("0")),
    counter("next_write", nullable=False, server_default=text("0")),
    counter("metadata_keys", nullable=False, server_default=text("0")),
    instant("created_at"),
    instant("updated_at"),
    counter("first_seq"),
    counter("next_seq"),
    counter("floor_seq"),
    counter("tomb_first"),
    instant("deleted_at"),
    counter("claim_token"),
    identifier("claim_holder"),
    identifier("claim_tenant"),
    Column("claim_tenant_recorded", Boolean, nullable=False, server_default=text("false")),
    instant("claim_granted_at"),
    instant("claim_renewed_at"),
    counter("claim_renewals"),
    instant("claim_expires_at"),
    postgresql_with={"fillfactor": 80},
)

LISTED = thread.c.latest_id.is_not(None)
ROOT = and_(thread.c.latest_id.is_not(None), thread.c.parent_id.is_(None))
CLAIMED = thread.c.claim_token.is_not(None)
CHILD = and_(thread.c.latest_id.is_not(None), thread.c.parent_id.is_not(None))
BURIED = thread.c.deleted_at.is_not(None)


def _partial(name: str, where: object, *columns: str) -> Index:
    return Index(name, *(thread.c[key] for key in columns), postgresql_where=where, sqlite_where=where)


_partial("thread_by_tenant", ROOT, "tenant_key", "updated_at", "thread_id")
_partial("thread_by_status", ROOT, "tenant_key", "latest_status", "updated_at", "thread_id")
_partial("thread_by_update", LISTED, "updated_at", "thread_id")
_partial("thread_by_state", LISTED, "latest_status", "updated_at", "thread_id")
_partial("thread_by_expiry", CLAIMED, "claim_expires_at", "thread_id")
_partial("thread_by_holder", CLAIMED, "claim_holder", "thread_id")
_partial("thread_by_parent", CHILD, "parent_id", "child_position")
_partial("thread_by_deletion", BURIED, "deleted_at", "thread_id")

checkpoint = Table(
    "checkpoint",
    METADATA,
    identifier("thread_id", nullable=False),
    counter("place", nullable=False),
    identifier("checkpoint_id", nullable=False),
    identifier("run_id", nullable=False),
    identifier("status", nullable=False),
    identifier("parent"),
    identifier("tenant"),
    counter("token"),
    identifier("origin"),
    instant("created_at"),
    instant("committed_at", nullable=False),
    counter("first_seq", nullable=False),
    Column("format", Integer),
    body("body", nullable=False),
    PrimaryKeyConstraint("thread_id", "place"),
    UniqueConstraint("thread_id", "checkpoint_id"),
)
Index("checkpoint_by_run", checkpoint.c.thread_id, checkpoint.c.run_id, checkpoint.c.place)

pending_write = Table(
    "pending_write",
    METADATA,
    identifier("thread_id", nullable=False),
    counter("place", nullable=False),
    counter("n", nullable=False),
    identifier("task_id", nullable=False),
    identifier("node_id", nullable=False),
    body("body", nullable=False),
    PrimaryKeyConstraint("thread_id", "place", "n"),
)

event = Table(
    "event",
    METADATA,
    identifier("thread_id", nullable=False),
    counter("seq", nullable=False),
    # PostgreSQL draws it in the INSERT; on SQLite it is the rowid, in commit order by itself (ruling 23).
    counter("position", nullable=False, server_default=EVENT_POSITIONS.next_value()),
    identifier("kind", nullable=False),
    identifier("run_id", nullable=False),
    identifier("checkpoint_id"),
    identifier("task_id"),
    identifier("node_id"),
    instant("timestamp"),
    instant("committed_at", nullable=False),
    counter("token", nullable=False),
    body("payload", nullable=False),
    PrimaryKeyConstraint("thread_id", "seq"),
    UniqueConstraint("position"),
)

effect = Table(
    "effect",
    METADATA,
    identifier("thread_id", nullable=False),
    identifier("key", nullable=False),
    body("value", nullable=False),
    identifier("run_id"),
    counter("token", nullable=False),
    instant("committed_at", nullable=False),
    PrimaryKeyConstraint("thread_id", "key"),
)

thread_metadata = Table(
    "thread_metadata",
    METADATA,
    identifier("thread_id", nullable=False),
    identifier("key", nullable=False),
    identifier("value", nullable=False),
    identifier("tenant_key"),
    instant("updated_at", nullable=False),
    PrimaryKeyConstraint("thread_id", "key"),
)
Index(
    "metadata_by_value",
    *(thread_metadata.c[key] for key in ("tenant_key", "key", "value", "updated_at", "thread_id")),
)

child_place = Table(
    "child_place",
    METADATA,
    identifier("parent_id", nullable=False),
    counter("position", nullable=False),
    identifier("child_id", nullable=False),
    PrimaryKeyConstraint("parent_id", "position"),
    UniqueConstraint("parent_id", "child_id"),
)
Index("child_place_by_child", child_place.c.child_id)

refusal = Table(
    "refusal",
    METADATA,
    identifier("thread_id", primary_key=True),
    counter("count", nullable=False),
    counter("last_token", nullable=False),
    identifier("last_verb", nullable=False),
    instant("last_at", nullable=False),
)

queue_entry = Table(
    "queue_entry",
    METADATA,
    identifier("id", primary_key=True),
    identifier("thread_id", nullable=False),
    identifier("tenant"),
    body("input", nullable=False),
    identifier("state", nullable=False),
    instant("available_at", nullable=False),
    identifier("lease_owner"),
    counter("lease_token", nullable=False),
    instant("lease_until"),
    Column("attempts", Integer, nullable=False),
    Column("max_attempts", Integer, nullable=False),
    body("last_error"),
)

_QUEUED = queue_entry.c.state == literal_column("'queued'")
_LEASED = queue_entry.c.state == literal_column("'leased'")
OPEN_ENTRY = queue_entry.c.state.in_([literal_column("'queued'"), literal_column("'leased'")])


def _queue_index(name: str, where: object, *columns: str, unique: bool = False) -> Index:
    keys = (queue_entry.c[key] for key in columns)
    return Index(name, *keys, unique=unique, postgresql_where=where, sqlite_where=where)


_queue_index("queue_by_time", _QUEUED, "available_at", "id")
_queue_index("queue_one_lease", _LEASED, "thread_id", unique=True)
_queue_index("queue_by_lease", _LEASED, "lease_until", "id")
_queue_index("queue_open", OPEN_ENTRY, "thread_id")
Index("queue_by_state", queue_entry.c.state, queue_entry.c.id)

queue_run = Table(
    "queue_run",
    METADATA,
    identifier("thread_id", nullable=False),
    identifier("entry_id", nullable=False),
    identifier("run_id", nullable=False),
    counter("n", nullable=False),
    PrimaryKeyConstraint("thread_id", "entry_id", "run_id"),
)
