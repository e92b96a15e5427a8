"""The checkpoints of a thread, with the body of the one under the cursor, which is fetched only when looked
at.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from console import tables
from console.model import Checkpoint, GatewayError
from console.present import Cell, Tone, own, safe, size
from console.styles import beside
from console.widgets.pair import Pair

if TYPE_CHECKING:
    from textual.timer import Timer

    from console.session import Session

AT_ONCE: Final = 65_536
"""Bytes up to which a body is fetched without being asked for."""
STILL_SECONDS: Final = 0.2
"""How long the cursor must lie still before a body is fetched."""
KEPT: Final = 20
"""Bodies that are kept; a checkpoint never changes."""


class Snapshots(Pair[Checkpoint]):
    """Checkpoints, newest first."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(self, session: Session, thread: str, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(
            tables.CHECKPOINTS,
            lambda row: row.id,
            lambda _row: ("", 0),
            empty=own("no checkpoints stored"),
            id=id,
        )
        self._session = session
        self._thread = thread
        self._bodies: OrderedDict[str, str] = OrderedDict()
        self._timer: Timer | None = None

    def present_row(self, row: Checkpoint, row_id: str) -> None:
        """Show the body if it is here; else fetch it once the cursor lies still, or say how to have
        it fetched.
        """
        if self._timer is not None:
            self._timer.stop()
        if row_id in self._bodies:
            self.show_text(self._bodies[row_id], row.size)
        elif row.size > AT_ONCE:
            self.show_note((Cell(own(f"{size(row.size)}: enter fetches it"), Tone.MUTED),))
        else:
            self.show_note((Cell(own("..."), Tone.MUTED),))
            self._timer = self.set_timer(STILL_SECONDS, partial(self._fetch, row_id))

    def do_read(self) -> None:
        """Into the body, fetching it if need be."""
        row_id = self.listing.target
        if row_id is not None and row_id not in self._bodies:
            self._fetch(row_id)
        self.pane.focus()

    def _fetch(self, row_id: str) -> None:
        self.run_worker(self._load(row_id), group="snapshot", exclusive=True, exit_on_error=False)

    async def _load(self, row_id: str) -> None:
        read = partial(self._session.gateway.snapshot, self._thread, row_id)
        try:
            body = await self._session.calls.run(read)
        except GatewayError as error:
            self.show_note((Cell(safe(error.message, 600), Tone.BAD),))
            return
        self._bodies[row_id] = body
        if len(self._bodies) > KEPT:
            self._bodies.popitem(last=False)
        if self.listing.window.current_id == row_id:
            self.show_text(body, len(body))
