"""The fenced reservations of the store: what no default may settle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from console import money_filters
from console.actions import Place, bindings
from console.lists import questions
from console.screens.resolving import DecidingPage

if TYPE_CHECKING:
    from textual.binding import BindingType

    from console.lists.view import Question


class FencesScreen(DecidingPage):
    """What waits for a resolver or a person."""

    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.FENCES,
        Place.DUE,
        Place.DECIDED,
        Place.AUDITED,
        Place.TOLD,
        Place.OWNED,
        Place.MARKED,
        Place.FILTERED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "fences"
    PANE: ClassVar[str] = "-six-lines"
    FIELDS: ClassVar[tuple[str, ...]] = money_filters.FENCE_FIELDS

    def question(self, text: str) -> Question[Any]:
        """Fenced reservations; raises FilterError."""
        return questions.of_fences(text)
