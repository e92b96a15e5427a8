"""Keeping up with which store the live connection has reached: asked at the start, every half minute, and after
each loss of the connection.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from console.identity import Identity, Trust
from console.refresh import Pace, Poll

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from console.session import Session

SECONDS: Final = 30.0


class Identifying:
    """The loop of one session. `start` runs a coroutine; `changed` is told when the header may say otherwise,
    `failed` what could not be remembered.
    """

    def __init__(
        self,
        session: Session,
        *,
        start: Callable[[Coroutine[Any, Any, None]], object],
        changed: Callable[[], None],
        failed: Callable[[str], None],
    ) -> None:
        self._session = session
        self._start = start
        self._changed = changed
        self._failed = failed
        self.poll: Poll[Identity] = Poll(
            session.calls,
            session.gateway.identity,
            self._take,
            changed=lambda _freshness: None,
            monotonic=session.monotonic,
            pace=Pace(SECONDS),
        )

    def trust(self) -> bool:
        """Take the store connected to for the open context's; False where there is no context or no answer."""
        identity, contexts = self._session.identity, self._session.contexts
        if identity is None or contexts.current is None:
            return False
        self._start(self._note(identity))
        return True

    def _take(self, identity: Identity) -> None:
        before = self._session.identity
        self._session.identity = identity
        if identity == before:
            return
        if self._session.standing.trust is Trust.CONFIRMED and self._session.contexts.current is not None:
            self._start(self._note(identity))
        self._changed()

    async def _note(self, identity: Identity) -> None:
        """Remember it, off the event loop: the file may lie on a disk that hangs."""
        contexts = self._session.contexts
        try:
            await self._session.errands.run(lambda: contexts.note(identity, datetime.now(UTC)))
        except OSError as error:
            self._failed(f"{error.strerror}: where this context was seen could not be kept")
        self._changed()
