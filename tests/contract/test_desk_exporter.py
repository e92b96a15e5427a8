"""The gauges over HTTP: names and figures, a store that fails, addresses that cannot be had."""

from __future__ import annotations

import logging
import socket
import threading
import time
import urllib.request
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from engine.checkpoints import CheckpointStatus
from engine.desk import exporter
from engine.desk.exporter import Address, StoreCollector, serving
from engine.errors import StoreFailure, ValidationError
from tests.support.builders import TTL, claim
from tests.support.cascades import grow
from tests.support.money import fill_money
from tests.support.queued import leased
from tests.support.threads import SECOND, put
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.desk import Gauges
    from tests.support.harness import Harness

Figures = dict[tuple[str, str], float]
ANYWHERE = Address("127.0.0.1", 0)
KINDS, MONEY_STATES = ("day", "meter", "tentative"), ("open", "expired", "fenced", "due")


def scraped(address: Address) -> str:
    """What Prometheus is told."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith("text/plain")
        body: bytes = answer.read()
    return body.decode()


def figures(text: str) -> Figures:
    """By name without its prefix, and the one label's value."""
    return {
        (sample.name.removeprefix("holdwatch_"), "".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_figure_has_its_name(harness: Harness) -> None:
    store = harness.checkpoints
    for status in (CheckpointStatus.SUSPENDED, CheckpointStatus.RUNNING):
        store.release(status.value, put(store, status.value, status=status))
    grow(store, {"gone": None})
    store.delete_thread("gone", claim(store, "gone").token)
    claim(store, "left", ttl=TTL)
    leased(harness.store.queue, "run")
    harness.advance(TTL)
    claim(store, "held")
    harness.store.queue.enqueue("waiting", {})
    harness.advance(SECOND)
    with serving(harness.store.desk.gauges, ANYWHERE) as address:
        text = scraped(address)
    found = figures(text)
    assert found.pop(("read_seconds", "")) < 10
    since = TTL.total_seconds() + 1
    assert found == {
        ("up", ""): 1,
        ("threads", "running"): 0,
        ("threads", "idle"): 1,
        ("threads", "suspended"): 1,
        ("threads", "completed"): 0,
        ("threads", "failed"): 0,
        ("threads", "deleted"): 0,
        ("claims", "live"): 1,
        ("claims", "expired"): 1,
        ("oldest_incomplete_seconds", ""): since,
        ("tombstones", ""): 1,
        ("oldest_tombstone_seconds", ""): since,
        ("queue_entries", "queued"): 1,
        ("queue_entries", "leased"): 1,
        ("queue_entries", "dead"): 0,
        ("queue_due", ""): 1,
        ("queue_lapsed", ""): 1,
        ("queue_oldest_due_seconds", ""): 1,
        ("queue_oldest_lapsed_seconds", ""): 1,
        ("held_micro_dollars", ""): 0,
    } | {("reservations", f"{kind}{state}"): 0 for kind in KINDS for state in MONEY_STATES}
    assert text.count("# HELP holdwatch_") == text.count("# TYPE holdwatch_") == 14
    assert "10000 means that many or more" in text


def test_money_by_kind_and_state(harness: Harness) -> None:
    fill_money(harness)
    with serving(harness.store.desk.gauges, ANYWHERE) as address:
        found = figures(scraped(address))
    states = {kind: [found["reservations", f"{kind}{state}"] for state in MONEY_STATES] for kind in KINDS}
    assert states == {"day": [5, 4, 6, 6], "meter": [8, 8, 4, 4], "tentative": [6, 6, 0, 0]}
    assert found["held_micro_dollars", ""] == harness.store.desk.reservation_totals().held_micro > 0


def test_a_store_that_fails_is_down_and_then_up_again(
    harness: Harness, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporter, "FRESH_SECONDS", 0.0)
    answers: list[StoreFailure | None] = [None, StoreFailure("gauges", "no connection"), None]
    failing: StoreFailure | None = None

    def read() -> Gauges:
        if failing is not None:
            raise failing
        return harness.store.desk.gauges()

    ups = []
    with serving(read, ANYWHERE) as address, caplog.at_level(logging.WARNING):
        for failing in answers:
            for _ in range(2):
                found = figures(scraped(address))
                ups.append(found["up", ""])
                assert (("threads", "idle") in found) is (failing is None)
    assert ups == [1, 1, 0, 0, 1, 1]
    said = [record.getMessage() for record in caplog.records if record.name == exporter.__name__]
    assert len(said) == 2
    assert "no connection" in said[0]


def test_a_closed_store_is_down(harness: Harness) -> None:
    harness.store.close()
    with serving(harness.store.desk.gauges, ANYWHERE) as address:
        assert figures(scraped(address)) == {("up", ""): 0}


class Slow:
    """A store that is slow to answer, and counts how often it is asked and by how many at once."""

    def __init__(self, read: Callable[[], Gauges]) -> None:
        self._read = read
        self.asked = self.inside = self.most = 0

    def __call__(self) -> Gauges:
        self.asked += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.05)
        self.inside -= 1
        return self._read()


def test_many_scrapes_cost_no_more_than_one(harness: Harness) -> None:
    slow = Slow(harness.store.desk.gauges)
    with serving(slow, ANYWHERE) as address:
        texts = all_succeeded(together(*[lambda: scraped(address)] * 10))
    assert len(set(texts)) == 1
    assert (slow.asked, slow.most) == (1, 1)


def test_a_reading_is_not_kept_for_long(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter, "FRESH_SECONDS", 0.05)
    registry = CollectorRegistry()
    registry.register(StoreCollector(harness.store.desk.gauges))
    assert registry.get_sample_value("holdwatch_threads", {"status": "idle"}) == 0
    harness.checkpoints.release("t", put(harness.checkpoints, "t"))
    time.sleep(0.06)
    assert registry.get_sample_value("holdwatch_threads", {"status": "idle"}) == 1


def test_a_client_that_says_nothing_is_dropped_and_holds_up_nobody(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporter._Handler, "timeout", 0.2)
    with (
        serving(harness.store.desk.gauges, ANYWHERE) as address,
        socket.create_connection((address.host, address.port), timeout=10) as silent,
    ):
        assert figures(scraped(address))["up", ""] == 1
        assert silent.recv(1) == b""


def test_after_serving_the_port_is_free(harness: Harness) -> None:
    before = threading.active_count()
    with serving(harness.store.desk.gauges, ANYWHERE) as address:
        pass
    with serving(harness.store.desk.gauges, address) as again:
        assert again == address
        assert figures(scraped(again))["up", ""] == 1
    assert threading.active_count() <= before + 1


@contextmanager
def occupied() -> Iterator[int]:
    """A port that somebody else listens at."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def unused() -> Gauges:
    """Never read."""
    raise AssertionError("nothing was to be served")


def test_an_address_that_is_taken() -> None:
    with (
        occupied() as port,
        pytest.raises(ValidationError, match=f"127.0.0.1:{port}") as caught,
        serving(unused, Address("127.0.0.1", port)),
    ):
        pytest.fail("two servers at one address")
    assert caught.value.field == "listen"


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid", "a" * 300, "ünknown..host"])
def test_an_address_of_another_machine_or_of_none(host: str) -> None:
    with pytest.raises(ValidationError, match="listen"), serving(unused, Address(host, 0)):
        pytest.fail("served where this machine is not")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9187", Address("127.0.0.1", 9187)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:80", Address("::1", 80)),
        ("0.0.0.0:65535", Address("0.0.0.0", 65535)),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert Address.of(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    "text",
    ["", ":", "9187", ":9187", "127.0.0.1", "127.0.0.1:", "h:65536", "h:-1", "h:+1", "h:1x", "::1:80", "h:¹"],
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Address.of(text)
    assert caught.value.field == "listen"


def test_an_address_of_version_6(harness: Harness) -> None:
    with serving(harness.store.desk.gauges, Address.of("[::1]:0")) as address:
        assert str(address).startswith("[::1]:")
        assert figures(scraped(address))["up", ""] == 1


def test_ages_are_seconds() -> None:
    assert exporter._age("x", "Since.", timedelta(milliseconds=1500)).samples[0].value == 1.5
    assert exporter._age("x", "Since.", None).samples[0].value == 0
