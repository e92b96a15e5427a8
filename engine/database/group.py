"""Writers of one SQLite store share a transaction, a savepoint each: one wait for the disk for all (design: SQLite).

Whoever comes while nobody leads, leads: once it has the writer lock, it takes along everybody who queues. Those who
come later wait, and when the leader has committed the first of them leads. So nobody waits for company, and a writer
alone pays nothing.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engine.database.statement import begun
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    Transact = Callable[[Callable[[Connection], None], float], object]
    """Runs a verb in a writing transaction, whose lock must be had within so many seconds."""

T = TypeVar("T")
MOST = 64
"""Writers in one transaction."""
LONGEST = 60.0
"""Seconds that a leader may take with the parts it has begun with; after that nobody knows what came of them."""


class Turn(StrEnum):
    """What a writer is told."""

    LEAD = "lead"  # run a transaction, for whoever queues too
    DONE = "done"  # its part is committed, or was refused with `error`
    ALONE = "alone"  # nothing of it was kept: do it in a transaction of its own
    LATE = "late"  # nobody took it along within its patience
    UNKNOWN = "unknown"  # the leader was interrupted about the time of its commit, or never came back


class Ticket(Generic[T]):
    """One writer's verb, and what came of it."""

    __slots__ = ("_told", "deadline", "error", "outcome", "party", "turn", "value", "verb", "verdict")

    value: T

    def __init__(self, verb: Callable[[Connection], T], patience: float) -> None:
        self.verb = verb
        self.deadline = time.monotonic() + patience
        self.error: EngineError | None = None
        self.outcome: Turn | None = None  # of its part of the transaction, before the commit
        self.turn: Turn | None = None
        self.party: list[Ticket[Any]] = []  # whom it leads, itself the first
        self.verdict = Turn.UNKNOWN  # on their transaction
        self._told = threading.Lock()
        self._told.acquire()

    @property
    def left(self) -> float:
        """Seconds of patience."""
        return max(0.0, self.deadline - time.monotonic())

    def tell(self, turn: Turn) -> None:
        """End the writer's wait; the second time as well, should an interrupt have come in between."""
        self.turn = self.turn or turn
        if self._told.locked():
            self._told.release()

    def told(self, seconds: float) -> bool:
        """Wait to be told; False after `seconds`."""
        return self._told.acquire(timeout=seconds)


class Group:
    """The queue of one store's writers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[Ticket[Any]] = deque()
        self._leader: Ticket[Any] | None = None

    def submit(self, ticket: Ticket[Any], transact: Transact) -> Turn:
        """Have the verb run, by whomever: DONE, ALONE, LATE or UNKNOWN. A lone writer's own error is raised."""
        try:
            turn = self._join(ticket)
            return self._lead(ticket, transact) if turn is Turn.LEAD else turn
        except BaseException:
            self._leave(ticket)  # Once more, where the interrupt came in the middle of the first time.
            raise

    def _join(self, ticket: Ticket[Any]) -> Turn:
        with self._lock:
            self._queue.append(ticket)
            if self._leader is None:
                self._leader = ticket
                return Turn.LEAD
        if not ticket.told(ticket.left):
            if self._withdrawn(ticket):
                return Turn.LATE
            ticket.told(LONGEST)  # A leader has begun with this very part, or has just told it to lead.
        return ticket.turn or Turn.UNKNOWN

    def _withdrawn(self, ticket: Ticket[Any]) -> bool:
        with self._lock:
            queued = self._leader is not ticket and ticket in self._queue
            if queued:
                self._queue.remove(ticket)
        return queued

    def _lead(self, leader: Ticket[Any], transact: Transact) -> Turn:
        try:
            transact(lambda connection: self._together(connection, leader.party), leader.left)
            leader.verdict = Turn.DONE
        except Exception:
            leader.verdict = Turn.ALONE
            if len(leader.party) < 2:
                raise
        except BaseException:
            if not all(ticket.outcome for ticket in leader.party):
                leader.verdict = Turn.ALONE
            raise
        finally:
            self._leave(leader)
        return _final(leader, leader.verdict)

    def _together(self, connection: Connection, party: list[Ticket[Any]]) -> None:
        driver = begun(connection)
        self._take_along(party)
        if len(party) == 1:
            party[0].value = party[0].verb(connection)
            party[0].outcome = Turn.DONE
            return
        for ticket in party:
            _seat(driver, connection, ticket)

    def _take_along(self, party: list[Ticket[Any]]) -> None:
        """Everybody who queues by now, the leader first."""
        with self._lock:
            # One step of the interpreter: an interrupt in the middle would leave somebody in neither list.
            party.extend(islice(iter(self._queue.popleft, None), min(MOST, len(self._queue))))

    def _leave(self, leader: Ticket[Any]) -> None:
        """Tell the party, and give up the lead or the place in the queue; the next in the queue leads."""
        with self._lock:
            for companion in leader.party:
                if companion is not leader:
                    companion.tell(_final(companion, leader.verdict))
            if leader in self._queue:
                self._queue.remove(leader)
            if self._leader is leader:
                self._leader = self._queue[0] if self._queue else None
            if self._leader is not None:
                self._leader.tell(Turn.LEAD)


def _seat(driver: Any, connection: Connection, ticket: Ticket[Any]) -> None:
    """Run one writer's part; if it is refused, nothing of it stays."""
    driver.execute("SAVEPOINT seat")
    try:
        ticket.value = ticket.verb(connection)
        ticket.outcome = Turn.DONE
    except EngineError as error:
        driver.execute("ROLLBACK TO seat")
        ticket.error, ticket.outcome = error, Turn.DONE
    except Exception:  # noqa: BLE001 - it happens again in its own transaction, where it is seen and named
        driver.execute("ROLLBACK TO seat")
        ticket.outcome = Turn.ALONE
    driver.execute("RELEASE seat")


def _final(ticket: Ticket[Any], turn: Turn) -> Turn:
    return Turn.ALONE if turn is Turn.DONE and ticket.outcome is Turn.ALONE else turn
