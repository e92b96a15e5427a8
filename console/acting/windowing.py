"""Turning changes on and off: `W` asks why and opens the writing connection; much ends it (console.md F3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console.acting.model import Order
from console.acting.window import IDLE_SECONDS, LENGTH_SECONDS
from console.action import Level
from console.model import GatewayError
from console.present import Cell, Tone, own, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from typing import Any

    from console.acting.confirmation import Confirmed
    from console.jsontext import Line
    from console.screens.confirm import ConfirmScreen
    from console.session import Session

_MINUTES: Final = round(LENGTH_SECONDS / 60)
_IDLE_MINUTES: Final = round(IDLE_SECONDS / 60)


class Windowing:
    """The window of one session. `ask` shows a dialog, `start` runs a coroutine, `tell` says a line."""

    def __init__(
        self,
        session: Session,
        *,
        ask: Callable[[ConfirmScreen, Callable[[Confirmed | None], None]], object],
        start: Callable[[Coroutine[Any, Any, None]], object],
        tell: Callable[[str, Tone], None],
    ) -> None:
        self._session = session
        self._ask = ask
        self._start = start
        self._tell = tell
        self._opening = False

    def turn(self) -> None:
        """Off where changes are on; else ask why they should be."""
        if self._session.window.was_opened:
            self.end("turned off by the operator")
            return
        if self._opening:
            self._tell("changes are being turned on: a moment", Tone.INFO)
            return
        refused = self._refused()
        if refused is not None:
            self._tell(f"changes stay off: {refused}", Tone.WARN)
            return
        from console.acting.confirmation import Asked
        from console.screens.confirm import ConfirmScreen, Question

        asked = Asked(Level.ASK, "Turn on", reasoned=True)
        question = Question(own("turn changes on"), self._facts(), asked, verb="window")
        self._ask(ConfirmScreen(question, self._session.monotonic), self._answered)

    def look(self) -> None:
        """Once a second: end it where it has run out."""
        window = self._session.window
        if window.was_opened and not window.is_open:
            self.end(f"its {_MINUTES} minutes were over, or no key came for {_IDLE_MINUTES}")

    def end(self, why: str) -> None:
        """Turn changes off at once; the record of it follows as soon as the store takes it."""
        window = self._session.window
        if window.was_opened:
            window.close()
            self._tell(f"changes are off: {why}", Tone.INFO)
            self._start(self._close(why))

    async def finish(self, why: str) -> None:
        """The same, waited for: the session is being left."""
        self._session.window.close()
        await self._close(why)

    def _refused(self) -> str | None:
        session = self._session
        if session.acting is None:
            return "this console only looks"
        if session.identity is None:
            return "the store has not answered yet"
        return session.forbids_writing

    def _facts(self) -> tuple[Line, ...]:
        session = self._session
        identity, environment = session.identity, session.environment
        role = f" as {identity.role}" if identity is not None and identity.role else ""
        where = "" if environment is None else f"  environment {environment}"
        return (
            (Cell(safe(f"{session.gateway.label.address}{role}{where}", 300), Tone.HEAD),),
            (Cell(safe(f"recorded as {session.person.name}; on for {_MINUTES} minutes, off again after "
                       f"{_IDLE_MINUTES} without a key,"), Tone.MUTED),),
            (Cell(own("when the connection is lost, at another context, and by W."), Tone.MUTED),),
            (Cell(own("The reason goes to the audit. Each change is confirmed by itself."), Tone.MUTED),),
        )  # fmt: skip

    def _answered(self, confirmed: Confirmed | None) -> None:
        if confirmed is not None:
            self._opening = True
            self._start(self._open(confirmed.reason))

    async def _open(self, reason: str) -> None:
        session = self._session
        order = Order("read-write window", reason, session.route, "holdwatch (W)")
        acting = session.acting
        assert acting is not None
        try:
            lacking = await session.acts.run(lambda: acting.open(order))
        except GatewayError as error:
            self._tell(f"changes stay off: {error}", Tone.WARN)
            await self._close("could not be opened")
            return
        finally:
            self._opening = False
        session.window.open(reason, order.operation)
        self._tell(*_opened(lacking))

    async def _close(self, why: str) -> None:
        acting = self._session.acting
        if acting is None:
            return
        try:
            await self._session.acts.run(lambda: acting.close(why))
        except GatewayError as error:
            self._tell(f"that changes are off could not be recorded: {error}", Tone.WARN)


def _opened(lacking: Mapping[str, tuple[str, ...]]) -> tuple[str, Tone]:
    if not lacking:
        return f"changes are on for {_MINUTES} minutes; W turns them off", Tone.WARN
    told = "; ".join(f"{deed} ({', '.join(rights)})" for deed, rights in lacking.items())
    return (
        f"changes are on, but this role may not: {told}; holdwatch grants --role ops_rw says how",
        Tone.WARN,
    )
