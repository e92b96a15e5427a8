"""The simulated world: one storage, a clock, dice, and the calls that actors make, each one transaction.

The world lets a transaction land, writes it into the journal and may then lose the reply, or lose the request before
it lands: an actor cannot tell the two apart.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from engine.checkpoints import CheckpointStatus, ClaimRequest
from engine.errors import EngineError, StaleClaim, ThreadBusy, ThreadDeleted
from tests.property.agreement import outcome
from tests.simulation.journal import Journal
from tests.support.builders import TTL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime, timedelta

    from engine.checkpoints import Checkpointer, Commit, EventRecord, Fence, RunClaim
    from tests.property.subjects import Subject

PARENTS: Mapping[str, str | None] = {
    "alpha": None,
    "alpha/a": "alpha",
    "alpha/a/x": "alpha/a",
    "alpha/a/y": "alpha/a",
    "alpha/b": "alpha",
    "beta": None,
    "beta/a": "beta",
    "gamma": None,
    "": None,
}
"""Every thread there can be, and whose child it is."""
THREADS = tuple(PARENTS)
TENANTS = (None, "acme")
LOST = 0.04
"""The chance of a lost request, and of a lost reply."""
TRACED = 60
"""How many of the last transactions a failure shows."""


class Lost(Exception):
    """No answer came: the call may have landed or not."""


class World:
    """Everything that the actors of one run share."""

    def __init__(self, subject: Subject, seed: int) -> None:
        self.subject, self.dice, self.journal = subject, random.Random(seed), Journal()
        self.held: dict[str, tuple[int, str, str | None, datetime]] = {}
        """The claim that is stored for each thread: token, run, tenant, end."""
        self.seen: Counter[str] = Counter()
        self.trace: deque[str] = deque(maxlen=TRACED)
        self._written = 0

    @property
    def store(self) -> Checkpointer:
        """One of the stores over the storage."""
        return self.dice.choice(self.subject.checkpointers)

    @property
    def now(self) -> datetime:
        """The store's time."""
        return self.subject.clock.now()

    def fresh(self) -> int:
        """A number that marks one event, so that none can stand in for another."""
        self._written += 1
        return self._written

    def chance(self, probability: float) -> bool:
        """Whether it happens this time."""
        return self.dice.random() < probability

    def current(self, t: str) -> int | None:
        """The token that is stored for the thread."""
        return self.held[t][0] if t in self.held else None

    def claim(self, t: str, run: str, tenant: str | None) -> RunClaim:
        """Claim a thread: granted exactly where no live claim stands."""
        before = self.held.get(t)
        live = before is not None and self.now < before[3]
        named = before[1] if before is not None and before[2] == tenant else None
        request = ClaimRequest(run, TTL, tenant)
        claim: RunClaim | EngineError = outcome(self._send, "claim", t, lambda: self.store.claim(t, request))
        if isinstance(claim, EngineError):
            assert isinstance(claim, ThreadBusy)
            assert live, f"{claim} although the lease has ended"
            assert claim.holder.run_id == named
            raise claim
        assert not live, f"{claim} although {before} is live"
        self.journal.granted(claim.token)
        assert (claim.taken_over_from, claim.expires_at) == (named, self.now + TTL)
        self.held[t] = (claim.token, run, tenant, claim.expires_at)
        self._reply()
        return claim

    def renew(self, t: str, token: int) -> None:
        """Renew a claim: refused exactly where another is stored."""
        self._fenced("renew", t, lambda: self.store.renew(t, token, TTL), self._stale(t, token))
        held = self.held[t]
        self.held[t] = (*held[:3], self.now + TTL)
        self._reply()

    def release(self, t: str, token: int) -> None:
        """Release a claim; a stale one changes nothing."""
        self._send("release", t, lambda: self.store.release(t, token))
        if self.current(t) == token:
            del self.held[t]
        self._reply()

    def commit(self, t: str, commit: Commit) -> list[EventRecord]:
        """Commit: lands exactly under the stored tokens, on a thread whose delete has not begun."""
        refused = self._stale(t, commit.token, commit.fence) or self._going(t, commit)
        call: Callable[[], list[EventRecord]] = lambda: self.store.commit(t, commit)  # noqa: E731
        records: list[EventRecord] = self._fenced("commit", t, call, refused)
        self.journal.committed(t, commit, records, self.now)
        self._reply()
        return records

    def delete(self, t: str, token: int, fence: Fence | None = None) -> None:
        """Delete a thread under its claim, and a fence's; whoever does so has seen to its children."""
        refused = self._stale(t, token, fence)
        self._fenced("delete", t, lambda: self.store.delete_thread(t, token, fence), refused)
        assert not self.journal.brood(t), f"{t!r} was deleted before its children {self.journal.brood(t)}"
        del self.held[t]
        self.journal.deleted(t, self.now)
        self._reply()

    def compact(self, t: str, before: int) -> None:
        """Drop the start of a log."""
        self._send("compact", t, lambda: self.store.compact_events(t, before))
        self.journal.compacted(t, before)
        self._reply()

    def read(self, t: str, cursor: int, limit: int) -> list[EventRecord]:
        """Read a log: exactly what the journal has, or exactly its refusal."""
        expected = self.journal.refusal(t, cursor)
        found: list[EventRecord] | EngineError = outcome(self.store.events_after, t, cursor, limit)
        if isinstance(found, EngineError):
            self._note("read", t, type(found).__name__)
            assert found == expected, f"at {cursor}: {found} instead of {expected}"
            raise found
        self._note("read", t, "done")
        assert expected is None, f"at {cursor}: {found} instead of {expected}"
        assert found == self.journal.readable(t, cursor)[:limit]
        return found

    def children(self, parent: str, after: str | None, limit: int) -> list[str]:
        """The children of a thread: exactly those that the journal knows."""
        found = self.store.children(parent, after=after, limit=limit)
        brood = self.journal.brood(parent)
        assert found == brood[brood.index(after) + 1 if after else 0 :][:limit], (parent, found, brood)
        return found

    def advance(self, by: timedelta) -> None:
        """Move the clock."""
        self.subject.clock.advance(by)
        self._note("clock", "", str(by))

    def reopen(self) -> None:
        """Close every store on the storage and open it again."""
        if self.subject.durable:
            self.subject.reopen()
            self._note("reopen", "", "done")

    def _stale(self, t: str, token: int, fence: Fence | None = None) -> StaleClaim | None:
        """What a writer with these tokens must be refused with: its own is looked at first."""
        presented = [(t, token)] if fence is None else [(t, token), (fence.thread_id, fence.token)]
        stale = (StaleClaim(of, its, self.current(of)) for of, its in presented if its != self.current(of))
        return next(stale, None)

    def _going(self, t: str, commit: Commit) -> ThreadDeleted | None:
        """A thread that bears the mark takes no other checkpoint."""
        latest, mark = self.journal.life(t).latest, CheckpointStatus.DELETING
        if commit.checkpoint is None or latest is None or latest.status is not mark:
            return None
        return None if commit.checkpoint.status is mark else ThreadDeleted(t)

    def _fenced(self, verb: str, t: str, call: Callable[[], Any], refused: EngineError | None) -> Any:
        """A call that must be refused with just that, and land where there is nothing to refuse."""
        result = outcome(self._send, verb, t, call)
        if isinstance(result, EngineError):
            assert result == refused, f"{verb} of {t!r} was refused: {result} instead of {refused}"
            raise result
        assert refused is None, f"{verb} of {t!r} landed instead of {refused}"
        return result

    def _send(self, verb: str, t: str, call: Callable[[], Any]) -> Any:
        if self.chance(LOST):
            self._note(verb, t, "request lost")
            raise Lost
        try:
            result = call()
        except EngineError as refused:
            self._note(verb, t, type(refused).__name__)
            raise
        self._note(verb, t, "done")
        return result

    def _reply(self) -> None:
        if self.chance(LOST):
            self.trace.append("  its reply was lost")
            self.seen["reply lost"] += 1
            raise Lost

    def _note(self, verb: str, t: str, result: str) -> None:
        self.seen[f"{verb}: {result}"] += 1
        self.trace.append(f"{verb} {t!r}: {result}")
