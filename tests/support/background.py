"""Calls that run in a thread of their own, so that a test asks for the outcome within a bound."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

LIMIT = 10.0
"""Seconds that any wait of a contract case may last (checkpoints.md, section 4)."""

PAUSE = 0.005
"""Seconds between two looks of `until`."""


def background(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Future[R]:
    """Start the call in a daemon thread; `.result(LIMIT)` gives its value or raises its error."""
    future: Future[R] = Future()

    def run() -> None:
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  the outcome belongs to whoever asks the future
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def promptly(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The call's value, which must not take longer than LIMIT."""
    return background(function, *args, **kwargs).result(LIMIT)


def until(condition: Callable[[], object], what: str, *, limit: float = LIMIT) -> None:
    """Wait until the condition is true; AssertionError naming `what` after `limit` seconds."""
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, f"not within {limit} s: {what}"
        time.sleep(PAUSE)
