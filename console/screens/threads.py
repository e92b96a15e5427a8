"""The threads of the store: all, those that stopped half-way, claimed ids without a checkpoint, tombstones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from console import filters
from console.actions import Place, bindings
from console.lists import questions
from console.screens.changing import ChangingPage

if TYPE_CHECKING:
    from textual.binding import BindingType

    from console.lists.view import Question


class ThreadsScreen(ChangingPage):
    """The lists of what threads there are and were."""

    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.THREADS,
        Place.DELETABLE,
        Place.CLAIMED,
        Place.SWEPT,
        Place.AUDITED,
        Place.TOLD,
        Place.OWNED,
        Place.MARKED,
        Place.FILTERED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "threads"
    FIELDS: ClassVar[tuple[str, ...]] = filters.THREAD_FIELDS

    def question(self, text: str) -> Question[Any]:
        """One of the threads' lists; raises FilterError."""
        return questions.of_threads(text)
