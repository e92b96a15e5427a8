"""What became of changes whose answer was lost, and of those that an earlier console did not end: asked now and then,
told once.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console.acting.hook import Hook
from console.acting.sending import Fate, said_of
from console.model import GatewayError
from console.present import Tone

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from datetime import datetime
    from typing import Any

    from console.acting.records import AuditRow
    from console.acting.sending import Sent
    from console.session import Session

STEPS: Final = (2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds between two looks at the same unknown outcomes."""
LATELY: Final = timedelta(days=7)
"""How old an open intent may be to be told at the start; older ones are still listed by `u`."""
MOST: Final = 100
_TONES: Final = {Fate.UNKNOWN: Tone.BAD, Fate.APPLIED: Tone.GOOD, Fate.NOT_APPLIED: Tone.WARN}


class Watching:
    """Of one session. `start` runs a coroutine, `tell` says a line, `redraw` draws the lines around the screens."""

    def __init__(
        self,
        session: Session,
        *,
        start: Callable[[Coroutine[Any, Any, None]], object],
        tell: Callable[[str, Tone], None],
        redraw: Callable[[], object],
    ) -> None:
        self._session = session
        self._start = start
        self._tell = tell
        self._redraw = redraw
        self._looks = 0
        self._due = 0.0
        self._looking = False
        self._greeted = False
        session.sending.said = self._said
        session.sending.changed = Hook(session, start=start, tell=tell)

    def look(self, *, read: bool) -> None:
        """Once a second; `read`: the screen in front has its rows."""
        if read and not self._greeted and self._session.acting is not None:
            self._greeted = True
            self._start(self._greet())
        if not self._session.sending.unknown:
            self._looks = 0
        elif self._session.monotonic() >= self._due:
            self.look_now()

    def look_now(self) -> None:
        """Ask what became of every unknown outcome; nothing where there is none."""
        if self._looking or not self._session.sending.unknown:
            return
        self._due = self._session.monotonic() + STEPS[min(self._looks, len(STEPS) - 1)]
        self._looks += 1
        self._looking = True
        self._start(self._ask())

    async def _ask(self) -> None:
        try:
            await self._session.sending.look()
        finally:
            self._looking = False

    def _said(self, sent: Sent) -> None:
        if sent.fate is Fate.UNKNOWN:
            self._looks = 0
            self._due = self._session.monotonic() + STEPS[0]
        self._tell(said_of(sent), _TONES.get(sent.fate, Tone.INFO))
        self._redraw()

    async def _greet(self) -> None:
        """Tell of intents that an earlier console left open; nothing where the store has no audit to ask."""
        from console.acting.records import AuditQuery

        session = self._session
        query = AuditQuery(actor=session.person.name, unfinished=True)
        try:
            page = await session.calls.run(lambda: session.gateway.audit(query, None, MOST))
        except GatewayError:
            return  # `u` asks again, and says why it cannot be answered
        own = {sent.order.operation for sent in session.sending.orders}
        count = sum(_is_left(row, page.as_of) and row.operation not in own for row in page.rows)
        if count:
            changes = "1 change of yours was" if count == 1 else f"{count} changes of yours were"
            it = "it" if count == 1 else "them"
            self._tell(f"{changes} begun, and nobody wrote down the end: u shows {it}", Tone.WARN)


def _is_left(row: AuditRow, as_of: datetime) -> bool:
    """Whether an open intent is worth a word at the start: a window leaves no change behind, and a job goes on."""
    return not row.of_job and row.deed != "read-write window" and row.at >= as_of - LATELY
