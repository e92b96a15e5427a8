"""What a preview gathers: items in order, rows that do not apply, blockers and warnings, each list bounded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from engine.clock import from_ns
from engine.desk.plans.model import MOST_NOTES, Item, NotApplicable, Preview

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.desk.audit.model import Deed
    from engine.desk.plans.budget import Budget
    from engine.desk.plans.model import ItemKind, Totals

MOST_SAID: Final = 20
"""Blockers and warnings that are told one by one; of more there is the number."""


class Draft:
    """A plan in the making; `budget` bounds what it may hold."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._items: list[Item] = []
        self._apart: list[NotApplicable] = []
        self._apart_count = 0
        self._blockers = Said()
        self._warnings = Said()

    @property
    def items(self) -> tuple[Item, ...]:
        """Those found so far."""
        return tuple(self._items)

    def add(self, kind: ItemKind, object_id: str, guard: Mapping[str, Any], note: Mapping[str, Any]) -> None:
        """One more item, the next in order."""
        self._items.append(Item(len(self._items) + 1, kind, object_id, guard, note))
        self._budget.check(len(self._items))

    def apart(self, object_id: str, reason: str) -> None:
        """A row that was asked for and cannot be changed this way."""
        self._apart_count += 1
        if len(self._apart) < MOST_NOTES:
            self._apart.append(NotApplicable(object_id, reason))

    def apart_all(self, object_ids: Sequence[str], reason: str, number: int) -> None:
        """The first of `number` such rows."""
        for object_id in object_ids:
            self.apart(object_id, reason)
        self._apart_count += number - len(object_ids)

    def block(self, text: str) -> None:
        """What keeps the whole plan from being executed."""
        self._blockers.add(text)

    def warn(self, text: str) -> None:
        """What a person should know before."""
        self._warnings.add(text)

    def preview(
        self, deed: Deed, environment: str, params: Mapping[str, Any], at: int, totals: Totals
    ) -> Preview:
        """All of it; `at` (ns) is the moment that it speaks of, `totals` what the caller knows of them."""
        whole = replace(
            totals,
            blockers=self._blockers.all("blockers"),
            warnings=self._warnings.all("warnings"),
            not_applicable=tuple(self._apart),
            not_applicable_count=self._apart_count,
            seconds=estimate(len(self._items), totals.rows),
        )
        return Preview(deed, environment, params, self.items, whole, from_ns(at))


class Said:
    """Sentences, the first of them word by word."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._more = 0

    def add(self, text: str) -> None:
        """One more."""
        if len(self._first) < MOST_SAID:
            self._first.append(text)
        else:
            self._more += 1

    def all(self, what: str) -> tuple[str, ...]:
        """Them all, the last one saying how many there are besides."""
        more = (f"and {self._more} more {what}",) if self._more else ()
        return (*self._first, *more)


def estimate(items: int, rows: int) -> tuple[float, float]:
    """Seconds, least and most: a transaction an item, and the rows at a fast and at a slow disk's pace."""
    least = items * 0.002 + rows / 50_000
    most = items * 0.02 + rows / 2_000
    return round(least, 3), round(most, 3)


def dollars(micro: int) -> str:
    """An amount exactly, with its six decimals and without its unit."""
    whole, rest = divmod(micro, 1_000_000)
    return f"{whole}.{rest:06d}"
