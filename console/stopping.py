"""Commands that run until they are told to end: by ctrl-C, or by SIGTERM as a supervisor does it."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from console.command_line import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Set once the command is to end; what is under way is finished first."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._interrupted = False

    @property
    def code(self) -> Exit:
        """The exit code of a command that ended because it was told to: SIGTERM is an orderly end."""
        return Exit.INTERRUPTED if self._interrupted else Exit.OK

    def told(self, number: int, _frame: Any) -> None:
        """A signal came; a second ctrl-C no longer waits."""
        if number == signal.SIGINT:
            if self._interrupted:
                raise KeyboardInterrupt
            self._interrupted = True
        self.event.set()


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Turn the two signals into a `Stop` until left; for the main thread."""
    stop = Stop()
    before = {number: signal.signal(number, stop.told) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
