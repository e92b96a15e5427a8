"""The plain commit as one statement, for back ends with data-modifying CTEs (design rule 4, rulings 1 and 2).

One round trip, no explicit transaction. It decides only by the thread's row, which it locks itself: the
thread is numbered, the token is current, the checkpoint builds on the latest, and neither fence, effects,
metadata, retraction nor a new parent is in play. Zero rows mean "not done" and nothing else: the ordinary
form then decides and names the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.checkpoints.model import CheckpointStatus
from engine.database.columns import MAX_NUMBER
from engine.database.hints import hint
from engine.database.prepared import Prepared
from engine.database.statement import begun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from engine.checkpoints.drafts import Drafts
    from engine.checkpoints.model import Commit

_NOW = "coalesce(%(now)s::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000)"

# The other legs see the snapshot from before a wait for the row: another commit's write from the meantime may
# survive this DELETE: `latest` reads by place, and the next commit deletes it (ruling 1).
_WRITES = """
writes AS (
  INSERT INTO pending_write (thread_id, place, n, task_id, node_id, body)
  SELECT t.thread_id, t.latest_place, t.next_write - %(n_writes)s::int + w.n - 1, w.task_id, w.node_id, w.body
  FROM t, unnest(%(task_ids)s::text[], %(node_ids)s::text[], %(bodies)s::text[])
    WITH ORDINALITY AS w(task_id, node_id, body, n)
), """
_EVENTS = """
events AS (
  INSERT INTO event
    (thread_id, seq, kind, run_id, checkpoint_id, task_id, node_id, timestamp, committed_at, token, payload)
  SELECT t.thread_id, t.next_seq - %(n_events)s::int + e.n - 1, e.kind, e.run_id, e.checkpoint_id, e.task_id,
    e.node_id, e.timestamp, t.at, %(token)s::bigint, e.payload
  FROM t, unnest(%(kinds)s::text[], %(run_ids)s::text[], %(checkpoint_ids)s::text[],
      %(event_task_ids)s::text[], %(event_node_ids)s::text[], %(timestamps)s::bigint[], %(payloads)s::text[])
    WITH ORDINALITY AS e(kind, run_id, checkpoint_id, task_id, node_id, timestamp, payload, n)
)
"""
_WITH_CHECKPOINT = Prepared(f"""
WITH t AS (
  UPDATE thread SET
    tenant_key = %(tenant_key)s::text, latest_id = %(checkpoint_id)s::text, latest_place = last_place + 1,
    latest_status = %(status)s::text, latest_run_id = %(run_id)s::text, last_place = last_place + 1,
    next_write = %(n_writes)s::int, updated_at = {_NOW}, next_seq = next_seq + %(n_events)s::int
  WHERE thread_id = %(thread_id)s::text AND claim_token = %(token)s::bigint AND next_seq IS NOT NULL
    AND metadata_keys = 0 AND latest_id IS NOT DISTINCT FROM %(parent)s::text
    AND latest_status IS DISTINCT FROM 'deleting' AND created_at IS NOT NULL
    AND parent_id IS NOT DISTINCT FROM %(origin)s::text
  RETURNING thread_id, latest_place, next_write, next_seq, updated_at AS at
), kept AS (
  INSERT INTO checkpoint (thread_id, place, checkpoint_id, run_id, status, parent, tenant, token, origin,
    created_at, committed_at, first_seq, format, body)
  SELECT t.thread_id, t.latest_place, %(checkpoint_id)s::text, %(run_id)s::text, %(status)s::text,
    %(parent)s::text, %(tenant)s::text, %(checkpoint_token)s::bigint, %(origin)s::text, %(created_at)s::bigint,
    t.at, t.next_seq - %(n_events)s::int, %(format)s::int, %(body)s::text
  FROM t
), gone AS (
  DELETE FROM pending_write p USING t WHERE p.thread_id = t.thread_id AND p.place < t.latest_place
), {_WRITES}{_EVENTS}
SELECT next_seq - %(n_events)s::int FROM t
""")  # noqa: S608 - built of the constants above
_WITHOUT_CHECKPOINT = Prepared(f"""
WITH t AS (
  UPDATE thread SET next_write = next_write + %(n_writes)s::int, next_seq = next_seq + %(n_events)s::int
  WHERE thread_id = %(thread_id)s::text AND claim_token = %(token)s::bigint AND next_seq IS NOT NULL
    AND created_at IS NOT NULL AND (%(latest)s::text IS NULL OR latest_id = %(latest)s::text)
  RETURNING thread_id, latest_place, next_write, next_seq, {_NOW} AS at
), {_WRITES}{_EVENTS}
SELECT next_seq - %(n_events)s::int FROM t
""")  # noqa: S608


def is_plain(commit: Commit) -> bool:
    """Whether the one-statement form may be tried at all."""
    if commit.fence is not None or commit.effects or commit.metadata or commit.retract_turn:
        return False
    if abs(commit.token) > MAX_NUMBER:
        return False
    names = {write.checkpoint_id for write in commit.writes}
    if commit.checkpoint is None:
        return len(names) <= 1
    return names <= {commit.checkpoint.id} and commit.checkpoint.status is not CheckpointStatus.DELETING


def plain_commit(connection: Connection, thread_id: str, drafts: Drafts, now: int | None) -> int | None:
    """Run it; the first event's number, or None for "not done"."""
    statement = _WITHOUT_CHECKPOINT if drafts.checkpoint is None else _WITH_CHECKPOINT
    first: int | None = begun(connection).number(statement, _arguments(thread_id, drafts, now))
    if first is not None and drafts.payloads:
        hint(connection, thread_id)
    return first


def _arguments(thread_id: str, drafts: Drafts, now: int | None) -> dict[str, Any]:
    commit = drafts.commit
    events, writes = commit.events, commit.writes
    arguments = {
        "thread_id": thread_id,
        "now": now,
        "n_writes": len(writes),
        "n_events": len(events),
        "task_ids": _array([write.task_id for write in writes]),
        "node_ids": _array([write.node_id for write in writes]),
        "bodies": _array(drafts.bodies),
        "kinds": _array([event.kind for event in events]),
        "run_ids": _array([event.run_id for event in events]),
        "checkpoint_ids": _array([event.checkpoint_id for event in events]),
        "event_task_ids": _array([event.task_id for event in events]),
        "event_node_ids": _array([event.node_id for event in events]),
        "timestamps": _numbers(drafts.timestamps),
        "payloads": _array(drafts.payloads),
    }
    if drafts.checkpoint is None:
        arguments["latest"] = writes[0].checkpoint_id if writes else None
    else:
        arguments |= drafts.checkpoint
        arguments["checkpoint_token"] = drafts.checkpoint["token"]
    arguments["token"] = commit.token
    return arguments


def _array(items: Sequence[str | None]) -> str:
    """An array as the server reads it; the driver's own lists cost twenty times this (half of a commit)."""
    return "{" + ",".join(["NULL" if item is None else _quoted(item) for item in items]) + "}"


def _quoted(item: str) -> str:
    if "\\" in item:
        item = item.replace("\\", "\\\\")
    return '"' + item.replace('"', '\\"') + '"'


def _numbers(items: Sequence[int | None]) -> str:
    return "{" + ",".join(["NULL" if item is None else str(item) for item in items]) + "}"
