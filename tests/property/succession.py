"""What no call may change between two looks at the tables: invariants that need neither a model nor a journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.property.audit import Tables


class Succession:
    """Takes one look after another, with any calls between them (checkpoints-operations.md 3, checkpoints.md 3)."""

    def __init__(self) -> None:
        self._before: Tables | None = None
        self._used: dict[str, int] = {}

    def look(self, tables: Tables) -> None:
        """AssertionError where something was taken back that never may be."""
        before, self._before = self._before, tables
        for t, row in tables.threads.items():
            self._check_numbers(t, row, before)
        if before is None:
            return
        mark = tables.meta["reclamation_mark"]
        assert mark >= before.meta["reclamation_mark"], "the mark fell"
        for t, old in before.threads.items():
            if old["tomb_first"] is not None:
                _check_tombstone(t, old, tables)
                _check_places(t, before, tables)

    def _check_numbers(self, t: str, row: dict[str, Any], before: Tables | None) -> None:
        """The floor and the next number only rise; another incarnation uses no number that was used before."""
        if row["first_seq"] is None:
            return
        old = before.threads.get(t) if before else None
        if old is not None and old["first_seq"] == row["first_seq"]:
            assert old["floor_seq"] <= row["floor_seq"], f"the floor of {t!r} fell"
            assert old["next_seq"] <= row["next_seq"], f"numbers of {t!r} were taken back"
        else:
            used = self._used.get(t, 0)
            assert row["first_seq"] > used, f"{t!r} numbers from {row['first_seq']}, {used} was used"
        self._used[t] = max(self._used.get(t, 0), row["next_seq"] - 1)


def _check_tombstone(t: str, old: dict[str, Any], tables: Tables) -> None:
    """A tombstone's number only rises, and when it goes the mark is over it."""
    row = tables.threads.get(t)
    if row is None or row["tomb_first"] is None:
        mark = tables.meta["reclamation_mark"]
        assert mark >= old["tomb_first"], f"the tombstone of {t!r} went and the mark is {mark}"
        return
    assert row["tomb_first"] >= old["tomb_first"], f"the tombstone of {t!r} went back"


def _check_places(t: str, before: Tables, tables: Tables) -> None:
    """Under one and the same tombstone no place moves and none goes."""
    row = tables.threads.get(t)
    if row is None or row["tomb_first"] != before.threads[t]["tomb_first"]:
        return
    had, has = (
        {(each["parent_id"], each["position"]) for each in looked.of("child_place", t)}
        for looked in (before, tables)
    )
    assert had <= has, f"the places of {t!r} were {had} and are {has}"
