"""The policy of a sweep, typed into a form; what it would take is looked at before anything can go."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from console.acting.plans import SweepWish
from console.acting.sweep_form import FIELDS, RULE, SweepError, wish_of
from console.present import Cell, Tone, own, safe
from console.screens import leaving
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.band import Band
from console.widgets.choice import Choice

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from console.app import HoldwatchApp

MOST_TYPED = 200
"""Characters of one field."""


class SweepScreen(ModalScreen[SweepWish | None], Leavable[SweepWish | None]):
    """Gives the policy, or None. It changes nothing: a plan, or a preview, is made of it."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False, priority=True),
        Binding("up,shift+tab", "step(-1)", show=False, priority=True),
        Binding("down,tab", "step(1)", show=False, priority=True),
    ]

    def compose(self) -> ComposeResult:
        """How the fields go together, a line a field, what is wrong, the two answers."""
        with Vertical(id="sheet"):
            yield Label(RULE, markup=False, id="rule")
            for field in FIELDS:
                with Horizontal(classes="row"):
                    yield Label(field.label, markup=False)
                    line = Input(
                        placeholder=field.hint,
                        compact=True,
                        select_on_focus=False,
                        max_length=MOST_TYPED,
                        id=field.name,
                    )
                    line.cursor_blink = False
                    yield line
            yield Band(id="told", classes="-raised")
            with Horizontal(id="choices"):
                yield Choice("Cancel", id="cancel")
                yield Choice("Look what would go", id="deed")

    def on_mount(self) -> None:
        """Begin at the first field."""
        sheet = self.query_one("#sheet")
        sheet.border_title = "sweep: what may go"
        sheet.border_subtitle = "enter and arrows move, esc leaves"
        self.query(Input).first().focus()

    @property
    def typed_work(self) -> str:
        """A policy that was begun."""
        return "what was typed of a sweep's policy" if any(line.value for line in self.query(Input)) else ""

    def action_leave(self) -> None:
        """Without a policy; what was typed of one is given up first."""
        clock = cast("HoldwatchApp", self.app).session.monotonic
        leaving.leave(self.app, (self,), clock, lambda: self.dismiss(None))

    def action_step(self, by: int) -> None:
        """To the next field or answer."""
        stops = [*self.query(Input), *self.query(Choice)]
        here = next((place for place, widget in enumerate(stops) if widget.has_focus), 0)
        stops[(here + by) % len(stops)].focus()

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_step(1)

    @on(Choice.Chosen)
    def _chosen(self, event: Choice.Chosen) -> None:
        if event.choice.id == "cancel":
            self.action_leave()
            return
        try:
            wish = wish_of({str(line.id): line.value for line in self.query(Input)})
        except SweepError as error:
            self.query_one("#told", Band).say((Cell(safe(str(error), 300), Tone.WARN),))
        else:
            self.dismiss(wish)

    @on(Input.Changed)
    def _changed(self) -> None:
        self.query_one("#told", Band).say((Cell(own(""), Tone.MUTED),))
