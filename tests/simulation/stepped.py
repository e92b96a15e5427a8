"""A call that makes many transactions, taken apart: the simulator moves others between any two of them.

The call runs in a thread of its own that only ever runs while the simulator waits for it, so a run stays the work of
its seed alone.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from engine.checkpoints import CheckpointStatus
from engine.errors import CommitUnknown
from tests.simulation.world import Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import timedelta

    from engine.checkpoints import ClaimRequest, Commit, Fence, RunClaim, StoredCheckpoint
    from engine.checkpoints.child_states import ChildState
    from tests.simulation.world import World

PATIENCE = 60.0
"""Seconds that a step may take before the run is given up."""


class Crashed(BaseException):
    """The process of the call is gone: nothing in it runs any more."""


class Stepped:
    """The checkpointer that such a call is given: it waits before each transaction, and replies may be lost.

    `fenced_by` is the thread whose claim must be the stored one wherever a descendant goes: as this call gets it, if
    it deletes that thread too, or the claim of `token`, if it stays.
    """

    def __init__(self, world: World, fenced_by: str, token: int | None = None) -> None:
        self._world = world
        self._root, self._token, self._stays = fenced_by, token, token is not None
        self._mine, self._others = threading.Semaphore(0), threading.Semaphore(0)
        self._crashed = self._done = False
        self._error: BaseException | None = None

    def run(self, call: Callable[[Any], object]) -> Iterator[None]:
        """An actor that makes the call, one transaction after each yield; closing it is a crash."""
        thread = threading.Thread(target=self._body, args=(call,), daemon=True)
        thread.start()
        try:
            while not self._step():
                yield
        finally:
            self._crashed = True
            self._mine.release()
            thread.join(PATIENCE)
        if self._error is not None:
            raise self._error

    def claim(self, t: str, request: ClaimRequest) -> RunClaim:
        """See `Checkpointer`, as all of these."""
        claim: RunClaim = self._call("claim", lambda: self._world.claim(t, request.holder, request.tenant))
        if t == self._root:
            self._token = claim.token
        return claim

    def renew(self, t: str, token: int, ttl: timedelta) -> None:
        """The lease is the world's."""
        self._call("renew", lambda: self._world.renew(t, token))

    def release(self, t: str, token: int) -> None:
        """Give a claim back."""
        self._call("release", lambda: self._world.release(t, token))

    def commit(self, t: str, commit: Commit) -> None:
        """Commit the mark."""
        self._call("commit", lambda: self._world.commit(t, commit))

    def delete_thread(self, t: str, token: int, fence: Fence | None = None) -> None:
        """Delete: a descendant only while the root's claim is the stored one (invariant 16)."""

        def delete() -> None:
            holds = self._world.current(self._root) == self._token
            marked = self._stays or t == self._root or self._is_marked()
            self._world.delete(t, token, fence)
            assert marked, f"{t!r} was deleted and nothing tells that {self._root!r} is going"
            assert holds, f"{t!r} was deleted although the claim on {self._root!r} was lost"
            self._world.seen["tree: descendants"] += t != self._root

        self._call("delete_thread", delete)

    def latest(self, t: str) -> StoredCheckpoint | None:
        """Read."""
        found: StoredCheckpoint | None = self._call("latest", lambda: self._world.store.latest(t))
        return found

    def children(self, parent: str, *, after: str | None = None, limit: int = 100) -> list[str]:
        """Read."""
        found: list[str] = self._call("children", lambda: self._world.children(parent, after, limit))
        return found

    def child_states(self, parent: str, *, after: int = 0, limit: int = 100) -> list[ChildState]:
        """Read."""

        def read() -> list[ChildState]:
            return self._world.store.child_states(parent, after=after, limit=limit)

        found: list[ChildState] = self._call("child_states", read)
        return found

    def _is_marked(self) -> bool:
        """Whether a cascade's root says so, as far as it holds anything."""
        latest = self._world.journal.life(self._root).latest
        return latest is None or latest.status is CheckpointStatus.DELETING

    def _call(self, name: str, transaction: Callable[[], Any]) -> Any:
        if not self._crashed:
            self._others.release()
            self._wait(self._mine)
        if self._crashed:
            raise Crashed
        try:
            return transaction()
        except Lost as lost:
            raise CommitUnknown(name) from lost

    def _body(self, call: Callable[[Any], object]) -> None:
        try:
            self._wait(self._mine)
            if not self._crashed:
                call(self)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the simulator can see it
            self._error = None if isinstance(error, Crashed) else error
        self._done = True
        self._others.release()

    def _step(self) -> bool:
        """Let the call go on to its next transaction, or to its end; whether that was its end."""
        self._mine.release()
        self._wait(self._others)
        return self._done

    def _wait(self, turn: threading.Semaphore) -> None:
        assert turn.acquire(timeout=PATIENCE), "a step of the simulation did not end"
