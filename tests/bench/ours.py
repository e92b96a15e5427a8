"""The engine as a contender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.workload import LEASE, Chains, commit_of

if TYPE_CHECKING:
    from engine.checkpoints import Commit
    from engine.store import Store


class Committing:
    """Commits steps to claimed threads of a store."""

    def __init__(self, store: Store, worker: str) -> None:
        self.chains = Chains(worker)
        self._commit = store.checkpoints.commit
        self._tokens = {each: store.checkpoints.claim(each, LEASE).token for each in self.chains.threads}

    def inputs(self, count: int) -> list[tuple[str, Commit]]:
        """The next commits."""
        steps = self.chains.steps(count)
        return [(step.thread_id, commit_of(step, self._tokens[step.thread_id])) for step in steps]

    def do(self, given: tuple[str, Commit]) -> None:
        """Commit."""
        self._commit(*given)


class Reading:
    """Reads the latest checkpoint of threads in turn."""

    def __init__(self, store: Store, threads: list[str]) -> None:
        self._latest = store.checkpoints.latest
        self._threads = threads

    def inputs(self, count: int) -> list[str]:
        """Thread ids."""
        return [self._threads[n % len(self._threads)] for n in range(count)]

    def do(self, given: str) -> None:
        """Read."""
        assert self._latest(given) is not None
