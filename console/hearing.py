"""Hints of commits for a screen: heard while it is looked at, and not a moment longer (rulings 57, 58)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.tail_model import TailGateway


class Hearing:
    """One listener at a time, in a thread of its own: it is no call, for it asks nothing."""

    def __init__(self, gateway: TailGateway, heard: Callable[[], None]) -> None:
        self._gateway = gateway
        self._heard = heard
        self._stop: threading.Event | None = None

    @property
    def on(self) -> bool:
        """Whether hints are being heard."""
        return self._stop is not None

    def turn(self, *, on: bool) -> None:
        """Listen from now on, or stop; returns at once."""
        if on and self._stop is None:
            self._stop = stop = threading.Event()
            work = threading.Thread(
                target=self._gateway.hear, args=(stop, self._heard), name="holdwatch-hear", daemon=True
            )
            work.start()
        elif not on and self._stop is not None:
            self._stop.set()
            self._stop = None
