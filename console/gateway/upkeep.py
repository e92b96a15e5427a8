"""The commands that keep a store: housekeeping, and its figures for Prometheus."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from console.gateway.store import APPLICATION_NAME
from console.model import GatewayError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator

    from engine.desk import Gauges, Maintenance, Pass

METRICS_TIMEOUT: Final = timedelta(seconds=5)
"""Of one scrape's statements."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What housekeeping does: None of a limit keeps everything, or every tombstone. `guard`: module:function."""

    interval: timedelta
    max_age: timedelta | None = None
    max_checkpoints: int | None = None
    max_events: int | None = None
    tombstone_age: timedelta | None = None
    guard: str | None = None
    meter_age: timedelta | None = None


Report = dict[str, Any]
"""What one pass did, by name."""


def maintain(url: str, upkeep: Upkeep, stop: threading.Event, report: Callable[[Report], None]) -> None:
    """Pass after pass until `stop` is set; raises GatewayError if the store cannot be opened."""
    with _keeper(url, upkeep) as keeper:
        keeper.run(stop, report=lambda done: report(_report(done)))


def maintain_once(url: str, upkeep: Upkeep, stop: threading.Event) -> Report | None:
    """One pass; None while another process maintains the store. Raises GatewayError."""
    from engine.errors import EngineError

    with _keeper(url, upkeep) as keeper:
        try:
            done = keeper.run_once(stop)
        except EngineError:
            raise
        except Exception as error:
            said = f"the guard failed: {type(error).__name__}: {error}; its page is untouched"
            raise GatewayError(said, code="guard", retryable=True) from error
    return None if done is None else _report(done)


@contextmanager
def serving_metrics(url: str, listen: str) -> Iterator[str]:
    """Serve the store's figures until left; yields where. GatewayError for an address that cannot be had."""
    from engine.desk.exporter import Address, serving

    with _translated(), serving(lambda: _gauges(url), Address.of(listen)) as address:
        yield f"http://{address}/metrics"


def _gauges(url: str) -> Gauges:
    """Read through a connection that is given back at once: a scrape finds the store as it is now."""
    import engine

    with engine.open_store(
        url,
        ensure_schema=False,
        read_only=True,
        pool_size=1,
        statement_timeout=METRICS_TIMEOUT,
        application_name=f"{APPLICATION_NAME} metrics",
        wakeups=False,
    ) as store:
        return store.desk.gauges()


@contextmanager
def _keeper(url: str, upkeep: Upkeep) -> Iterator[Maintenance]:
    import engine
    from engine.checkpoints import RetentionPolicy, SweepPolicy
    from engine.desk import Maintenance
    from engine.desk.guard_spec import load_guard

    with _translated():
        keep = RetentionPolicy(upkeep.max_age, upkeep.max_checkpoints, upkeep.max_events)
        policy = SweepPolicy(keep, upkeep.tombstone_age)
        guard = None if upkeep.guard is None else load_guard(upkeep.guard)
        with engine.open_store(
            url,
            ensure_schema=False,
            pool_size=1,
            application_name=f"{APPLICATION_NAME} maintain",
            wakeups=False,
        ) as store:
            yield Maintenance(
                store, interval=upkeep.interval, policy=policy, guard=guard, meter_age=upkeep.meter_age
            )


def _report(done: Pass) -> Report:
    return asdict(done)


@contextmanager
def _translated() -> Iterator[None]:
    from engine.errors import EngineError

    try:
        yield
    except EngineError as error:
        raise GatewayError(error.explain(), code=error.code, retryable=error.retryable) from error
