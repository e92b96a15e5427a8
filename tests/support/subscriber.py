"""Somebody who follows a thread, in a thread of its own, and keeps what was delivered."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.checkpoints import watch
from engine.errors import EngineError, WaitCancelled
from tests.support.background import LIMIT, until

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer, EventRecord

POLL = timedelta(milliseconds=20)


class Subscriber:
    """Delivers a thread's events after `after` until cancelled; `ended_by` is the error that ended it."""

    def __init__(self, checkpoints: Checkpointer, t: str, *, after: int = 0) -> None:
        self.delivered: list[EventRecord] = []
        self.ended_by: EngineError | None = None
        self._cancel = threading.Event()
        self._stream = watch(checkpoints, t, after_seq=after, poll_interval=POLL, cancel=self._cancel)
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    @property
    def numbers(self) -> list[int]:
        """The numbers delivered so far, in their order of delivery."""
        return [record.seq for record in list(self.delivered)]

    @property
    def last(self) -> int:
        """The newest number delivered; 0 before the first."""
        return max(self.numbers, default=0)

    def wait_for(self, last: int) -> list[EventRecord]:
        """Until the event of that number is delivered; all that came, AssertionError after LIMIT seconds."""
        until(lambda: self.last >= last, f"event {last} is delivered (came: {self.numbers})")
        return list(self.delivered)

    def cancel(self) -> None:
        """End the subscription and wait until it watches nothing."""
        self._cancel.set()
        self.wait_ended()

    def wait_ended(self) -> None:
        """Until nothing is watched any more; AssertionError after LIMIT seconds."""
        self._thread.join(LIMIT)
        assert not self._thread.is_alive(), "the subscription did not end"

    def _follow(self) -> None:
        try:
            for record in self._stream:
                self.delivered.append(record)
        except WaitCancelled:
            return  # The test has seen enough.
        except EngineError as error:
            self.ended_by = error
