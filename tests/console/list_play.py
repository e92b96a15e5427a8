"""A list model played at random against a store that changes, and what an operator sees of it (console.md F2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from console.widgets.aim import Chosen
from console.widgets.picking import Picking

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from console.widgets.aim import Targets

LIMIT = 30
"""Rows of one answer."""
SCREEN = 12
"""Rows on the screen."""


class Item(NamedTuple):
    """A row: the store lists those with the largest value first."""

    id: str
    value: int


@dataclass(frozen=True)
class Seen:
    """What stood on the screen: the ids in their lines, the one under the cursor, those with a star."""

    ids: tuple[str, ...] = ()
    cursor: str | None = None
    starred: frozenset[str] = frozenset()


@dataclass
class Play:
    """Each method is one step. What the operator saw is kept apart from what the model says he did."""

    chance: Random
    items: dict[str, int] = field(default_factory=dict)
    window: Picking[Item] = field(default_factory=lambda: Picking(lambda item: item.id))
    top: int = 0
    made: int = 0
    seen: Seen = Seen()
    keyed: bool = True
    steered: bool = True
    acted: int = 0
    refused: int = 0

    # The store

    def insert(self) -> None:
        """A new row, anywhere in the order."""
        self.made += 1
        self.items[f"id{self.made}"] = self.chance.randrange(1000)

    def delete(self) -> None:
        """A row goes."""
        if self.items:
            del self.items[self.chance.choice(list(self.items))]

    def update(self) -> None:
        """A row moves to the top, as a thread does that was written to."""
        if self.items:
            self.items[self.chance.choice(list(self.items))] = self.chance.randrange(900, 1100)

    def answer(self) -> list[Item]:
        """What the store says of the stretch that the window stands at."""
        rows = sorted((Item(*each) for each in self.items.items()), key=lambda row: (-row.value, row.id))
        return rows[self.top : self.top + LIMIT]

    def refresh(self) -> None:
        """The same stretch anew: neither what is marked nor the cursor's id changes, nor the order while marked."""
        window, rows = self.window, self.answer()
        cursor, marks = window.current_id if window.pinned else None, list(window.marks)
        still = self.shown if window.marks.holding and window.rows else None
        window.replace(rows)
        assert cursor is None or window.current_id == cursor
        assert list(window.marks) == marks
        assert still is None or self.shown == still

    def turn(self) -> None:
        """Another stretch; rows that stay stand in the same order to each other while anything is marked."""
        self.top = self.chance.choice([0, 5, 10])
        before, holding = self.shown, self.window.marks.holding
        self.window.turn(self.answer())
        if holding and not self.window.only_marked:
            kept = [each for each in before if each in self.shown]
            assert [each for each in self.shown if each in before] == kept

    # The operator

    def key(self) -> None:
        """One key: anything that a list answers to."""
        verbs: list[Callable[[], object]] = [
            lambda: self.window.step(self.chance.choice([-SCREEN, -1, -1, 1, 1, 1, SCREEN])),
            lambda: self.window.go(self.chance.choice([0, len(self.window)])),
            self.window.rest,
            self.mark,
            self.mark,
            self.ranged,
            self.only_marked,
            self.window.drop_marks if self.chance.random() < 0.2 else self.window.drop_range,
        ]
        before = self.state
        self.chance.choice(verbs)()
        self.keyed = True
        self.steered = self.steered or self.state != before

    @property
    def state(self) -> tuple[object, ...]:
        """What keys change."""
        marks = self.window.marks
        return self.window.current_id, tuple(marks), marks.anchor, self.window.only_marked

    def mark(self) -> None:
        """Space: whatever it marks was under the cursor that the operator saw, or that he has moved himself."""
        before = set(self.window.marks)
        under, fresh = self.window.current_id, self.window.target
        taken = self.window.mark()
        changed = before ^ set(self.window.marks)
        assert changed == ({under} if taken else set())
        assert not taken or under == fresh

    def ranged(self) -> None:
        """V."""
        if self.window.marks.anchor is None:
            self.window.open_range()
        else:
            wanted = {
                self.window.id_at(index) for index in self.window.ranged if not self.window.is_ghost(index)
            }
            before = set(self.window.marks)
            self.window.close_range()
            assert set(self.window.marks) == before | wanted

    def only_marked(self) -> None:
        """M."""
        if self.window.only_marked:
            self.window.show_all()
        elif self.window.marks:
            self.window.show_only_marked()

    # The screen

    @property
    def shown(self) -> list[str]:
        """The ids of the list."""
        return [row.id for row in self.window.rows]

    def draw(self) -> None:
        """A frame: the operator sees what the list is now."""
        window = self.window
        starred = frozenset(window.id_at(index) for index in range(len(window)) if window.is_marked(index))
        self.seen = Seen(tuple(self.shown), window.current_id, starred)
        self.keyed = self.steered = False
        window.drawn()

    def act(self) -> None:
        """A change verb asks: it gets ids of the last frame and no others, or a refusal that says why."""
        self.judge(self.window.targets())

    def judge(self, targets: Targets) -> None:
        """Compare an answer with what the operator saw."""
        marks = set(self.window.marks)
        if isinstance(targets, Chosen):
            self.acted += 1
            assert not self.steered
            assert targets.marked == bool(marks)
            if targets.marked:
                assert set(targets.ids) == marks <= self.seen.starred
            else:
                assert targets.ids == (self.seen.cursor,)
            return
        self.refused += 1
        assert targets.reason
        assert set(targets.hidden) <= marks - self.seen.starred
        excuse = (
            self.keyed or self.window.marks.anchor or marks - self.seen.starred or self.seen.cursor is None
        )
        assert excuse, "what was seen as it is must not be refused"

    def check(self) -> None:
        """Ids are unique, the cursor lies inside, and what the window says of itself is so."""
        window = self.window
        assert len(set(self.shown)) == len(self.shown)
        assert -1 <= window.cursor < max(len(window), 1)
        assert (window.cursor == -1) == (len(window) == 0)
        assert window.marks_shown == len(set(self.shown) & set(window.marks))
        assert not window.only_marked or window.marks
        # A list that is held keeps its rows and the one under the cursor, and takes in an answer at a time.
        assert len(window) <= max(2 * LIMIT + 1, len(window.marks))
