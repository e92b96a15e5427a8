"""Something that is done once, by whoever comes first; a failure is forgotten, so that the next call tries again."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Generic, TypeVar

from engine.errors import StoreFailure

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Once(Generic[T]):
    """Calls of several threads share one run, and its failure; an interrupt is its runner's alone."""

    def __init__(self, run: Callable[[], T]) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._outcome: Future[T] | None = None
        self._runner: int | None = None

    def __call__(self) -> T:
        """The result of the one run that succeeded; StoreFailure where the run itself asks for it."""
        outcome, mine = self._taken()
        if mine:
            return self._carried_out(outcome)
        if self._runner == threading.get_ident():
            # It would wait for itself, for ever.
            raise StoreFailure(
                "ensure_schema", "is under way in this very call; try again once it has returned"
            )
        try:
            return outcome.result()  # The runner's transactions have bounds of their own.
        except CancelledError:
            return self()

    def _taken(self) -> tuple[Future[T], bool]:
        with self._lock:
            if self._outcome is not None:
                return self._outcome, False
            self._outcome = Future()
            return self._outcome, True

    def _carried_out(self, outcome: Future[T]) -> T:
        self._runner = threading.get_ident()
        try:
            result = self._run()
        except BaseException as error:
            with self._lock:
                self._outcome, self._runner = None, None
            if isinstance(error, Exception):
                outcome.set_exception(error)
            else:
                outcome.cancel()
            raise
        self._runner = None
        outcome.set_result(result)
        return result
