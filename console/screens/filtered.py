"""A screen with one list that a typed filter narrows, and a pane below it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from console.filters import quoted
from console.screens.page import Page
from console.widgets.pane import Pane
from console.widgets.prompt import Purpose

if TYPE_CHECKING:
    from console.session import Session


class FilteredPage(Page):
    """Keeps the filter; a subclass asks the store with it."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.filter = _of_tenant(session) if "tenant:" in self.FIELDS else ""

    @abstractmethod
    def ask_with(self, text: str) -> None:
        """Ask the store with this filter from now on; raises FilterError, and changes nothing, if it
        means nothing.
        """

    def narrow(self, text: str) -> None:
        """Take a filter, or raise FilterError."""
        self.ask_with(text)
        self.filter = text.strip()
        for poll in self.polls():
            poll.ask_anew()
        self.update_lines()

    def address_text(self) -> str:
        """The screen with its filter; `/` says that there is none."""
        return f"{self.MODE} {self.filter or '/'}"

    def stand_in(self, order: str) -> None:
        """Stand in the order that an address names; ValueError here, for want of one."""
        raise ValueError(f"sort:{order}: the rows of this screen have one order only")

    def do_filter(self) -> None:
        from console import completion, vocabularies

        known = vocabularies.of_screen(self.MODE).with_values(self.held_values())
        self.open_prompt(Purpose.FILTER, self.filter, completion.of_filter(known))

    def take(self, purpose: Purpose, text: str) -> None:
        """A filter, or what every screen takes."""
        if purpose is Purpose.FILTER:
            self.narrow(text)
            self.close_prompt()
        else:
            super().take(purpose, text)

    def step_back(self) -> bool:
        """Esc clears the filter."""
        if not self.filter:
            return False
        self.narrow("")
        return True

    def do_detail(self) -> None:
        pane = self.query_one("#detail", Pane)
        pane.display = not pane.display


def _of_tenant(session: Session) -> str:
    """What a list begins with where the operator looks after one tenant; esc clears it like any filter."""
    tenant = session.settings.tenant.value
    return "" if tenant is None else f"tenant:{quoted(tenant)}"
