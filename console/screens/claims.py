"""The claims of the store: live ones, those that are over and were not released, or by holder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from console import filters
from console.actions import Place, bindings
from console.lists import questions
from console.screens.changing import ChangingPage

if TYPE_CHECKING:
    from textual.binding import BindingType

    from console.lists.view import Question


class ClaimsScreen(ChangingPage):
    """Who holds what, and whether that can be taken from him (console.md F9)."""

    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.CLAIMS,
        Place.CLAIMED,
        Place.AUDITED,
        Place.TOLD,
        Place.OWNED,
        Place.MARKED,
        Place.FILTERED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "claims"
    PANE: ClassVar[str] = "-four-lines"
    FIELDS: ClassVar[tuple[str, ...]] = filters.CLAIM_FIELDS

    def question(self, text: str) -> Question[Any]:
        """Claims or their holders; raises FilterError."""
        return questions.of_claims(text)
