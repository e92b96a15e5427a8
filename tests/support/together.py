"""Real threads that start at one moment and are waited for within a bound."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PATIENCE = 60.0
"""Seconds after which a thread that has not ended is a failure."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one thread returned, or what it raised."""

    value: Any = None
    error: Exception | None = None


def together(*calls: Callable[[], Any], within: float = PATIENCE) -> list[Outcome]:
    """Run every call in a thread of its own, started at a barrier; their outcomes in the order given.

    AssertionError when one has not ended `within` seconds.
    """
    barrier = threading.Barrier(len(calls))
    outcomes: list[Outcome | None] = [None] * len(calls)

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            barrier.wait(within)
            outcomes[place] = Outcome(value=call())
        except Exception as error:  # noqa: BLE001 - handed to the caller, who judges it
            outcomes[place] = Outcome(error=error)

    threads = [
        threading.Thread(target=run, args=(place, call), daemon=True, name=f"together-{place}")
        for place, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(within)
    return _complete(outcomes, within)


def _complete(outcomes: Sequence[Outcome | None], within: float) -> list[Outcome]:
    hanging = [place for place, outcome in enumerate(outcomes) if outcome is None]
    assert not hanging, f"threads {hanging} did not end within {within} s"
    return [outcome for outcome in outcomes if outcome is not None]


def values(outcomes: Sequence[Outcome]) -> list[Any]:
    """What the successful ones returned."""
    return [outcome.value for outcome in outcomes if outcome.error is None]


def errors(outcomes: Sequence[Outcome]) -> list[Exception]:
    """What the others raised."""
    return [outcome.error for outcome in outcomes if outcome.error is not None]


def all_succeeded(outcomes: Sequence[Outcome]) -> list[Any]:
    """What every thread returned; the first error is raised."""
    for error in errors(outcomes):
        raise error
    return values(outcomes)
