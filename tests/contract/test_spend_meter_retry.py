"""The spend meter: cases T of spend.md, ruling 44's one loop, and what a lost answer means for it (ruling 3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import errors as pg

from engine.errors import CommitUnknown, SpendMeterUnavailable, ValidationError
from engine.spend import DenialReason, RetryPolicy
from engine.spend.meter import reserve
from tests.support.lossy import LossyLink
from tests.support.meters import (
    CONSUMED,
    T0,
    Product,
    check_sums,
    consume,
    denied,
    granted,
    hold,
    metering,
    month,
    reservations,
)

if TYPE_CHECKING:
    from tests.support.harness import Harness

Make = Callable[[], Exception]


def milliseconds(attempts: int, base: int, most: int, deadline: int) -> RetryPolicy:
    """A policy in the units of the cases."""
    one = timedelta(milliseconds=1)
    return RetryPolicy(attempts, base * one, most * one, deadline * one)


def sqlite_error(code: int, said: str = "from the test") -> Exception:
    """What the driver raises."""
    error = sqlite3.OperationalError(said)
    error.sqlite_errorcode = code
    return error


TRANSIENT: dict[str, dict[str, Make]] = {
    "postgresql": {
        "40001": lambda: pg.SerializationFailure("from the test"),
        "40P01": lambda: pg.DeadlockDetected("from the test"),
        "08006": lambda: pg.ConnectionFailure("from the test"),
        "57P01": lambda: pg.AdminShutdown("from the test"),
        "ECONNRESET": lambda: psycopg.OperationalError("connection reset by peer"),
    },
    "sqlite": {
        "SQLITE_BUSY": lambda: sqlite_error(sqlite3.SQLITE_BUSY),
        "SQLITE_BUSY_SNAPSHOT": lambda: sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT),
        "SQLITE_LOCKED": lambda: sqlite_error(sqlite3.SQLITE_LOCKED),
    },
}
LASTING: dict[str, dict[str, Make]] = {
    "postgresql": {
        "42601": lambda: pg.SyntaxError("from the test"),
        "23505": lambda: pg.UniqueViolation("from the test"),
    },
    "sqlite": {
        "SQLITE_ERROR": lambda: sqlite_error(sqlite3.SQLITE_ERROR),
        "SQLITE_CONSTRAINT": lambda: sqlite_error(sqlite3.SQLITE_CONSTRAINT),
        "SQLITE_CONSTRAINT_UNIQUE": lambda: sqlite_error(sqlite3.SQLITE_CONSTRAINT_UNIQUE),
    },
}


class Failing:
    """The transaction of a reservation, whose first calls fail once they have written everything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, make: Make, times: int) -> None:
        self.calls = 0
        self._real, self._make, self._times = reserve.reserve, make, times
        monkeypatch.setattr(reserve, "reserve", self)

    def __call__(self, *arguments: Any) -> Any:
        """One try."""
        self.calls += 1
        answer = self._real(*arguments)
        if self.calls <= self._times:
            raise self._make()
        return answer


def first(errors: dict[str, dict[str, Make]], harness: Harness) -> Make:
    """One of this back end's errors."""
    return next(iter(errors[harness.kind].values()))


def test_spend_T1_it_answers_at_the_third_try(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    make = TRANSIENT[harness.kind].get("40P01", first(TRANSIENT, harness))
    meter = metering(harness, a=2, retry=milliseconds(3, 1, 2, 1000))
    failing = Failing(monkeypatch, make, times=2)
    assert granted(meter.reserve("a", "op", now=T0)).attempt == 1
    assert failing.calls == 3
    check_sums(harness)


def test_spend_T2_a_mistake_is_not_tried_again(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    meter = metering(harness, a=2, retry=milliseconds(3, 1, 2, 1000))
    failing = Failing(monkeypatch, first(LASTING, harness), times=9)
    with pytest.raises(SpendMeterUnavailable, match="from the test") as caught:
        meter.reserve("a", "op", now=T0)
    assert (failing.calls, caught.value.operation) == (1, "reserve")
    assert caught.value.code == "SPEND_METER_UNAVAILABLE"
    assert caught.value.__cause__ is not None
    assert reservations(harness) == {}


def test_spend_T3_the_deadline_ends_it(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    make: Make = lambda: sqlite_error(sqlite3.SQLITE_BUSY)  # noqa: E731
    if harness.kind == "postgresql":
        make = lambda: pg.DeadlockDetected("from the test")  # noqa: E731
    meter = metering(harness, a=2, retry=milliseconds(10, 40, 40, 100))
    failing = Failing(monkeypatch, make, times=99)
    with pytest.raises(SpendMeterUnavailable):
        meter.reserve("a", "op", now=T0)
    assert 1 < failing.calls < 10
    assert reservations(harness) == {}


def calls_of(harness: Harness, monkeypatch: pytest.MonkeyPatch, make: Make) -> int:
    """How often a reservation that always fails so is tried, of two times."""
    meter = metering(harness, a=2, retry=milliseconds(2, 0, 0, 1000))
    failing = Failing(monkeypatch, make, times=99)
    with pytest.raises(SpendMeterUnavailable):
        meter.reserve("a", "op", now=T0)
    monkeypatch.undo()
    return failing.calls


def test_spend_T4_what_passes_and_what_stays(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    transient = {name: calls_of(harness, monkeypatch, make) for name, make in TRANSIENT[harness.kind].items()}
    lasting = {name: calls_of(harness, monkeypatch, make) for name, make in LASTING[harness.kind].items()}
    assert transient == dict.fromkeys(TRANSIENT[harness.kind], 2)
    assert lasting == dict.fromkeys(LASTING[harness.kind], 1)


def test_ruling_44_the_store_itself_does_not_wait_for_a_busy_one(sqlite_harness: Harness) -> None:
    store: Any = sqlite_harness.store
    calls = []

    def busy(_connection: Any) -> None:
        calls.append(1)
        raise sqlite_error(sqlite3.SQLITE_BUSY)

    with pytest.raises(Exception, match="from the test"):
        store._transactions.write("test", busy)
    assert len(calls) == 1


def test_ruling_44_a_policy_is_checked(harness: Harness) -> None:
    with pytest.raises(ValidationError):
        metering(harness, a=1, retry={"attempts": 3})
    with pytest.raises(ValidationError):
        RetryPolicy(attempts=1000)


@pytest.mark.parametrize("known", [False, True], ids=["ordinary form", "one statement"])
def test_ruling_3_a_lost_answer_is_unavailable_and_never_tried_again(
    postgres_harness: Harness, known: bool
) -> None:
    with LossyLink(postgres_harness.url) as link:
        store = postgres_harness.open(link.url)
        meter = store.meter(allowance_for=Product(a=9), period_of=month, retry=milliseconds(5, 1, 2, 1000))
        meter.ensure_schema()
        if known:
            consume(meter, T0, "before")
        link.arm(lambda tag: tag == (b"SELECT 1" if known else b"COMMIT") and _holds(postgres_harness))
        with pytest.raises(SpendMeterUnavailable) as caught:
            meter.reserve("a", "op", now=T0)
        assert link.lost == 1
        assert isinstance(caught.value.__cause__, CommitUnknown)
        denied(meter.reserve("a", "op", now=T0), DenialReason.IN_FLIGHT, 8 - known)
        assert meter.settle("op", CONSUMED, now=T0).status == "settled"
    check_sums(postgres_harness)


def _holds(harness: Harness) -> bool:
    return "op" in reservations(harness)


def test_an_ended_connection_before_anything_was_sent_is_tried_again(postgres_harness: Harness) -> None:
    meter = metering(postgres_harness, a=9)
    hold(meter, T0, "before")
    broken: list[int] = []
    real = reserve.reserve

    def ended(connection: Any, *rest: Any) -> Any:
        if not broken:
            broken.append(1)
            connection.connection.driver_connection.close()
        return real(connection, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reserve, "reserve", ended)
        denied(meter.reserve("a", "before", now=T0), DenialReason.IN_FLIGHT, 8)
    assert broken == [1]
