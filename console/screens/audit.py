"""What operators did to this store, newest first; or to one object, by one actor, or never told to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from console import audit_filters
from console.actions import Place, bindings
from console.lists import questions
from console.screens.listed import ListedPage

if TYPE_CHECKING:
    from textual.binding import BindingType

    from console.lists.view import Question


class AuditScreen(ListedPage):
    """Intents and results, in the order in which they were written."""

    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.AUDIT,
        Place.TOLD,
        Place.OWNED,
        Place.FILTERED,
        Place.MARKED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "audit"
    PANE: ClassVar[str] = "-four-lines"
    FIELDS: ClassVar[tuple[str, ...]] = audit_filters.FIELDS

    def question(self, text: str) -> Question[Any]:
        """Entries of the audit; raises FilterError."""
        return questions.of_audit(text, self.session.person.name)
