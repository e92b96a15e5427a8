"""One change by hand: its intent and its result beside each other, with all that was written down of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from console import audit_facts, audit_filters
from console.acting.decisions import LOOKED_AT, OBJECT, correcting
from console.acting.names import object_of
from console.actions import Place, bindings
from console.present import Cell, Tone, own, safe
from console.refresh import Poll
from console.screens.page import Page
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.acting.records import AuditRow
    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.session import Session


@dataclass(frozen=True, slots=True)
class _Found:
    """One answer: the operation's entries, and the operations that put it right."""

    rows: tuple[AuditRow, ...]
    as_of: datetime | None
    corrected_by: tuple[str, ...]


class EntryScreen(Page):
    """Who did what, when, on which grounds, and by which command; `y` copies that command."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.AUDIT,
        Place.TOLD,
        Place.OWNED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "audit"

    def __init__(self, session: Session, operation: str) -> None:
        super().__init__(session)
        self.operation = operation
        self._rows: tuple[AuditRow, ...] = ()
        self._corrected_by: tuple[str, ...] = ()
        self._missing = False
        self._entries = Poll(
            session.calls, self._ask, self._take, changed=self.freshened, monotonic=session.monotonic
        )

    def compose_body(self) -> Iterable[Widget]:
        """The head, and the text below it."""
        head = Pane(id="head", classes="-raised -fixed")
        head.can_focus = False
        yield head
        yield Pane(id="story")

    def polls(self) -> tuple[Poll[Any], ...]:
        """The entries."""
        return (self._entries,)

    def main_widget(self) -> Pane:
        """What is scrolled."""
        return self.query_one("#story", Pane)

    def _ask(self) -> _Found:
        """The entries, the store's time of the answer, and what was decided of the same object since."""
        from console.acting.records import AuditQuery

        rows = self.session.gateway.audit_of(self.operation)
        query = AuditQuery(operation=self.operation)
        if rows and rows[0].object_kind == OBJECT:
            query = AuditQuery(rows[0].object_kind, rows[0].object_id)
        page = self.session.gateway.audit(query, None, LOOKED_AT)
        return _Found(rows, page.as_of, correcting(page.rows, self.operation))

    def _take(self, found: _Found) -> None:
        rows, self.as_of, self._corrected_by = found.rows, found.as_of, found.corrected_by
        self._missing = not rows
        if rows:
            self._rows = rows
        else:
            self.say(own("the audit holds no entry of this operation"), Tone.WARN)
        self.tick()

    def tick(self) -> None:
        """Show what was read."""
        rows = self._rows
        if rows:
            store = self.session.gateway.label.address
            self.query_one("#head", Pane).show(lambda room: audit_facts.head(rows, room))
            self.query_one("#story", Pane).show(
                lambda room: audit_facts.body(rows, store, room, self._corrected_by)
            )

    def crumbs(self) -> tuple[Line, Line]:
        """Which operation, and what it came to."""
        came = audit_facts.came_to(self._rows) if self._rows else Cell(own(""))
        return (
            Cell(own(" Audit > "), Tone.MUTED),
            Cell(safe(self.operation), Tone.HEAD),
        ), (came, Cell(own(" ")))

    def audited(self) -> str | None:
        """All that was done to its object."""
        if not self._rows:
            return None
        return audit_filters.of_object(self._rows[0].object_kind, self._rows[0].object_id)

    def do_owner(self) -> None:
        found = None if not self._rows else object_of(self._rows[0].object_kind, self._rows[0].object_id)
        if found is None:
            self.say(own("owner: no screen shows this object"), Tone.WARN)
        else:
            cast("HoldwatchApp", self.app).carry_out(found)

    def do_open(self) -> None:
        self.do_owner()

    def copyable(self) -> str:
        """The equivalent command, or the operation's id where none was written down."""
        command = self._rows[0].body.get("command") if self._rows else None
        return self.operation if command is None else str(command)

    def address_text(self) -> str:
        """The operation as a command."""
        return f"operation {self.operation}"
