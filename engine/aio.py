"""For asyncio programs: the engine's calls, each in a thread (design rule 10, ruling 22)."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Self, TypeVar

from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

P = ParamSpec("P")
T = TypeVar("T")

CANCEL: Final = "cancel"
"""The parameter by which a function can be ended."""


class Bridge:
    """At most `max_workers` calls at a time; more wait their turn. A context manager, or to be closed."""

    def __init__(self, max_workers: int = 8) -> None:
        if max_workers < 1:
            raise ValidationError("max_workers", (f"must be at least 1, not {max_workers}",))
        self._pool = ThreadPoolExecutor(max_workers, thread_name_prefix="holdwatch-bridge")
        self._lock = threading.Lock()
        self._running: set[threading.Event] = set()
        self._closed = False

    async def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function(*args, **kwargs)` in a thread and answer what it answers.

        Cancelling the awaiting task raises CancelledError in it at once. A call that has not begun is
        dropped; one that takes a `cancel` event, and was given none, has that event set and so ends by
        itself, soon after; any other runs on to its end unseen.
        """
        cancel = threading.Event()
        options: dict[str, Any] = dict(kwargs)
        if _takes_cancel(function) and options.get(CANCEL) is None:
            options[CANCEL] = cancel
        future = self._submit(cancel, partial(contextvars.copy_context().run, function, *args, **options))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancel.set()
            raise

    def _submit(self, cancel: threading.Event, run: Callable[[], T]) -> Future[T]:
        with self._lock:
            if self._closed:
                raise ValidationError("bridge", ("is closed; make another",))
            self._running.add(cancel)
            future = self._pool.submit(run)
        future.add_done_callback(lambda _: self._forget(cancel))
        return future

    def _forget(self, cancel: threading.Event) -> None:
        with self._lock:
            self._running.discard(cancel)

    def close(self) -> None:
        """Cancel what runs, drop what waits, and return once every thread has ended. Safe to call twice."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for cancel in running:
            cancel.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)


def _takes_cancel(function: Callable[..., Any]) -> bool:
    try:
        return CANCEL in inspect.signature(function).parameters
    except (TypeError, ValueError):  # A built-in without a signature.
        return False
