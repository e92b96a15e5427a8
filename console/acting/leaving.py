"""Leaving a session, for good or for another context: asked for while a job runs here, something was typed, or changes
are on (console.md F10 and 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.action import Level
from console.present import Cell, Tone, own, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Any

    from console.acting.confirmation import Confirmed
    from console.acting.running import Running
    from console.jsontext import Line
    from console.screens.confirm import ConfirmScreen, Question
    from console.session import Session

ITEM_SECONDS: Final = 15.0
"""So long is an item waited for that was begun when the operator leaves: as long as a change's statement may take."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way out, as its question says it."""

    verb: str
    doing: str


_QUIT: Final = _Way("leave", "Leaving")


class Leaving:
    """One question at a time. `ask` shows it, `start` runs a coroutine, `leave` ends the console.

    `typed` is what stands half-filled on any screen, in words: it would be lost.
    """

    def __init__(
        self,
        session: Session,
        running: Running,
        *,
        ask: Callable[[ConfirmScreen, Callable[[Confirmed | None], None]], object],
        start: Callable[[Coroutine[Any, Any, None]], object],
        typed: Callable[[], Sequence[str]],
        leave: Callable[[], None],
    ) -> None:
        self._session = session
        self._running = running
        self._ask = ask
        self._start = start
        self._typed = typed
        self._leave = leave
        self._asking = False

    def quit(self) -> None:
        """End the console, or ask first."""
        question = self._question(_QUIT) or self._of_window()
        if question is None:
            self._leave()
        else:
            self._put(question, lambda: self._start(self._go()))

    def switch(self, name: str, go: Callable[[], object]) -> None:
        """Do `go`, which opens another context in the place of this one, or ask first; changes go off by it anyway."""
        question = self._question(_Way(f"open {name}", f"Opening {name}"))
        if question is None:
            go()
        else:
            self._put(question, go)

    def _put(self, question: Question, go: Callable[[], object]) -> None:
        from console.screens.confirm import ConfirmScreen

        if self._asking:
            return
        self._asking = True

        def answered(confirmed: Confirmed | None) -> None:
            self._asking = False
            if confirmed is not None:
                go()

        self._ask(ConfirmScreen(question, self._session.monotonic), answered)

    def _question(self, way: _Way) -> Question | None:
        """What is handed over or lost by it; None where nothing is."""
        from console.acting.confirmation import Asked
        from console.screens import leaving
        from console.screens.confirm import Question

        job, typed = self._running.job, tuple(self._typed())
        if job is None and not typed:
            return None
        lines = () if job is None else _handed_over(job, way)
        lost = leaving.lines_of(typed) if typed else ()
        deed = "Drop it" if job is None else "Hand over" if not typed else "Hand over, drop it"
        title = f"{way.verb} while a job runs" if job is not None else f"{way.verb}: {leaving.TITLE}"
        return Question(
            safe(title, 200), (*lines, *lost), Asked(Level.ASK, safe(f"{deed} and {way.verb}", 100))
        )

    def _of_window(self) -> Question | None:
        from console.acting.confirmation import Asked
        from console.screens.confirm import Question

        if not self._session.writable:
            return None
        line = (Cell(own("Changes are on; leaving turns them off."), Tone.HEAD),)
        return Question(own("leave"), (line,), Asked(Level.ASK, "Leave"))

    async def _go(self) -> None:
        await self._running.finish(ITEM_SECONDS)
        self._leave()


def _handed_over(job: str, way: _Way) -> tuple[Line, ...]:
    return (
        (Cell(safe(f"{job} runs in this console.", 300), Tone.HEAD),),
        (Cell(safe(f"{way.doing} stops it after the item at hand and hands it over:", 300), Tone.MUTED),),
        (Cell(own("any other console goes on with it, and so does holdwatch jobs run."), Tone.MUTED),),
    )
