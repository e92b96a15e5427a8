"""Blocks of work in turn, A B A B: a ratio is taken within one round, and the median over the rounds is reported."""

from __future__ import annotations

import gc
import threading
import time
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCK_SECONDS = 0.05
"""How long one contender works before it is the next one's turn: shorter than what else happens on a machine."""
WARM_UP = 40
"""Calls of each worker before anything is measured: connections, prepared statements, the chains' first steps."""
MAX_ROUNDS = 2000
JOIN_SECONDS = 120.0


class Worker(Protocol):
    """One thread's share of a contender."""

    def inputs(self, count: int) -> Sequence[Any]:
        """What the next `count` calls are given; built outside the measured time."""
        ...

    def do(self, given: Any) -> object:
        """One unit of work."""
        ...


@dataclass(frozen=True, slots=True)
class Contender:
    """Somebody who does the work, with one worker for each thread."""

    name: str
    workers: Sequence[Worker]


@dataclass(frozen=True, slots=True)
class Spread:
    """What was measured: the median, and how far it went either way."""

    middle: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one value."""
        return cls(median(values), min(values), max(values))


@dataclass(slots=True)
class Series:
    """Each contender's rates (units a second), round by round."""

    rates: dict[str, list[float]] = field(default_factory=dict)

    def rate(self, name: str) -> Spread:
        """Units a second."""
        return Spread.of(self.rates[name])

    def ratio(self, name: str, other: str) -> Spread:
        """`name` over `other`, taken within each round."""
        return Spread.of([a / b for a, b in zip(self.rates[name], self.rates[other], strict=True)])


def interleave(contenders: Sequence[Contender], seconds: float) -> Series:
    """Rounds of one block each, every second round backwards, for about `seconds`."""
    counts = {contender.name: _calibrated(contender) for contender in contenders}
    gc.freeze()  # what stands by now is not looked at again with every collection
    series = Series({contender.name: [] for contender in contenders})
    deadline = time.perf_counter() + seconds
    for number in range(MAX_ROUNDS):
        for contender in contenders if number % 2 == 0 else reversed(contenders):
            series.rates[contender.name].append(block(contender.workers, counts[contender.name]))
        if time.perf_counter() > deadline and number > 1:
            break
    return series


def _calibrated(contender: Contender) -> int:
    """How many calls of each worker fill a block."""
    block(contender.workers, WARM_UP)
    rate = block(contender.workers, WARM_UP)
    return max(1, int(rate * BLOCK_SECONDS / len(contender.workers)))


def block(workers: Sequence[Worker], count: int) -> float:
    """Let every worker do `count` units at once; units a second of all together."""
    given = [worker.inputs(count) for worker in workers]
    gc.collect()
    if len(workers) == 1:
        return count / _timed(workers[0], given[0])
    return count * len(workers) / _together(workers, given)


def _timed(worker: Worker, given: Sequence[Any]) -> float:
    do = worker.do
    start = time.perf_counter()
    for each in given:
        do(each)
    return time.perf_counter() - start


def _together(workers: Sequence[Worker], given: Sequence[Sequence[Any]]) -> float:
    barrier = threading.Barrier(len(workers) + 1)
    failures: list[BaseException] = []

    def run(worker: Worker, mine: Sequence[Any]) -> None:
        barrier.wait()
        try:
            _timed(worker, mine)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that measures
            failures.append(error)

    threads = [
        threading.Thread(target=run, args=pair, daemon=True) for pair in zip(workers, given, strict=True)
    ]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join(JOIN_SECONDS)
    elapsed = time.perf_counter() - start
    if failures:
        raise failures[0]
    return elapsed
