"""Asking a resolver about one reservation: outside any transaction, and not for longer than the patience."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from engine.clock import to_ns
from engine.desk.jobs.executors.shown_day import ShownDay
from engine.spend.answers import Consumed, Deferred, Released
from engine.spend.day.model import RETRY_AFTER
from engine.spend.day.sweep import asked, retry_at
from engine.spend.meter.asking import Postponed, ask_expired
from engine.spend.meter.instants import from_ms, span_ms, to_ms
from engine.spend.meter.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engine.desk.jobs.executors.settling import Shown
    from engine.spend.answers import Answer

PATIENCE: Final = timedelta(seconds=10)
"""For one answer: well within the lease of the job."""
MOST_UNANSWERED: Final = 8
"""Questions whose threads were left behind and still run; with so many nobody is asked any more."""


class Asking:
    """Resolvers of one job. One that raises, answers nonsense or takes too long puts the question off.

    The error is then the deferral's evidence, as in the passes of the engine (rulings 43 and 67).
    """

    def __init__(self, patience: timedelta = PATIENCE) -> None:
        self._patience = patience.total_seconds()
        self._unanswered: list[threading.Thread] = []

    def ask(self, resolver: Callable[[Any], Answer], shown: Shown, now: datetime) -> Answer:
        """The answer about a row that is due at `now`."""
        patient = partial(self._answer, resolver)
        if isinstance(shown, ShownDay):
            return asked(patient, shown.question, now, retry_at(now, RETRY_AFTER))
        verdict = ask_expired(patient, shown.question, to_ms(now), span_ms("retry_after", RETRY_AFTER))
        if isinstance(verdict, Postponed):
            return Deferred(from_ms(verdict.until), json.loads(verdict.evidence))
        return Consumed() if verdict is Outcome.CONSUMED else Released()

    def _answer(self, resolver: Callable[[Any], Answer], question: Any) -> Answer:
        """Given up on after a while: its thread is left behind, and keeps no process alive."""
        self._unanswered = [each for each in self._unanswered if each.is_alive()]
        if len(self._unanswered) >= MOST_UNANSWERED:
            raise TimeoutError(f"not asked: {MOST_UNANSWERED} earlier questions are still unanswered")
        said: list[Answer] = []
        raised: list[BaseException] = []
        thread = threading.Thread(
            target=_call, args=(resolver, question, said, raised), daemon=True, name="holdwatch-resolver"
        )
        thread.start()
        thread.join(self._patience)
        for error in raised:
            raise error if isinstance(error, Exception) else RuntimeError(f"ended by {type(error).__name__}")
        if not said:
            self._unanswered.append(thread)
            raise TimeoutError(f"no answer within {self._patience:g} s")
        return said[0]


def _call(
    resolver: Callable[[Any], Answer], question: Any, said: list[Answer], raised: list[BaseException]
) -> None:
    try:
        said.append(resolver(question))
    except BaseException as error:  # noqa: BLE001 - handed to the thread that asked
        raised.append(error)


def is_due(shown: Shown, now: datetime) -> bool:
    """Whether nobody works on it any more: only then a default or a resolver may decide."""
    return shown.due_at <= to_ns(now)
