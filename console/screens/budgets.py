"""What may be spent and what of it is: the accounts of every meter, or the days of the day store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from console import money_filters
from console.actions import Place, bindings
from console.lists import questions
from console.screens.listed import ListedPage

if TYPE_CHECKING:
    from textual.binding import BindingType

    from console.lists.view import Question
    from console.session import Session


class BudgetsScreen(ListedPage):
    """Two lists, of which tab shows the other one; days are compared with the operator's cap."""

    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.BUDGETS,
        Place.MARKED,
        Place.FILTERED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "budgets"
    PANE: ClassVar[str] = "-six-lines"
    FIELDS: ClassVar[tuple[str, ...]] = money_filters.BUDGET_FIELDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._cap = session.cap

    def question(self, text: str) -> Question[Any]:
        """Accounts or days; raises FilterError."""
        return questions.of_budgets(text, self.session.cap)

    def do_other_budget(self) -> None:
        self.narrow("" if self.filter == money_filters.DAYS else money_filters.DAYS)

    def capped(self) -> None:
        """Another cap: the bars change."""
        if self._cap != self.session.cap:
            self._cap = self.session.cap
            self.narrow(self.filter)

    def on_screen_resume(self) -> None:
        """In front again; the cap may have been given on another screen."""
        super().on_screen_resume()
        self.capped()
