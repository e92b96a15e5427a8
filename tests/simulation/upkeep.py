"""What operators and the run queue add to the simulated world: retention, sweeps, entries and their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.checkpoints import SweepResult
from engine.errors import EngineError
from tests.property.agreement import check, outcome
from tests.property.queued import QueueModel
from tests.simulation.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.checkpoints import QueueEntry, RetentionPolicy, RunQueue, SweepPolicy
    from tests.property.subjects import Subject

    Meanwhile = Callable[[], None]

NOBODY: frozenset[str] = frozenset()


class Upkeep(World):
    """The world with its queue, and what may be taken away in it."""

    def __init__(self, subject: Subject, seed: int) -> None:
        super().__init__(subject, seed)
        self.queue = QueueModel(lambda: self.now)
        self.meanwhile: Meanwhile = _nothing
        """What happens while a sweep asks its guard."""

    def prune(self, t: str, policy: RetentionPolicy) -> None:
        """Apply a policy to a thread."""
        self._send("prune", t, lambda: self.store.prune(t, policy))
        gone = self.journal.pruned(t, policy, self.now, self.queue.recorded(t))
        self.seen["prune: checkpoints"] += gone[0]
        self.check_thread(t)
        self._reply()

    def sweep(
        self, policy: SweepPolicy, guarded: Mapping[str, frozenset[str]], after: str | None
    ) -> SweepResult:
        """One page; others go on while the guard is asked, before anything of it is changed."""
        page = self._page(policy.batch_size, after)
        last = not page or not self._page(1, page[-1])
        asked: list[list[str]] = []

        def guard(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
            asked.append(list(ids))
            self.meanwhile()
            return guarded

        found: SweepResult = self._send("sweep", "", lambda: self.store.sweep(policy, guard, after=after))
        assert asked == ([page] if page else []), (asked, page)
        expected = self._swept(policy, guarded, page, None if last else page[-1])
        assert found == expected, f"{found} instead of {expected}"
        for t in page:
            self.check_thread(t)
        self._reply()
        return found

    def _page(self, size: int, after: str | None) -> list[str]:
        """The ids that the store holds, whatever it holds of them."""
        stored = [
            t
            for t, story in sorted(self.journal.stories.items())
            if t in self.held or story.tomb is not None or not story.present.empty
        ]
        return [t for t in stored if after is None or t > after][:size]

    def _swept(
        self,
        policy: SweepPolicy,
        guarded: Mapping[str, frozenset[str]],
        page: list[str],
        following: str | None,
    ) -> SweepResult:
        checkpoints = events = tombs = 0
        for t in page:
            protected = {*guarded.get(t, NOBODY), *self.queue.recorded(t)}
            gone = self.journal.pruned(t, policy.retention, self.now, protected)
            checkpoints, events = checkpoints + gone[0], events + gone[1]
            bare = t not in self.held and t not in guarded
            if bare and self.journal.is_dead(t, policy.tombstone_age, self.now):
                self.journal.reclaimed(t)
                tombs += 1
        self.seen["sweep: tombstones"] += tombs
        return SweepResult(following, len(page), checkpoints, events, tombs)

    def check_thread(self, t: str) -> None:
        """Nothing but what the policy let go is gone: the history, the latest, and the evidence of open entries."""
        life = self.journal.life(t)
        found = [each.id for each in self.store.history(t, limit=1000)]
        assert found == [each.id for each in reversed(life.history)], (t, found)
        latest = self.store.latest(t)
        assert (None if latest is None else latest.checkpoint) == life.latest, t
        self.check_evidence(t)

    def check_evidence(self, t: str) -> None:
        """Of every run that an open entry of the thread recorded, its newest checkpoint is there."""
        runs = self.journal.life(t).runs
        for run in sorted(self.queue.recorded(t)):
            found = self.store.latest_of_runs(t, [run])
            named = None if found is None else found.id
            assert named == runs.get(run), f"of {run!r} {t!r} has {named} and not {runs.get(run)}"
            self.seen["evidence: kept"] += found is not None

    def enqueue(self, t: str, attempts: int) -> str:
        """A wish for a run of the thread."""
        given = {"n": self.fresh()}
        made: str = self._send("enqueue", t, lambda: self._queue.enqueue(t, given, max_attempts=attempts))
        self.queue.enqueue(made, t, given, None, attempts)
        self._reply()
        return made

    def ask(self, verb: str, *args: Any) -> Any:
        """A call on the queue: its answer or refusal is what the queue's rules say."""
        found = outcome(self._send, verb, str(args[0]), lambda: getattr(self._queue, verb)(*args))
        check(outcome(getattr(self.queue, verb), *args), found, verb)
        if isinstance(found, EngineError):
            raise found
        self._reply()
        return found

    def check_queue(self) -> None:
        """Every entry is as it should be, and so is the evidence of the open ones."""
        found: list[QueueEntry] = self._queue.entries(limit=1000)
        assert found == self.queue.entries(), found
        for t in sorted({entry.thread_id for entry in self.queue.open}):
            self.check_evidence(t)

    @property
    def _queue(self) -> RunQueue:
        return self.dice.choice(self.subject.queues)


def _nothing() -> None:
    """Nobody moves."""
