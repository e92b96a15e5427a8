"""The invariants of both documents' sections 3, read from the tables themselves with plain SQL.

`audit` needs no model: it must hold of every store, after every transaction of any history of calls. Only
races on PostgreSQL may leave pending writes of an earlier place (ruling 1): pass `raced=True` there.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

Rows = list[dict[str, Any]]

ORDERS = {
    "thread": "thread_id",
    "checkpoint": "thread_id, place",
    "pending_write": "thread_id, place, n",
    "event": "thread_id, seq",
    "effect": "thread_id, key",
    "thread_metadata": "thread_id, key",
    "child_place": "parent_id, position",
    "refusal": "thread_id",
    "queue_entry": "id",
    "queue_run": "thread_id, entry_id, n",
}
OF_THREADS = frozenset(ORDERS) - {"queue_entry", "queue_run"}
"""The tables whose rows go with their thread. Queue entries stay: a wish does not depend on what there is."""
CLAIM = (
    "claim_token",
    "claim_holder",
    "claim_granted_at",
    "claim_renewed_at",
    "claim_renewals",
    "claim_expires_at",
)
LATEST = ("latest_id", "latest_place", "latest_status", "latest_run_id")
NUMBERS = ("first_seq", "next_seq", "floor_seq")
TOMBSTONE = {
    "thread_id",
    "tomb_first",
    "deleted_at",
    # Not null in the schema, and zero here.
    "last_place",
    "next_write",
    "metadata_keys",
    "claim_tenant_recorded",
}


class Tables:
    """Every row that durable threads keep, by table and by thread."""

    def __init__(self, connection: Connection) -> None:
        self._rows = {
            table: [
                dict(row)
                for row in connection.execute(text(f"SELECT * FROM {table} ORDER BY {by}")).mappings()
            ]
            for table, by in ORDERS.items()
        }
        self.meta = dict(connection.execute(text("SELECT * FROM meta")).mappings().one())
        self.threads = {row["thread_id"]: row for row in self._rows["thread"]}

    def of(self, table: str, t: str) -> Rows:
        """The table's rows of one thread, in the order of their key."""
        owner = "child_id" if table == "child_place" else "thread_id"
        return [row for row in self._rows[table] if row[owner] == t]

    def all(self, table: str) -> Rows:
        """Every row of the table, in the order of its key."""
        return self._rows[table]

    def owners(self, table: str) -> set[str]:
        """The threads that have a row in the table."""
        return {row["child_id" if table == "child_place" else "thread_id"] for row in self._rows[table]}


def audit(tables: Tables, *, raced: bool = False) -> None:
    """AssertionError naming the table and thread where an invariant does not hold."""
    for table in OF_THREADS:
        orphans = tables.owners(table) - set(tables.threads)
        assert not orphans, f"{table} has rows of {orphans}, which have no thread"
    _check_queue(tables)
    tokens = [row["claim_token"] for row in tables.threads.values() if row["claim_token"] is not None]
    assert len(tokens) == len(set(tokens)), "two threads hold one token"
    for t, row in tables.threads.items():
        _check_row(row, tables)
        _check_log(row, tables.of("event", t))
        _check_history(row, tables.of("checkpoint", t))
        _check_writes(row, tables.of("pending_write", t), raced=raced)
        _check_metadata(row, tables.of("thread_metadata", t))


def _check_row(row: dict[str, Any], tables: Tables) -> None:
    """A claim, a latest checkpoint and numbers are there wholly or not at all; a row holds something."""
    for group in (CLAIM, LATEST, NUMBERS, ("tomb_first", "deleted_at")):
        _all_or_none(row, group)
    if row["claim_token"] is None:
        assert row["claim_tenant"] is None, row
        assert not row["claim_tenant_recorded"], row
    content = [table for table in OF_THREADS if table != "thread" and tables.of(table, row["thread_id"])]
    if row["latest_id"] is None and row["first_seq"] is None and row["claim_token"] is None:
        held = set(content) - {"child_place", "refusal"}
        assert row["tomb_first"] is not None or held, f"a row that holds nothing: {row}"
        if not held:
            _check_tombstone(row)
    if row["created_at"] is None:
        assert not set(content) - {"child_place", "refusal"}, f"{content} without a commit: {row}"


def _check_tombstone(row: dict[str, Any]) -> None:
    kept = {name: value for name, value in row.items() if name not in TOMBSTONE and value is not None}
    assert not kept, f"the tombstone of {row['thread_id']!r} still holds {kept}"
    assert (row["last_place"], row["next_write"], row["metadata_keys"]) == (0, 0, 0), row


def _all_or_none(row: dict[str, Any], names: Iterable[str]) -> None:
    present = {name: row[name] is not None for name in names}
    assert len(set(present.values())) == 1, f"thread {row['thread_id']!r}: {present}"


def _check_log(row: dict[str, Any], events: Rows) -> None:
    """Numbers without a gap from the floor on, in the order of tokens and of the store's positions."""
    if row["first_seq"] is None:
        assert not events, f"thread {row['thread_id']!r} has events and no numbers"
        return
    assert row["first_seq"] <= row["floor_seq"] <= row["next_seq"], row
    assert row["first_seq"] < row["next_seq"], f"numbers fixed without an event: {row}"
    assert row["tomb_first"] is None or row["first_seq"] == row["tomb_first"], row
    assert [event["seq"] for event in events] == list(range(row["floor_seq"], row["next_seq"])), row
    for before, after in pairwise(events):
        assert before["token"] <= after["token"], (before, after)
        assert before["position"] < after["position"], (before, after)


def _check_history(row: dict[str, Any], checkpoints: Rows) -> None:
    """The thread's row repeats its newest checkpoint; ids are there once."""
    ids = [each["checkpoint_id"] for each in checkpoints]
    assert len(ids) == len(set(ids)), ids
    for before, after in pairwise(checkpoints):
        assert before["first_seq"] <= after["first_seq"], (before, after)
    if not checkpoints:
        assert row["latest_id"] is None, row
        return
    newest = checkpoints[-1]
    repeated = tuple(newest[name] for name in ("checkpoint_id", "place", "status", "run_id"))
    assert repeated == tuple(row[name] for name in LATEST), (newest, row)
    assert row["last_place"] == row["latest_place"], row
    assert row["parent_id"] == newest["origin"], (newest, row)
    assert (row["child_position"] is None) == (row["parent_id"] is None), row


def _check_writes(row: dict[str, Any], writes: Rows, *, raced: bool) -> None:
    """Pending writes belong to the latest checkpoint, numbered from 0."""
    at_latest = [write for write in writes if write["place"] == row["latest_place"]]
    assert raced or len(at_latest) == len(writes), f"writes of earlier places: {writes}"
    assert [write["n"] for write in at_latest] == list(range(row["next_write"])), (writes, row)


def _check_metadata(row: dict[str, Any], pairs: Rows) -> None:
    """Counted in the thread's row; each pair repeats what its listing sorts by: time, and a root's owner."""
    assert row["metadata_keys"] == len(pairs), (row, pairs)
    owner = row["tenant_key"] if row["parent_id"] is None else None  # A child is in no listing of its tenant.
    for pair in pairs:
        assert (pair["tenant_key"], pair["updated_at"]) == (owner, row["updated_at"]), (pair, row)


def _check_queue(tables: Tables) -> None:
    """At most one entry of a thread runs; a lease is there wholly or not at all; runs belong to their entry."""
    entries = {row["id"]: row for row in tables.all("queue_entry")}
    leased = [row["thread_id"] for row in entries.values() if row["state"] == "leased"]
    assert len(leased) == len(set(leased)), f"two entries of one thread are leased: {leased}"
    for row in entries.values():
        held = row["state"] == "leased"
        assert (row["lease_owner"] is not None, row["lease_until"] is not None) == (held, held), row
        assert row["attempts"] == row["lease_token"] <= row["max_attempts"], row
    runs: dict[str, list[int]] = {}
    for run in tables.all("queue_run"):
        assert run["entry_id"] in entries, f"a run without its entry: {run}"
        assert entries[run["entry_id"]]["thread_id"] == run["thread_id"], run
        runs.setdefault(run["entry_id"], []).append(run["n"])
    for entry, numbers in runs.items():
        assert numbers == list(range(1, len(numbers) + 1)), (entry, numbers)
