"""Leaving the console: asked for while a job runs here or changes are on (console.md F10 and 5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console.action import Level
from console.present import Cell, Tone, own, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from console.acting.confirmation import Confirmed
    from console.acting.running import Running
    from console.screens.confirm import ConfirmScreen, Question
    from console.session import Session

ITEM_SECONDS: Final = 15.0
"""So long is an item waited for that was begun when the operator leaves: as long as a change's statement may take."""


class Leaving:
    """One question at a time. `ask` shows it, `start` runs a coroutine, `leave` ends the console."""

    def __init__(
        self,
        session: Session,
        running: Running,
        *,
        ask: Callable[[ConfirmScreen, Callable[[Confirmed | None], None]], object],
        start: Callable[[Coroutine[Any, Any, None]], object],
        leave: Callable[[], None],
    ) -> None:
        self._session = session
        self._running = running
        self._ask = ask
        self._start = start
        self._leave = leave
        self._asking = False

    def want(self) -> None:
        """Leave, or ask first."""
        question = self._question()
        if question is None:
            self._leave()
        elif not self._asking:
            from console.screens.confirm import ConfirmScreen

            self._asking = True
            self._ask(ConfirmScreen(question, self._session.monotonic), self._answered)

    def _question(self) -> Question | None:
        from console.acting.confirmation import Asked
        from console.screens.confirm import Question

        job = self._running.job
        if job is not None:
            lines = (
                (Cell(safe(f"{job} runs in this console.", 300), Tone.HEAD),),
                (Cell(own("Leaving stops it after the item at hand and hands it over:"), Tone.MUTED),),
                (
                    Cell(
                        own("any other console goes on with it, and so does holdwatch jobs run."), Tone.MUTED
                    ),
                ),
            )
            return Question(own("leave while a job runs"), lines, Asked(Level.ASK, "Hand over and leave"))
        if self._session.writable:
            line = (Cell(own("Changes are on; leaving turns them off."), Tone.HEAD),)
            return Question(own("leave"), (line,), Asked(Level.ASK, "Leave"))
        return None

    def _answered(self, confirmed: Confirmed | None) -> None:
        self._asking = False
        if confirmed is not None:
            self._start(self._go())

    async def _go(self) -> None:
        await self._running.finish(ITEM_SECONDS)
        self._leave()
