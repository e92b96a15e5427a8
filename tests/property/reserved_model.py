"""The rules of tentative rows as plain Python: an exact list of rows, and what each verb makes of it (reserved.md)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.clock import to_ns
from engine.reserved import Confirmation, Outcome, VisibilityTier, Weight

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Slot:
    """A row; `deadline` None: committed."""

    number: int
    name: str
    txn: str | None
    deadline: int | None

    def stored(self) -> tuple[object, ...]:
        """As the table has it."""
        state = "committed" if self.deadline is None else "reserved"
        return self.number, self.name, self.txn, state, self.deadline


class Invalidated(Exception):
    """A competitor was confirmed first."""


class Taken(Exception):
    """A plain row's name is taken by a committed one."""


@dataclass(slots=True)
class ReservedModel:
    """The rows in the order of insertion. `exclusive`: no two committed rows have one name."""

    now: datetime
    exclusive: bool
    rows: list[Slot] = field(default_factory=list)
    next_number: int = 1

    def insert(self, name: str, txn: str | None, deadline: int | None) -> int:
        """Add a row; its number. Taken where a committed one may not have that name."""
        number = self.next_number
        if deadline is None and self.exclusive and name in self._committed_names():
            raise Taken
        self.next_number += 1
        self.rows.append(Slot(number, name, txn, deadline))
        return number

    def confirm(self, txn: str) -> Confirmation:
        """All live rows of the transaction at once, or none."""
        mine = [row for row in self.rows if row.txn == txn]
        live = [row for row in mine if self.is_live(row)]
        if live:
            self._check_names([row.name for row in live])
            self.rows = [replace(row, deadline=None) if row in live else row for row in self.rows]
            return Confirmation(Outcome.CONFIRMED, len(live))
        if any(row.deadline is not None for row in mine):
            return Confirmation(Outcome.EXPIRED, 0)
        if mine:
            return Confirmation(Outcome.ALREADY_CONFIRMED, len(mine))
        return Confirmation(Outcome.GONE, 0)

    def release(self, txn: str) -> int:
        """Reserved rows go."""
        return self._drop(lambda row: row.txn == txn and row.deadline is not None)

    def cancel(self, name: str) -> int:
        """Committed rows of that name go."""
        return self._drop(lambda row: row.name == name and row.deadline is None)

    def sweep(self) -> tuple[int, int]:
        """Lapsed rows go: how many were reserved, how many went."""
        reserved = sum(row.deadline is not None for row in self.rows)
        return reserved, self._drop(lambda row: row.deadline is not None and not self.is_live(row))

    def lapsed(self) -> int:
        """How many a sweep would take."""
        return sum(row.deadline is not None and not self.is_live(row) for row in self.rows)

    def is_live(self, row: Slot) -> bool:
        """Reserved, and its deadline is still to come."""
        return row.deadline is not None and row.deadline > to_ns(self.now)

    def counts(self, row: Slot, tier: VisibilityTier, weight: Weight) -> bool:
        """Whether a read of that tier sees the row."""
        if row.deadline is None:
            return True
        tentative = tier is not VisibilityTier.ANALYTIC and weight is Weight.PESSIMISTIC
        return tentative and self.is_live(row)

    def _committed_names(self) -> list[str]:
        return [row.name for row in self.rows if row.deadline is None]

    def _check_names(self, names: list[str]) -> None:
        if not self.exclusive:
            return
        if len(set(names)) < len(names) or set(names) & set(self._committed_names()):
            raise Invalidated

    def _drop(self, condition: Callable[[Slot], bool]) -> int:
        kept = [row for row in self.rows if not condition(row)]
        gone = len(self.rows) - len(kept)
        self.rows = kept
        return gone
