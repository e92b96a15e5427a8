"""Where a paged list stands in the store: which cursor its window begins after, and how many pages it holds.

A window is everything after one cursor, up to `WINDOW` rows. Cursors at the page borders are kept as they are
met, so going back needs no OFFSET.
"""

from __future__ import annotations

from typing import Final

PAGE: Final = 100
"""Rows that one step down adds."""
QUERY: Final = 200
"""Rows that one query of the store gives at most (console.md F6)."""
WINDOW: Final = 500
"""Rows that a list holds at once."""
_MOST_PAGES: Final = WINDOW // PAGE
BORDERS_LIMIT: Final = 10_000
"""Page borders that are remembered: a million rows deep."""


class Pager:
    """`after` and `limit` are the next query's; `offset` is how many rows lie above the window."""

    def __init__(self) -> None:
        self._borders: list[str | None] = [None]
        self._top = 0
        self._pages = 1
        self._more = False
        self._moving = False

    @property
    def after(self) -> str | None:
        """The cursor that the window begins after; None at the top."""
        return self._borders[self._top]

    @property
    def limit(self) -> int:
        """Rows to ask for."""
        return self._pages * PAGE

    @property
    def offset(self) -> int:
        """Rows above the window."""
        return self._top * PAGE

    @property
    def more(self) -> bool:
        """Whether there were rows after the window."""
        return self._more

    def landed(self, following: str | None) -> None:
        """An answer came; `following` is its `next`."""
        self._moving = False
        self._more = following is not None and len(self._borders) < BORDERS_LIMIT
        if following is not None:
            del self._borders[self._top + self._pages :]
            self._borders.append(following)

    def down(self) -> bool:
        """Take in the next page; False while nothing is to be gained by asking."""
        if self._moving or not self._more:
            return False
        if self._pages < _MOST_PAGES:
            self._pages += 1
        else:
            self._top += 1
        self._moving = True
        return True

    def up(self) -> bool:
        """Take in the page before; False at the top."""
        if self._moving or self._top == 0:
            return False
        self._top -= 1
        self._moving = True
        return True

    def home(self) -> bool:
        """Back to the top; False if it is there."""
        away = self._top > 0
        self._top, self._pages, self._moving = 0, 1, False
        return away
