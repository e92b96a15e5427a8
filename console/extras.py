"""What the row under the cursor has beyond its list: fetched once the cursor lies still, and again when the row
has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console.model import GatewayError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from console.lists.view import Extra
    from console.session import Session

STILL_SECONDS: Final = 0.2
"""How long the cursor must lie still before anything is asked."""


class Extras:
    """The extra of one row at a time. `later` calls a function after some seconds, taking back the call before;
    `start` runs a coroutine in place of the one before.
    """

    def __init__(
        self,
        session: Session,
        *,
        later: Callable[[float, Callable[[], object]], None],
        start: Callable[[Coroutine[Any, Any, None]], object],
        arrived: Callable[[], None],
    ) -> None:
        self._session = session
        self._later = later
        self._start = start
        self._arrived = arrived
        self._held: tuple[str, Any] | None = None
        self._wanted: tuple[str, object] | None = None

    def of(self, row_id: str) -> Any:
        """The extra of this row, if it is here."""
        return self._held[1] if self._held is not None and self._held[0] == row_id else None

    def want(self, extra: Extra, row_id: str, row: Any) -> None:
        """Fetch the extra of this row, unless it was asked for as the row is now."""
        wanted = (row_id, extra.version(row))
        if wanted != self._wanted:
            self._wanted = wanted
            self._later(STILL_SECONDS, lambda: self._start(self._fetch(extra, row_id, row)))

    def forget(self) -> None:
        """Another list: nothing is wanted of its rows yet."""
        self._held = self._wanted = None

    async def _fetch(self, extra: Extra, row_id: str, row: Any) -> None:
        try:
            found = await self._session.calls.run(lambda: extra.ask(self._session.gateway, row))
        except GatewayError:
            self._wanted = None  # the list's own loop says what is wrong; the next answer asks again
            return
        if self._wanted is not None and self._wanted[0] == row_id:
            self._held = (row_id, found)
            self._arrived()
