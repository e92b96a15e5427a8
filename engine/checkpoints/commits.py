"""The commit: all checks under the thread's row lock, then all writes, in a transaction (checkpoints.md 2.4).

These are all the rules; `plain_commit` is a faster form of the commonest case and decides nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, insert, select, update

from engine.checkpoints.children import adopt
from engine.checkpoints.claims import LOCK, hold_current
from engine.checkpoints.drafts import Drafts
from engine.checkpoints.effects import record_effects
from engine.checkpoints.metadata import merged_metadata, rewrite_metadata
from engine.checkpoints.model import CheckpointStatus
from engine.checkpoints.numbering import numbers_of
from engine.checkpoints.retract import retract_turn
from engine.checkpoints.tables import checkpoint, event, pending_write, thread
from engine.database.columns import check_id
from engine.database.constructs import Now
from engine.database.hints import hint
from engine.database.statement import Statement
from engine.errors import CheckpointConflict, InvalidCommit, StaleClaim, ThreadDeleted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import BindParameter, Connection

    from engine.checkpoints.model import Commit, EventRecord
    from engine.checkpoints.numbering import Numbers

_ID: BindParameter[str] = bindparam("id")
_NOW = Statement(select(Now().label("at")))
_KNOWN = Statement(
    select(checkpoint.c.place).where(
        checkpoint.c.thread_id == _ID, checkpoint.c.checkpoint_id == bindparam("checkpoint")
    )
)
_ADD_CHECKPOINT = Statement(insert(checkpoint))
_DROP_WRITES = Statement(
    delete(pending_write).where(pending_write.c.thread_id == _ID, pending_write.c.place < bindparam("before"))
)
_ADD_WRITE = Statement(insert(pending_write))
_ADD_EVENT = Statement(insert(event))
_WRITTEN = (
    "tenant_key",
    "parent_id",
    "child_position",
    "latest_id",
    "latest_place",
    "latest_status",
    "latest_run_id",
    "last_place",
    "next_write",
    "metadata_keys",
    "created_at",
    "updated_at",
    "first_seq",
    "next_seq",
    "floor_seq",
)
_LAND = Statement(
    update(thread)
    .where(thread.c.thread_id == _ID, thread.c.claim_token == bindparam("held"))
    .values({thread.c[key]: bindparam(f"new_{key}") for key in _WRITTEN})
)


def commit(connection: Connection, thread_id: str, commit: Commit) -> list[EventRecord]:
    """Write all of `commit`, or nothing and raise the first check's error; answer the numbered events."""
    check_id("thread_id", thread_id)
    return commit_drafts(connection, thread_id, Drafts.of(commit))


def commit_drafts(connection: Connection, thread_id: str, drafts: Drafts) -> list[EventRecord]:
    """`commit` already serialised."""
    commit = drafts.commit
    row: Any = LOCK.one(connection, id=thread_id)
    _check(connection, thread_id, row, commit)
    now: int = _NOW.all(connection)[0].at
    numbers = numbers_of(connection, row)
    state = _State(connection, thread_id, row, commit, now)
    if commit.retract_turn:
        retract_turn(connection, thread_id, commit.checkpoint.run_id)  # type: ignore[union-attr]
    if commit.checkpoint is not None:
        state.append(drafts, numbers)
    state.add_writes(drafts)
    state.add_events(drafts, numbers)
    record_effects(connection, thread_id, drafts.effects, row.claim_holder, commit.token, now)
    state.merge(commit.metadata or {})
    state.land()
    return drafts.records(thread_id, numbers.next)


def _check(connection: Connection, thread_id: str, row: Any, commit: Commit) -> None:
    """Checks 1 to 7 in their order; the token first, so that a stale writer learns nothing else."""
    current = None if row is None else row.claim_token
    if current != commit.token:
        raise StaleClaim(thread_id, commit.token, current)
    if commit.fence is not None:
        hold_current(connection, commit.fence.thread_id, commit.fence.token)
    if commit.checkpoint is not None:
        _check_checkpoint(connection, thread_id, row, commit)
    latest = row.latest_id if commit.checkpoint is None else commit.checkpoint.id
    for write in commit.writes:
        if write.checkpoint_id != latest:
            reason = (
                f"write {write.task_id!r} names checkpoint {write.checkpoint_id!r}, the latest is {latest!r}"
            )
            raise InvalidCommit(thread_id, reason)
    if commit.retract_turn and commit.checkpoint is None:
        raise InvalidCommit(thread_id, "retract_turn needs a checkpoint to close the turn with")


def _check_checkpoint(connection: Connection, thread_id: str, row: Any, commit: Commit) -> None:
    new = commit.checkpoint
    assert new is not None
    if new.parent != row.latest_id:
        raise CheckpointConflict(thread_id, new.parent, row.latest_id)
    deleting = CheckpointStatus.DELETING
    if row.latest_status == deleting.value and new.status is not deleting:
        raise ThreadDeleted(thread_id)
    if row.latest_id is not None and _KNOWN.one(connection, id=thread_id, checkpoint=new.id) is not None:
        raise InvalidCommit(thread_id, f"checkpoint {new.id!r} is already in the history")


class _State:
    """The thread's row on its way from what was locked to what will be stored."""

    def __init__(self, connection: Connection, thread_id: str, row: Any, commit: Commit, now: int) -> None:
        self._connection, self._id, self._commit, self._now = connection, thread_id, commit, now
        self.new: dict[str, Any] = row._asdict()
        self.new["created_at"] = now if row.created_at is None else row.created_at

    def append(self, drafts: Drafts, numbers: Numbers) -> None:
        """Make the commit's checkpoint the latest and drop the writes pending on the one before."""
        draft = drafts.checkpoint
        assert draft is not None
        place, new = self.new["last_place"] + 1, self.new
        values = {key: value for key, value in draft.items() if key != "tenant_key"}
        _ADD_CHECKPOINT.count(
            self._connection,
            thread_id=self._id,
            place=place,
            committed_at=self._now,
            first_seq=numbers.next,
            **values,
        )
        _DROP_WRITES.count(self._connection, id=self._id, before=place)
        if draft["origin"] != new["parent_id"]:
            new["child_position"] = adopt(self._connection, draft["origin"], self._id)
        new.update(latest_id=draft["checkpoint_id"], latest_place=place, last_place=place, next_write=0)
        new.update(latest_status=draft["status"], latest_run_id=draft["run_id"], updated_at=self._now)
        new.update(tenant_key=draft["tenant_key"], parent_id=draft["origin"])

    def add_writes(self, drafts: Drafts) -> None:
        """Append to the latest checkpoint's pending writes, in order."""
        first, place = self.new["next_write"], self.new["latest_place"]
        _ADD_WRITE.many(self._connection, drafts.write_rows(self._id, place, first))
        self.new["next_write"] = first + len(drafts.bodies)

    def add_events(self, drafts: Drafts, numbers: Numbers) -> None:
        """Number the events without a gap; the first ones of an incarnation fix its numbers."""
        if not drafts.payloads:
            return
        _ADD_EVENT.many(self._connection, drafts.event_rows(self._id, numbers.next, self._now))
        self.new.update(first_seq=numbers.first, floor_seq=numbers.floor)
        self.new["next_seq"] = numbers.next + len(drafts.payloads)
        hint(self._connection, self._id)

    def merge(self, changes: Mapping[str, str | None]) -> None:
        """Merge metadata; a checkpoint alone moves the sort key that the stored pairs repeat."""
        if changes:
            self.new["updated_at"] = self._now
        elif self._commit.checkpoint is None or not self.new["metadata_keys"]:
            return
        pairs = merged_metadata(self._connection, self._id, changes)
        owner = self.new["tenant_key"] if self.new["parent_id"] is None else None
        rewrite_metadata(self._connection, self._id, pairs, owner, self._now)
        self.new["metadata_keys"] = len(pairs)

    def land(self) -> None:
        """The guarded write of the row: nothing above is kept without it."""
        values = {f"new_{key}": self.new[key] for key in _WRITTEN}
        if not _LAND.count(self._connection, id=self._id, held=self._commit.token, **values):
            raise StaleClaim(self._id, self._commit.token, None)
