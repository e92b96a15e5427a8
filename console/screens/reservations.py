"""What is reserved in the store: by days, by meters, in tables with tentative rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from console import money_filters
from console.actions import Place, bindings
from console.lists import questions
from console.screens.resolving import DecidingPage
from console.widgets.band import Band

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.lists.view import Question


class ReservationsScreen(DecidingPage):
    """What is reserved, of any kind, and until when."""

    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.RESERVATIONS,
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
    MODE: ClassVar[str] = "reservations"
    PANE: ClassVar[str] = "-six-lines"
    FIELDS: ClassVar[tuple[str, ...]] = money_filters.RESERVATION_FIELDS

    def compose_body(self) -> Iterable[Widget]:
        """What the whole store holds, then the list."""
        yield Band(id="totals", classes="-raised")
        yield from super().compose_body()

    def update_lines(self) -> None:
        """The totals have a line of their own: they stand whatever the filter is."""
        super().update_lines()
        if self.is_mounted:
            self.query_one("#totals", Band).say(self._tally.below)

    def question(self, text: str) -> Question[Any]:
        """Reservations of every kind; raises FilterError."""
        return questions.of_reservations(text)
