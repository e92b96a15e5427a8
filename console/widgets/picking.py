"""A window in which rows are marked: one by one, or from one row to another (console.md F2)."""

from __future__ import annotations

from console.model import Row
from console.widgets.window import Window


class Picking(Window[Row]):
    """The verbs of marking. Only a row that the operator has seen is ever marked."""

    def is_marked(self, index: int) -> bool:
        """Whether the row at an index is marked."""
        return self.id_at(index) in self.marks

    @property
    def ranged(self) -> range:
        """The indexes of the range that is being marked; empty while none is, or its beginning is out of the list."""
        anchor = self._places.get(self.marks.anchor or "")
        if anchor is None:
            return range(0)
        return range(min(anchor, self.cursor), max(anchor, self.cursor) + 1)

    @property
    def marks_shown(self) -> int:
        """How many of the marks are among the rows."""
        return sum(row_id in self._places for row_id in self.marks)

    @property
    def pointed(self) -> str | None:
        """The id under the cursor, if the operator has seen it there and it is no ghost."""
        seen = self.target is not None and self.target == self.current_id
        return self.target if seen and self.target not in self._ghosts else None

    def mark(self) -> bool:
        """Mark the row that the operator means, or take its mark away, and move on; False where he can mean none:
        he has not seen it, it is gone, or there are too many marks.
        """
        if self.target is not None and self.target == self.current_id and self.target in self.marks:
            self._unmark(self.target)
            return True
        if self.pointed is None or not self.marks.room:
            return False
        self.marks.add(self.pointed, self.rows[self.cursor])
        self.step(1)
        return True

    def _unmark(self, row_id: str) -> None:
        below = self.cursor + 1
        following = self.id_at(below if below < len(self.rows) else max(below - 2, 0))
        self.marks.drop(row_id)
        if self.only_marked:
            self._pinned = following if following in self.marks else None
        else:
            self.step(1)
        self._thaw()

    def open_range(self) -> bool:
        """Begin a range at the row that the operator means; False where he can mean none."""
        if self.pointed is None:
            return False
        self.marks.anchor = self._pinned = self.pointed
        self._steered()
        return True

    def close_range(self) -> int:
        """Mark the rows of the open range; how many marks that made. A ghost is not marked."""
        before = len(self.marks)
        for index in self.ranged:
            if self.marks.room and not self.is_ghost(index):
                self.marks.add(self.id_at(index), self.rows[index])
        self.drop_range()
        return len(self.marks) - before

    def drop_range(self) -> None:
        """Give the open range up."""
        self.marks.anchor = None
        self._thaw()

    def drop_marks(self) -> None:
        """Nothing is marked any more, and the list moves again."""
        self.marks.clear()
        self._thaw()

    def show_only_marked(self) -> None:
        """Show the marked rows and no others, in the order in which they were marked."""
        self.only_marked = True
        self._sight.told()
        self._show_marked()
        self._steered()

    def show_all(self) -> None:
        """Show the store's answer again."""
        self.only_marked = False
        if self._pinned not in self._answer:
            self._pinned = None
        self._sight.told()
        self._show_answer()
        self._steered()

    def _thaw(self) -> None:
        """There may be fewer marks: once there is none the list is the store's answer again."""
        if self.only_marked and not self.marks:
            self.show_all()
            return
        if self.only_marked:
            self._show_marked()
        elif not self.marks.holding:
            self._sight.told()
            self._show_answer()
        self._steered()
