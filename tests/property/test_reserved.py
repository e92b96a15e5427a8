"""Tentative rows behave as their rules say, whatever the order of calls, on every storage."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import case, delete, insert, select
from sqlalchemy.exc import IntegrityError

from engine.errors import ReservationInvalidated
from engine.reserved import (
    VisibilityTier,
    Weight,
    confirm,
    deadline,
    predicate_for,
    release,
    reserve_values,
)
from tests.property.reserved_model import Invalidated, ReservedModel, Taken
from tests.support.builders import STEP
from tests.support.slots import MINUTE, SECOND, Slots, counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.harness import Harness

NAME = st.sampled_from(("room-1", "room-2", "room-3"))
TXN = st.sampled_from(("txn-A", "txn-B", "txn-C"))
TTL = st.sampled_from((MINUTE, SECOND, STEP, timedelta(0), -SECOND))
JUMP = st.sampled_from((STEP, SECOND, MINUTE, -SECOND))
BATCH = st.sampled_from((1, 2, 1000))
READS = [(tier, weight) for tier in VisibilityTier for weight in Weight]
AT_LEAST = (
    "confirm: confirmed",
    "confirm: already-confirmed",
    "confirm: expired",
    "confirm: gone",
    "release: some",
    "sweep: some",
)
"""What a run of this size must have come across to have tested anything."""


class Tentative(RuleBasedStateMachine):
    """Insert, reserve, confirm, release, sweep and roll back, in any order; the table equals the model throughout.

    That no lapsed row is ever confirmed is the model's rule, and so the table's.
    """

    slots: Slots
    """Set by the test that runs the machine, as are the others."""
    exclusive: bool
    seen: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        with self.slots.begin() as connection:
            connection.execute(delete(self.slots.table))
        self.model = ReservedModel(self.slots.now(), self.exclusive)

    @rule(name=NAME)
    def plain(self, name: str) -> None:
        """A writer that knows nothing of the convention makes a committed row."""
        self._insert(name, None, None, {})

    @rule(name=NAME, txn=TXN, ttl=TTL)
    def reserve(self, name: str, txn: str, ttl: timedelta) -> None:
        """A tentative row, or one that has lapsed already."""
        due = deadline(self.slots.now(), ttl)
        self._insert(name, txn, due, reserve_values(txn, due))

    @rule(txn=TXN)
    def confirm(self, txn: str) -> None:
        """All live rows of the transaction, or the reason why none."""
        expected = _outcome(lambda: self.model.confirm(txn))
        actual = _outcome(lambda: self.slots.confirm(txn))
        assert actual == expected, (expected, actual)
        self.seen[f"confirm: {getattr(actual, 'outcome', actual)}"] += 1

    @rule(txn=TXN)
    def confirm_and_roll_back(self, txn: str) -> None:
        """A transaction that ends badly has confirmed and released nothing."""
        expected = _outcome(lambda: self._copy().confirm(txn))
        with self.slots.engine.connect() as connection:
            actual = _outcome(lambda: confirm(connection, self.slots.table, txn, self.slots.now()))
            release(connection, self.slots.table, txn)
            connection.rollback()
        assert actual == expected, (expected, actual)

    @rule(txn=TXN)
    def release(self, txn: str) -> None:
        """Reserved rows go, live or lapsed."""
        gone = self.model.release(txn)
        assert self.slots.release(txn) == gone
        self.seen[f"release: {'some' if gone else 'none'}"] += 1

    @rule(batch=BATCH)
    def sweep(self, batch: int) -> None:
        """A dry run says what the sweep then does."""
        would = counts(self.slots.sweep(dry_run=True))
        lapsed = self.model.lapsed()
        examined, collected = self.model.sweep()
        assert would == (examined, lapsed, 0)
        assert counts(self.slots.sweep(batch=batch)) == (examined, collected, 0)
        self.seen[f"sweep: {'some' if collected else 'none'}"] += 1

    @rule(name=NAME)
    def cancel(self, name: str) -> None:
        """The participant takes its own committed rows back, as is its business."""
        table = self.slots.table
        with self.slots.begin() as connection:
            mine = (table.c.name == name, table.c.state == "committed")
            gone = connection.execute(delete(table).where(*mine)).rowcount
        assert gone == self.model.cancel(name)

    @rule(name=NAME, txn=TXN)
    def book(self, name: str, txn: str) -> None:
        """A room of its own, confirmed twice: the second time there is nothing left to do."""
        self.release(txn)
        self.cancel(name)
        self.reserve(name, txn, MINUTE)
        for _ in range(2):
            self.confirm(txn)
        self.agrees()

    @rule(name=NAME, txns=st.permutations(("txn-A", "txn-B", "txn-C")))
    def compete(self, name: str, txns: list[str]) -> None:
        """Each wants the room; who comes late and may not have it gives back."""
        for txn in txns:
            self.reserve(name, txn, MINUTE)
        for txn in txns:
            self.confirm(txn)
            self.release(txn)

    @rule(name=NAME, txn=TXN, short=st.booleans(), batch=BATCH)
    def lapse(self, name: str, txn: str, short: bool, batch: int) -> None:
        """One step before the deadline, or at it; then what lapsed is swept."""
        self.reserve(name, txn, SECOND)
        self.advance(SECOND - STEP * short)
        self.confirm(txn)
        self.agrees()
        self.sweep(batch)

    @rule(by=JUMP)
    def advance(self, by: timedelta) -> None:
        """Time passes, or the clock is set back a little."""
        self.slots.clock.advance(by)
        self.model.now = self.slots.now()

    @invariant()
    def agrees(self) -> None:
        """Every row, and which reads see it, in one statement."""
        c = self.slots.table.c
        now = self.slots.now()
        reads = [case((predicate_for(self.slots.table, *read, now), 1), else_=0) for read in READS]
        columns = (c.slot_id, c.name, c.txn_id, c.state, c.reserve_deadline, *reads)
        with self.slots.begin() as connection:
            found = [tuple(row) for row in connection.execute(select(*columns).order_by(c.slot_id))]
        expected = [
            (*row.stored(), *(int(self.model.counts(row, *read)) for read in READS))
            for row in self.model.rows
        ]
        assert found == expected, f"\n  the rules say {expected}\n  the table has {found}"

    def _insert(self, name: str, txn: str | None, due: int | None, values: dict[str, Any]) -> None:
        expected = _outcome(lambda: self.model.insert(name, txn, due))
        number = expected if isinstance(expected, int) else self.model.next_number
        whole = {"slot_id": number, "name": name, **values}

        def add() -> int:
            with self.slots.begin() as connection:
                connection.execute(insert(self.slots.table).values(whole))
            return number

        assert _outcome(add) == expected

    def _copy(self) -> ReservedModel:
        return ReservedModel(self.model.now, self.exclusive, list(self.model.rows))


def _outcome(call: Callable[[], Any]) -> Any:
    """What the call answered, or the word for its refusal; anything else is a defect and passes through."""
    try:
        return call()
    except (ReservationInvalidated, Invalidated):
        return "invalidated"
    except (IntegrityError, Taken):
        return "taken"


def drive(slots: Slots, times: float, *, exclusive: bool) -> None:
    """Run the machine over the table, so many times the profile's runs."""
    seen: Counter[str] = Counter()
    kind = type("Tentative", (Tentative,), {"slots": slots, "exclusive": exclusive, "seen": seen})
    usual = settings()
    run_state_machine_as_test(
        kind,
        settings=settings(
            max_examples=int(usual.max_examples * times), stateful_step_count=usual.stateful_step_count // 2
        ),
    )
    wanted = (*AT_LEAST, "confirm: invalidated") if exclusive else AT_LEAST
    missing = [what for what in wanted if not seen[what]]
    assert not missing, f"never happened: {missing} among {seen}"


def test_tentative_rows_on_a_participants_engine(harness: Harness) -> None:
    engine = harness._storage.engine(harness.url)
    drive(Slots(harness, engine), 1, exclusive=False)
    engine.dispose()


def test_tentative_rows_on_a_stores_engine(harness: Harness) -> None:
    drive(Slots(harness, harness.store.engine, exclusive=True), 1, exclusive=True)
