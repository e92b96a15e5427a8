"""Trees of threads for cascades and child retention, and what is left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from engine.checkpoints import CheckpointStatus, delete_thread_cascade
from tests.support.builders import TTL, ck, claim, ev
from tests.support.intercept import Interceptor
from tests.support.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

    from engine.checkpoints import CascadeResult, Checkpointer
    from tests.support.harness import Harness

COMPLETED = CheckpointStatus.COMPLETED
FAMILY: Mapping[str, str | None] = {"p": None, "a": "p", "b": "p", "g": "a"}
"""Case 147: p has the children a and b, a has the child g."""
STAYS = {"thread", "child_place", "refusal"}
"""The tables a deleted thread may be named in: its tombstone, its place, and who was turned away since."""
OF_A_TOMBSTONE = {"thread_id", "tomb_first", "deleted_at"}
"""The columns a tombstone fills; others are empty, or counters at zero."""


class Recorder(Interceptor):
    """An `Interceptor` that keeps every call with its arguments."""

    def __init__(self, inner: Checkpointer) -> None:
        super().__init__(inner)
        self.made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        call = super().__getattr__(name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            self.made.append((name, args, kwargs))
            return call(*args, **kwargs)

        return noted

    def arguments(self, name: str) -> list[tuple[Any, ...]]:
        """The positional arguments of each call of that name."""
        return [args for made, args, _ in self.made if made == name]


def grow(
    checkpointer: Checkpointer,
    tree: Mapping[str, str | None] = FAMILY,
    *,
    tenant: str | None = None,
    status: CheckpointStatus = CheckpointStatus.RUNNING,
) -> dict[str, int]:
    """Make each thread, after its parent, with a checkpoint and an event; claims are given back. Their tokens."""
    from engine.checkpoints import Commit, Origin

    tokens = {}
    for t, parent in tree.items():
        tokens[t] = claim(checkpointer, t, "builder", tenant=tenant).token
        origin = None if parent is None else Origin(parent)
        made = ck("c1", t=t, tenant=tenant, origin=origin, status=status)
        checkpointer.commit(t, Commit(tokens[t], checkpoint=made, events=[ev("made")]))
        checkpointer.release(t, tokens[t])
    return tokens


def cascade(
    checkpointer: Checkpointer, t: str = "p", *, tenant: str | None = None, run_id: str = "deleter"
) -> CascadeResult:
    """Delete the tree."""
    return delete_thread_cascade(checkpointer, t, run_id=run_id, tenant=tenant, ttl=TTL)


def alive(checkpointer: Checkpointer, threads: Iterable[str]) -> set[str]:
    """Those that have a checkpoint."""
    return {t for t in threads if checkpointer.latest(t) is not None}


def marked(checkpointer: Checkpointer, t: str) -> bool:
    """Whether the thread bears the mark of a delete that has begun."""
    stored = checkpointer.latest(t)
    return stored is not None and stored.checkpoint.status is CheckpointStatus.DELETING


def check_only_tombstones(harness: Harness, threads: Iterable[str]) -> None:
    """Nothing is left of these threads but a number and a time, and their places among their parents' children."""
    with harness.raw() as connection:
        for t in threads:
            assert set(rows_of(connection, t)) <= STAYS, t
            assert filled_columns(connection, t) == OF_A_TOMBSTONE, t


def filled_columns(connection: Connection, t: str) -> set[str]:
    """The columns of the thread's row that say anything."""
    row = connection.execute(text("SELECT * FROM thread WHERE thread_id = :t"), {"t": t}).one()
    return {name for name, value in row._mapping.items() if value not in (None, 0, False)}
