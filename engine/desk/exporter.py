"""A store's gauges for Prometheus, over HTTP (console: `holdwatch metrics`).

Labels are words of fixed sets, never an id. A store that cannot be read shows as `holdwatch_up 0`.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from wsgiref.simple_server import WSGIRequestHandler

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import ThreadingWSGIServer, make_wsgi_app
from prometheus_client.registry import Collector

from engine.desk.views import MAX_COUNT
from engine.errors import EngineError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import timedelta

    from prometheus_client import Metric

    from engine.desk.gauges import Gauges
    from engine.desk.money_views import ReservationTotals

FRESH_SECONDS: Final = 1.0
"""A reading is served for so long: many scrapers cost the store no more than one."""
REQUEST_SECONDS: Final = 10.0
"""A client that has not sent its request by then is dropped."""
CAP: Final = f"{MAX_COUNT} means that many or more"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Port 0 takes any free one."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Address:
        """From `host:port` or `[v6]:port`; ValidationError (field `listen`) for anything else."""
        host, colon, port = text.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            raise _bad(text, "an IPv6 address stands in brackets, like [::1]:9187")
        if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65_535:
            raise _bad(text, "write host:port, like 127.0.0.1:9187")
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def family(self) -> socket.AddressFamily:
        """Of an IP address, or of what a name stands for; ValidationError for a name nobody knows."""
        try:
            version = ipaddress.ip_address(self.host).version
        except ValueError:
            return self._looked_up()
        return socket.AF_INET6 if version == 6 else socket.AF_INET

    def _looked_up(self) -> socket.AddressFamily:
        try:
            return socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0][0]
        except (OSError, UnicodeError) as error:
            raise _bad(str(self), f"{self.host!r} is no address of this machine: {error}") from error


def _bad(text: str, problem: str) -> ValidationError:
    return ValidationError("listen", (f"{text!r}: {problem}",))


class StoreCollector(Collector):
    """Turns the gauges that `read` gives into metrics, at the moment of a scrape."""

    def __init__(self, read: Callable[[], Gauges]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._metrics: list[Metric] = []
        self._until = 0.0
        self._failing = False

    def collect(self) -> Iterator[Metric]:
        """The metrics; of scrapes at once only one reads the store."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._metrics = self._measured()
                self._until = time.monotonic() + FRESH_SECONDS
            metrics = self._metrics
        yield from metrics

    def _measured(self) -> list[Metric]:
        began = time.monotonic()
        try:
            found = self._read()
        except EngineError as error:
            if not self._failing:
                log.warning("the store cannot be read: %s", error.explain())
            self._failing = True
            return [_gauge("up", "Whether the store could be read.", 0)]
        if self._failing:
            log.warning("the store can be read again")
        self._failing = False
        took = _gauge("read_seconds", "How long reading the store took.", time.monotonic() - began)
        return [_gauge("up", "Whether the store could be read.", 1), took, *metrics_of(found)]


def metrics_of(found: Gauges) -> list[Metric]:
    """The gauges under their names; an age of nothing is 0."""
    return [*_threads(found), *_money(found.money)]


def _threads(found: Gauges) -> list[Metric]:
    states = {status.value: count.count for status, count in found.threads.items()}
    claims = {"live": found.claims.live.count, "expired": found.claims.expired.count}
    queue = found.queue
    entries = {"queued": queue.queued.count, "leased": queue.leased.count, "dead": found.dead.count}
    return [
        _labelled("threads", f"Threads with a checkpoint, children included; {CAP}.", "status", states),
        _labelled("claims", f"Claims stored: live, or over and not released; {CAP}.", "state", claims),
        _age("oldest_incomplete", "Since the longest idle thread was last written.", found.oldest_incomplete),
        _gauge("tombstones", f"Deleted threads not reclaimed yet; {CAP}.", found.tombstones.count),
        _age("oldest_tombstone", "Since the delete that is longest ago.", found.oldest_tombstone),
        _labelled("queue_entries", f"Run queue entries; {CAP}.", "state", entries),
        _gauge("queue_due", f"Queued entries that could be leased now; {CAP}.", queue.due.count),
        _gauge("queue_lapsed", f"Leases that are over; {CAP}.", queue.lapsed.count),
        _age("queue_oldest_due", "For how long the first due entry has been waiting.", queue.oldest_due),
        _age("queue_oldest_lapsed", "Since the first of those leases is over.", queue.oldest_lapsed),
    ]


def _money(found: ReservationTotals) -> list[Metric]:
    help_text = f"Open reservations: expired ones await a pass, due ones an answer; {CAP}."
    family = GaugeMetricFamily("holdwatch_reservations", help_text, labels=("kind", "state"))
    for kind, counts in (("day", found.day), ("meter", found.meter), ("tentative", found.tentative)):
        for state in ("open", "expired", "fenced", "due"):
            family.add_metric((kind, state), getattr(counts, state).count)
    held = "Micro-dollars that open reservations of all days hold."
    return [family, _gauge("held_micro_dollars", held, found.held_micro)]


def _gauge(name: str, documentation: str, value: float) -> Metric:
    return GaugeMetricFamily(f"holdwatch_{name}", documentation, value=value)


def _age(name: str, documentation: str, age: timedelta | None) -> Metric:
    seconds = 0.0 if age is None else age.total_seconds()
    return _gauge(f"{name}_seconds", f"{documentation} 0: there is none.", seconds)


def _labelled(name: str, documentation: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(f"holdwatch_{name}", documentation, labels=(label,))
    for word, value in values.items():
        family.add_metric((word,), value)
    return family


class _Handler(WSGIRequestHandler):
    timeout = REQUEST_SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's own name
        """Scrapes are no news."""


@contextmanager
def serving(read: Callable[[], Gauges], address: Address) -> Iterator[Address]:
    """Serve the gauges from a thread of its own until left; yields where, with the real port.

    ValidationError (field `listen`) for an address that cannot be listened at.
    """
    registry = CollectorRegistry()
    registry.register(StoreCollector(read))
    server = _server(address)
    server.set_app(make_wsgi_app(registry))
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True, name="holdwatch-metrics")
    thread.start()
    try:
        yield Address(address.host, server.server_port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _server(address: Address) -> ThreadingWSGIServer:
    kind = type("Server", (ThreadingWSGIServer,), {"address_family": address.family})
    try:
        server: ThreadingWSGIServer = kind((address.host, address.port), _Handler)
    except OSError as error:
        raise _bad(str(address), f"cannot be listened at: {error.strerror or error}") from error
    return server
