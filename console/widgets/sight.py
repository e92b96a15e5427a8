"""What an operator has seen of a list: the frame on the screen, and whether list and keys have gone on since.

An action gets the ids of that frame, whatever a refresh has brought meanwhile (console.md F2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from console.widgets import aim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from console.widgets.aim import Targets
    from console.widgets.marks import Marks


@dataclass(frozen=True, slots=True)
class Frame:
    """What was on the screen: the id under the cursor, and the marked ids among the rows of the list."""

    cursor: str | None = None
    marked: frozenset[str] = frozenset()


class Sight:
    """`target` is the id that the operator means: the one drawn under the cursor, or the one that his own key has
    moved to since, among rows that were drawn; None where he cannot have seen it.
    """

    def __init__(self) -> None:
        self._frame = Frame()
        self._news = self._moved = True
        self.target: str | None = None
        self.outdated = True

    def told(self) -> None:
        """The rows are others than those that were drawn."""
        self.outdated = self._news = True

    def steered(self, current: str | None) -> None:
        """The operator's key has done something, and `current` is under the cursor now."""
        self.outdated = self._moved = True
        if not self._news:
            self.target = current
        elif self.target != current:
            self.target = None

    def drawn(self, cursor: str | None, marked: Iterable[str]) -> None:
        """The list is on the screen; `cursor` is None where its row is out of view."""
        self.outdated = self._news = self._moved = False
        self.target = cursor
        self._frame = Frame(cursor, frozenset(marked))

    def targets(self, marks: Marks[Any]) -> Targets:
        """What an action that changes things may work on: what was marked and in the list, or else under the cursor,
        in the frame on the screen; a refusal where the operator's keys have gone on since.
        """
        if marks.anchor is not None:
            return aim.RANGE_OPEN
        if self._moved:
            return aim.NOT_DRAWN
        if not marks:
            return aim.NOTHING if self._frame.cursor is None else aim.Chosen((self._frame.cursor,))
        hidden = [row_id for row_id in marks if row_id not in self._frame.marked]
        return aim.hidden_marks(hidden, len(marks)) if hidden else aim.Chosen(tuple(marks), marked=True)
