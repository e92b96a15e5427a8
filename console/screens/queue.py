"""The run queue of the store: open entries, or those of one state or thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from console import filters
from console.actions import Place, bindings
from console.lists import questions
from console.screens.listed import ListedPage

if TYPE_CHECKING:
    from textual.binding import BindingType

    from console.lists.view import Question


class QueueScreen(ListedPage):
    """Which runs are wanted, and what became of their attempts."""

    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.QUEUE,
        Place.TOLD,
        Place.OWNED,
        Place.MARKED,
        Place.FILTERED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "queue"
    PANE: ClassVar[str] = "-four-lines"
    FIELDS: ClassVar[tuple[str, ...]] = filters.QUEUE_FIELDS

    def question(self, text: str) -> Question[Any]:
        """Entries of the run queue; raises FilterError."""
        return questions.of_queue(text)
