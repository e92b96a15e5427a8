"""A list whose rows have more text than the list carries: it is fetched when it is looked at, or asked for."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from console import jsontext
from console.model import GatewayError, Row
from console.present import Cell, Tone, own, safe, size
from console.styles import beside
from console.widgets.pair import Pair, json_of
from console.widgets.window import Rest

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer

    from console.jsontext import Line
    from console.present import Safe
    from console.session import Session
    from console.widgets.columns import Column, Scene

AT_ONCE: Final = 65_536
"""Bytes up to which a text that the list has nothing of is fetched without being asked for."""
STILL_SECONDS: Final = 0.2
"""How long the cursor must lie still before a text is fetched."""
KEPT: Final = 20
"""Texts that are kept; what is stored under one id never changes."""
_READS_ON: Final = "; enter reads the whole"


class FetchedPair(Pair[Row]):
    """`carried` is what the list has of a row's text, and the whole's size in bytes; `fetch` reads the whole."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(
        self,
        session: Session,
        columns: tuple[Column[Row], ...],
        key: Callable[[Row], str],
        carried: Callable[[Row], tuple[str, int]],
        fetch: Callable[[Row], str],
        *,
        empty: Safe,
        rest: Rest = Rest.TOP,
        id: str,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(
            columns, key, lambda row, _scene: json_of(*carried(row)), empty=empty, rest=rest, id=id
        )
        self._session = session
        self._carried = carried
        self._fetch_text = fetch
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._timer: Timer | None = None

    def present_row(self, row: Row, scene: Scene) -> None:
        """Show the whole text if it is here; else what the list carries of it, or fetch it once the cursor lies
        still, or say how to have it fetched.
        """
        if self._timer is not None:
            self._timer.stop()
        text, whole = self._carried(row)
        fetched = self._texts.get(self.listing.window.current_id or "")
        if fetched is not None:
            self._show_text(fetched, whole)
        elif text and jsontext.is_cut(text, whole):
            self._show_text(text, whole, _READS_ON)
        elif text:
            super().present_row(row, scene)
        elif whole > AT_ONCE:
            self._show_note((Cell(own(f"{size(whole)}: enter fetches it"), Tone.MUTED),))
        else:
            self._show_note((Cell(own("..."), Tone.MUTED),))
            self._timer = self.set_timer(STILL_SECONDS, partial(self._fetch, row))

    def do_read(self) -> None:
        """Into the text, fetching what is missing of it."""
        row, row_id = self.listing.target_row, self.listing.target
        if row is not None and row_id not in self._texts and jsontext.is_cut(*self._carried(row)):
            self._fetch(row)
        self.pane.focus()

    def _fetch(self, row: Row) -> None:
        row_id = self.listing.window.current_id
        if row_id is not None:
            self.run_worker(self._load(row, row_id), group="text", exclusive=True, exit_on_error=False)

    async def _load(self, row: Row, row_id: str) -> None:
        try:
            text = await self._session.calls.run(partial(self._fetch_text, row))
        except GatewayError as error:
            self._show_note((Cell(safe(error.message, 600), Tone.BAD),))
            return
        self._texts[row_id] = text
        if len(self._texts) > KEPT:
            self._texts.popitem(last=False)
        if self.listing.window.current_id == row_id:
            self._show_text(text, self._carried(row)[1])

    def _show_text(self, text: str, whole: int, reads_on: str = "") -> None:
        lines = jsontext.lines(text, whole, reads_on)
        self.pane.show(lambda _room: lines, from_top=True)

    def _show_note(self, line: Line) -> None:
        self.pane.show(lambda _room: (line,), from_top=True)
