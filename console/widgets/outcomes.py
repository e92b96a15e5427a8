"""The four outcomes of the form, one line each, mildest first; letters and Space choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.message import Message

from console.acting.resolution_form import Outcome, offered
from console.present import Cell, Tone, own
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.events import Key

    from console.jsontext import Line
    from console.money_model import ReservationRow

HEAD: Final = own("OUTCOME (choose one; mildest first)")


class Outcomes(Pane, can_focus=True):
    """`Chosen` tells of each choice. Nothing is chosen to begin with."""

    @dataclass
    class Chosen(Message):
        """Another outcome."""

        outcome: Outcome

    def __init__(self) -> None:
        super().__init__(id="outcomes", classes="-raised -fixed")
        self.chosen: Outcome | None = None
        self._at = Outcome.LEAVE
        self._row: ReservationRow | None = None
        self._words: Mapping[Outcome, str] = {}

    def offer(self, row: ReservationRow, words: Mapping[Outcome, str]) -> None:
        """What each would do to this row."""
        self._row, self._words = row, words
        self.draw()

    def draw(self) -> None:
        """The lines as they are now."""
        self.show(lambda _room: self._drawn())

    def watch_has_focus(self, has_focus: bool) -> None:
        """The mark shows where the keys go."""
        super().watch_has_focus(has_focus)
        self.draw()

    def _drawn(self) -> tuple[Line, ...]:
        return (Cell(HEAD, Tone.ACCENT),), *(self._line(outcome) for outcome in Outcome)

    def _line(self, outcome: Outcome) -> Line:
        refused = self.refused(outcome)
        mark = "> " if self.has_focus and outcome is self._at else "  "
        sign = "(*)" if outcome is self.chosen else "( )"
        words = self._words.get(outcome, "")
        if refused:  # in the place of what it would do: a line that is folded pushes another one out
            words = f"{words.partition('  ')[0]}  (off: {refused})"
        tone = Tone.MUTED if refused else Tone.HEAD if outcome is self.chosen else Tone.PLAIN
        return Cell(own(f"{mark}{sign} "), Tone.ACCENT), Cell(own(f"{outcome.value}  {words}"), tone)

    def refused(self, outcome: Outcome) -> str:
        """Why it cannot be chosen."""
        return "not read yet" if self._row is None else offered(self._row, outcome)

    def on_key(self, event: Key) -> None:
        """Letters choose at once; arrows move and Space chooses; at the ends the form goes on."""
        order = list(Outcome)
        if event.character in order:
            self._at = Outcome(event.character)
            self._choose()
        elif event.key in {"space", "enter"}:
            self._choose()
        elif event.key in {"up", "down"}:
            place = order.index(self._at) + (1 if event.key == "down" else -1)
            if not 0 <= place < len(order):
                return
            self._at = order[place]
            self.draw()
        else:
            return
        event.stop()
        event.prevent_default()

    def _choose(self) -> None:
        if not self.refused(self._at):
            self.chosen = self._at
            self.post_message(self.Chosen(self._at))
        self.draw()
