"""The list model: rows known by id, a cursor that belongs to an id, and the ghosts of rows that went away.

Pure data, no widget: `Listing` draws it, and the tests drive it with random steps (console.md F2). Until the
operator moves, the cursor rests at one end of the list - the top of a list that is newest first, the bottom
of a tail. From the first move on it belongs to the id it stands on, wherever a refresh puts that row. If a
refresh does not bring the row back, its last known form stays in its place as a ghost until the operator
moves on.

While anything is marked the list keeps still: a refresh renews the rows that are shown, leaves a ghost for each
that is gone, and holds new ones back.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Generic

from console.model import Row
from console.widgets.marks import Marks
from console.widgets.sight import Sight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from console.widgets.aim import Targets


class Rest(StrEnum):
    """Where the cursor lies while the operator has not moved it."""

    TOP = "top"
    BOTTOM = "bottom"


class Window(Generic[Row]):
    """Rows and a cursor. Indexes are positions in `rows`; `cursor` is -1 only while there are no rows.

    `held_back` is how many rows of the store's answer wait for the marks to be dropped.
    """

    def __init__(
        self, key: Callable[[Row], str], rest: Rest = Rest.TOP, marks: Marks[Row] | None = None
    ) -> None:
        self._key = key
        self._rest = rest
        self._pinned: str | None = None
        self._ghosts: frozenset[str] = frozenset()
        self._places: dict[str, int] = {}
        self._answer: dict[str, Row] = {}
        self._arranged: Callable[[Sequence[Row]], Sequence[Row]] = tuple
        self._sight = Sight()
        self.marks: Marks[Row] = Marks() if marks is None else marks
        self.only_marked = False
        self.held_back = 0
        self.rows: tuple[Row, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def pinned(self) -> bool:
        """Whether the cursor belongs to a row the operator chose."""
        return self._pinned is not None

    @property
    def cursor(self) -> int:
        """The index under the cursor."""
        if self._pinned is not None:
            return self._places[self._pinned]
        return len(self.rows) - 1 if self._rest is Rest.BOTTOM else min(0, len(self.rows) - 1)

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    @property
    def current_id(self) -> str | None:
        """The id under the cursor."""
        row = self.current
        return None if row is None else self._key(row)

    def id_at(self, index: int) -> str:
        """The id of the row at an index."""
        return self._key(self.rows[index])

    def is_ghost(self, index: int) -> bool:
        """Whether the row at an index is no longer in the store's answer."""
        return self.id_at(index) in self._ghosts

    @property
    def pushed(self) -> int:
        """How many of the rows held back stand before one that is shown: so many more must be asked for."""
        answer = list(self._answer)
        last = max((place for place, each in enumerate(answer) if each in self._places), default=0)
        return 0 if self.only_marked else sum(row_id not in self._places for row_id in answer[:last])

    def find(self, wanted: Callable[[Row], bool]) -> int | None:
        """The first index whose row is wanted."""
        return next((index for index, row in enumerate(self.rows) if wanted(row)), None)

    # What the store answers

    def replace(self, rows: Sequence[Row]) -> None:
        """Take a fresh answer: the first of two rows with one id counts, and the cursor stays with its id."""
        self._take(rows, self._keep_still)

    def turn(self, rows: Sequence[Row]) -> None:
        """Take the answer for another stretch of the store: of what is not in it only the row under the cursor
        leaves a ghost.
        """
        self._take(rows, self._keep_order)

    def clear(self) -> None:
        """Forget the rows: the list now answers another question. Marks stay."""
        self._pinned = self.marks.anchor = None
        self._answer = {}
        self.only_marked = False
        self._hold((), ())
        self._sight = Sight()

    def arrange(self, order: Callable[[Sequence[Row]], Sequence[Row]]) -> None:
        """Show the rows in another order from now on."""
        self._arranged = order
        self._sight.told()
        if not self.only_marked:
            self._show_answer()
        self._steered()

    def _take(self, rows: Sequence[Row], holding: Callable[[], None]) -> None:
        answer: dict[str, Row] = {}
        for row in rows:
            answer.setdefault(self._key(row), row)
        self._answer = answer
        self.marks.renew(answer)
        self._sight.told()
        if self.only_marked:
            self._show_marked()
        elif self.marks.holding and self.rows:
            holding()
        else:
            self._show_answer()

    def _show_answer(self) -> None:
        """All rows of the answer, in order; the row under the cursor as a ghost if it is not among them."""
        shown, ghosts = list(self._arranged(tuple(self._answer.values()))), frozenset[str]()
        if self._pinned is not None and self._pinned not in self._answer:
            place = self._places[self._pinned]
            shown.insert(min(place, len(shown)), self.rows[place])
            ghosts = frozenset({self._pinned})
        self._hold(shown, ghosts)

    def _show_marked(self) -> None:
        if self._pinned is not None and self._pinned not in self.marks:
            self._pinned = None
        self._hold(self.marks.rows(), (row_id for row_id in self.marks if row_id not in self._answer))

    def _keep_still(self) -> None:
        """The rows that are shown, as they are now; those that are gone as ghosts."""
        gone = [row_id for row_id in self._places if row_id not in self._answer]
        self._hold([self._known(row_id) for row_id in self._places], gone)

    def _keep_order(self) -> None:
        """The rows that are still in the answer as they stood, and the new ones before and behind them."""
        answer = list(self._answer)
        kept = [row_id for row_id in self._places if row_id in self._answer or row_id == self._pinned]
        first = next((place for place, each in enumerate(answer) if each in self._places), len(answer))
        behind = [row_id for row_id in answer[first:] if row_id not in self._places]
        ghosts = [row_id for row_id in kept if row_id not in self._answer]
        self._hold([self._known(row_id) for row_id in (*answer[:first], *kept, *behind)], ghosts)

    # What the operator does

    def step(self, count: int) -> None:
        """Move the cursor by so many rows, stopping at the ends; ghosts are left behind for good."""
        if self.rows:
            self.go(self.cursor + count)

    def go(self, index: int) -> None:
        """Move the cursor to an index, stopping at the ends."""
        if not self.rows:
            return
        goal = self.id_at(max(0, min(index, len(self.rows) - 1)))
        if goal != self.current_id or goal not in self._ghosts:
            goal = self._bury(goal)
        self._pinned = goal or None
        self._steered()

    def rest(self) -> None:
        """Give the cursor back to its end of the list."""
        self._pinned = None
        self._bury("")
        self._steered()

    def _bury(self, goal: str) -> str:
        """Drop the ghosts; the id that `goal` leads to then: itself, or the row before one that was a ghost."""
        if not self._ghosts or self.only_marked:
            return goal
        place, ids = self._places.get(goal, 0), list(self._places)
        nearest = next((each for each in (*ids[place::-1], *ids[place:]) if each not in self._ghosts), "")
        self._pinned = None
        self._hold([row for row in self.rows if self._key(row) not in self._ghosts], ())
        return nearest

    # What was drawn

    def drawn(self, top: int = 0, count: int | None = None) -> None:
        """The list as it is now is on the screen, `count` rows of it from `top` on."""
        if self._sight.outdated:
            bottom = len(self.rows) if count is None else top + count
            in_view = self.current_id if top <= self.cursor < bottom else None
            self._sight.drawn(in_view, (row_id for row_id in self.marks if row_id in self._places))

    @property
    def target(self) -> str | None:
        """The id that the operator means; None where he cannot have seen it."""
        return self._sight.target

    def targets(self) -> Targets:
        """The ids that an action which changes things may work on, or why it may not; see `Sight.targets`."""
        return self._sight.targets(self.marks)

    def _steered(self) -> None:
        self._sight.steered(self.current_id)

    def _known(self, row_id: str) -> Row:
        """The newest form of a row that is shown or in the answer."""
        return self._answer[row_id] if row_id in self._answer else self.rows[self._places[row_id]]

    def _hold(self, rows: Sequence[Row], ghosts: Iterable[str]) -> None:
        self.rows = tuple(rows)
        self._places = {self._key(row): index for index, row in enumerate(self.rows)}
        self._ghosts = frozenset(ghosts)
        missing = sum(row_id not in self._places for row_id in self._answer)
        self.held_back = 0 if self.only_marked else missing
