"""The day store: amounts, admission under a cap, settling, sweeping (spend.md 2A, cases D)."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest

from engine import open_store
from engine.errors import CostCapExceeded, ReadOnlyStore, UnsupportedStore, ValidationError
from engine.spend import Consumed, DaySweep, DayTotal, amounts
from engine.spend.day import (
    DayStore,
    TokenPrice,
    minute_price,
    minutes_micro,
    release_expired_spend,
    reserve_spend,
    settled_tokens_micro,
    to_micro,
    token_price,
    tokens_micro,
    utc_day,
)
from tests.support.daybooks import (
    A0,
    A1,
    CAP,
    HOUR,
    MIDNIGHT,
    NEXT_DAY,
    D,
    Oracle,
    audited,
    committed,
    day_is,
    ms,
    reserve,
)
from tests.support.refusals import refused

if TYPE_CHECKING:
    from tests.support.harness import Harness

RATE = TokenPrice(0.0001, 0.0005)
NAN, INFINITY = float("nan"), float("inf")
HUGE = pytest.param(10**400, id="huge")


def over(kind: str, current: float, cap: float) -> CostCapExceeded:
    """The refusal of an admission."""
    return CostCapExceeded(kind, "daily", current, cap)


def test_spend_D1_amounts() -> None:
    assert minutes_micro(3600, 3000) == 180_000
    assert minutes_micro(1, 17_000) == 284
    assert minutes_micro(3600, 17_000) == 1_020_000
    assert minutes_micro(754, 3000) == 37_700
    assert to_micro(0.017) == 17_000


def test_spend_D1_dollars_are_taken_for_the_decimals_they_are_written_as() -> None:
    assert [to_micro(usd) for usd in (0.0000005, 0.0000015, 0.0000025, 1.1, 3)] == [
        1,
        2,
        3,
        1_100_000,
        3_000_000,
    ]
    assert to_micro(Decimal("0.0000004999")) == 0
    assert to_micro(-0.0000005) == 0
    assert minutes_micro(0.1, 600) == 1


def test_spend_D2_a_price_in_dollars_is_no_rate() -> None:
    for rate in (0.003, NAN, -1, True, None, "3000"):
        with pytest.raises(ValueError, match="micro_per_minute"):
            minutes_micro(3600, cast("int", rate))
    assert minutes_micro(3600, to_micro(0.003)) == 180_000
    for seconds in (NAN, INFINITY, -1, None, True):
        with pytest.raises(ValueError, match="seconds"):
            minutes_micro(cast("int", seconds), 3000)
    for usd in (NAN, -INFINITY, None, "1", False, 10.0**300):
        with pytest.raises(ValueError, match="usd"):
            to_micro(cast("float", usd))


def test_spend_D3_tokens() -> None:
    assert tokens_micro(1000, 160, RATE) == 180
    assert tokens_micro(10, 10, RATE) == 6
    assert tokens_micro(10, 10, {"input": 0.0001, "output": 0.0005}) == 6
    assert settled_tokens_micro(1000, 160, 150, RATE) == 150
    assert settled_tokens_micro(10, 10, 150, RATE) == 6
    for unknown in (None, 1.5, -1, True, NAN):
        assert settled_tokens_micro(unknown, 10, 150, RATE) == 150
        assert settled_tokens_micro(10, unknown, 150, RATE) == 150
        with pytest.raises(ValueError, match="prompt"):
            tokens_micro(cast("int", unknown), 10, RATE)


def test_spend_D4_prices_are_looked_up_and_never_changed() -> None:
    assert minute_price("gpt-4o-mini-transcribe") == 0.003
    assert minute_price("gpt-realtime-whisper-2026-01-01") == 0.017
    assert token_price("gpt-6-luna") == token_price("gpt-6-luna-2026-10-12") == RATE
    strange = (
        "constructor",
        "toString",
        "__proto__",
        "hasOwnProperty",
        "constructor-2026-01-01",
        "__class__",
        "",
    )
    for model in (
        "no-such-model",
        "gpt-6-luna-2026-10",
        "gpt-6-luna-2026-10-12\n",
        "gpt-6-luna-２026-10-12",
        *strange,
    ):
        assert minute_price(model) is None
        assert token_price(model) is None
    for table in (amounts.MINUTE_PRICES, amounts.TOKEN_PRICES):
        with pytest.raises(TypeError):
            cast("dict[str, Any]", table)["gpt-6-luna"] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        amounts.TOKEN_PRICES["gpt-6-luna"].input = 0.0  # type: ignore[misc]


def test_spend_D5_the_cap_is_a_limit_on_what_is_committed(harness: Harness) -> None:
    days = harness.store.days
    reserve(days, CAP - 100)
    refused(over("session", 59.9999, 60.0), reserve, days, 101)
    assert committed(days) == CAP - 100
    audited(harness.store)


def test_spend_D6_each_admission_names_its_own_cap(harness: Harness) -> None:
    days, share = harness.store.days, 36_000_000
    reserve(days, share)
    refused(over("session", 36.0, 36.0), reserve, days, 1, cap_micro=share)
    assert reserve(days, 1)


def test_spend_D7_a_reservation_settles_once(harness: Harness) -> None:
    days = harness.store.days
    held = reserve(days, 500)
    assert days.release(held, 900, A0)
    assert not days.release(held, 100, A0)
    assert committed(days) == 500
    assert not days.release("unknown", 1, A0)
    day_is(days, 0, 500)


def test_spend_D8_a_sweep_settles_what_is_due(harness: Harness) -> None:
    days = harness.store.days
    first = reserve(days, 1_020_000)
    start = datetime(2026, 10, 13, 0, 0, 1, tzinfo=UTC)
    reserve(days, 1_020_000, at=start, expires=start + HOUR)
    assert days.sweep(datetime(2026, 10, 12, 12, tzinfo=UTC)) == DaySweep(1, 0, 0, 0)
    assert [committed(days, day) for day in (D, NEXT_DAY)] == [1_020_000, 1_020_000]
    assert not days.release(first, 0, A1)
    assert committed(days) == 1_020_000
    audited(harness.store)


def test_spend_D9_amounts_are_whole_and_an_unknown_cost_is_the_whole_amount(harness: Harness) -> None:
    days = harness.store.days
    for micro in (NAN, 1.5, -1, True, None, "5", 2**53):
        with pytest.raises(ValueError, match="micro"):
            reserve(days, micro)
    held = reserve(days, 500)
    assert days.release(held, NAN, A0)
    assert committed(days) == 500
    assert reserve(days, CAP - 500)
    refused(over("session", 60.0, 60.0), reserve, days, 1)


NO_INSTANTS = (None, A0.replace(tzinfo=None), "2026-10-12", 5, datetime(1600, 1, 1, tzinfo=UTC))


def test_spend_D10_an_instant_that_is_none_is_refused(harness: Harness) -> None:
    days = harness.store.days
    for bad in NO_INSTANTS:
        for field in ("expires", "at"):
            with pytest.raises(ValueError):
                reserve(days, 5, **{field: bad})
    assert committed(days) == 0
    assert days.sweep(MIDNIGHT + HOUR) == DaySweep(0, 0, 0, 0)


def test_spend_D10_no_verb_takes_one(harness: Harness) -> None:
    days = harness.store.days
    held = reserve(days, 5)
    calls: list[Any] = [partial(days.release, held, 5), days.expired, days.sweep, utc_day]
    for bad in NO_INSTANTS:
        for call in (*calls, partial(days.defer, held, evidence={})):
            with pytest.raises(ValidationError):
                call(bad)
    day_is(days, 5, 0)


class Totals:
    """A day store whose total is whatever it is told, and which can do nothing else."""

    fenced_reservations = True
    operation_reservations = True

    def __init__(self, total: Any) -> None:
        self._total = total

    def lock_day(self, day: str) -> Any:
        """The total laid down."""
        return self._total


def admit(store: Any, **more: Any) -> str:
    """A session of 1 micro under CAP."""
    fields: dict[str, Any] = {"kind": "session", "micro": 1, "at": A0, "expires": A1, "cap_micro": CAP}
    return reserve_spend(cast("DayStore", store), **(fields | more))


@pytest.mark.parametrize("total", [NAN, -INFINITY, INFINITY, -1_000_000, 2.5, None, "0", True, 2**53, HUGE])
def test_spend_D11_a_total_that_is_no_whole_count_refuses(total: Any) -> None:
    with pytest.raises(CostCapExceeded) as caught:
        admit(Totals(total))
    assert (caught.value.cap_type, caught.value.cap_usd) == ("daily", 60.0)
    if total in (-INFINITY, INFINITY, -1_000_000, 2.5):
        assert caught.value.current_usd == total / 1e6


def test_spend_D12_a_cap_that_is_no_whole_count_refuses(harness: Harness) -> None:
    days = harness.store.days
    for cap in (INFINITY, CAP + 0.5, NAN, -1, None, True, "60000000", 2**53, 10**400):
        with pytest.raises(CostCapExceeded):
            reserve(days, 1, cap_micro=cap)
    assert committed(days) == 0


def test_spend_D13_a_row_belongs_to_the_day_it_was_made(harness: Harness) -> None:
    days = harness.store.days
    last = datetime(2026, 10, 12, 23, 59, 59, 999_000, tzinfo=UTC)
    held = reserve(days, 700, at=last, expires=last + HOUR)
    assert days.release(held, 200, MIDNIGHT + HOUR)
    day_is(days, 0, 200)
    day_is(days, 0, 0, NEXT_DAY)


def test_spend_D13_a_day_is_one_of_utc(harness: Harness) -> None:
    days, far = harness.store.days, timezone(timedelta(hours=-11))
    at = datetime(2026, 10, 12, 13, 0, 0, tzinfo=far)
    assert utc_day(at) == NEXT_DAY
    assert utc_day(at - timedelta(microseconds=1)) == D
    reserve(days, 5, at=at, expires=at + HOUR)
    day_is(days, 5, 0, NEXT_DAY)


def test_spend_D14_due_at_its_expiry_and_full_at_its_cap(harness: Harness) -> None:
    days = harness.store.days
    reserve(days, 5)
    sweeps = [days.sweep(at).settled for at in (ms(A1, -1), A1, A1)]
    assert sweeps == [0, 1, 0]
    assert reserve(days, CAP - 5)
    assert reserve(days, 0)
    assert reserve(days, 0, cap_micro=0, at=MIDNIGHT, expires=MIDNIGHT + HOUR)
    refused(over("call", 60.0, 60.0), reserve, days, 1, kind="call")


def test_spend_D14_an_expiry_before_the_start_is_taken(harness: Harness) -> None:
    days = harness.store.days
    reserve(days, 5, expires=A0 - HOUR)
    assert days.sweep(A0 - HOUR).settled == 1


FIGURES = ((-1, 500), (-0.5, 500), (7.9, 7), (INFINITY, 500), (0, 0), (10**400, 500), (Decimal("3.99"), 3))


def test_spend_D15_a_negative_cost_settles_whole(harness: Harness) -> None:
    days, total = harness.store.days, 0
    for figure, settled in FIGURES:
        held = reserve(days, 500)
        assert days.release(held, figure, A0)
        total += settled
        day_is(days, 0, total)


def test_spend_D15_a_cost_that_is_no_number_settles_nothing(harness: Harness) -> None:
    days = harness.store.days
    held = reserve(days, 500)
    for figure in (None, "5", True):
        with pytest.raises(ValidationError):
            days.release(held, cast("int", figure), A0)
    day_is(days, 500, 0)


def test_spend_a_refusal_leaves_no_row_behind(harness: Harness) -> None:
    days = harness.store.days
    with pytest.raises(CostCapExceeded):
        reserve(days, CAP + 1)
    assert days.expired(MIDNIGHT) == []
    day_is(days, 0, 0)


def test_spend_a_total_is_of_a_date(harness: Harness) -> None:
    for day in ("2026-10-32", "20261012", "2026-W42-1", "", "today", None, "2026-10-12 "):
        with pytest.raises(ValidationError):
            harness.store.days.total(cast("str", day))


def test_spend_a_store_without_fences_sweeps_what_is_listed() -> None:
    settled: list[tuple[str, int]] = []

    class Plain(Totals):
        fenced_reservations = False

        def expired_reservations(self, at: datetime) -> list[Any]:
            """Two rows, of which another process settles one."""
            return [Item("a", 5), Item("b", 7)]

        def settle_reservation(self, reservation_id: str, settled_micro: int, at: datetime) -> bool:
            """Whether it was still open."""
            settled.append((reservation_id, settled_micro))
            return reservation_id == "a"

    store = cast("DayStore", Plain(0))
    assert release_expired_spend(store, A1) == DaySweep(1, 0, 0, 0)
    assert settled == [("a", 5), ("b", 7)]
    with pytest.raises(UnsupportedStore):
        release_expired_spend(store, A1, lambda item: None)  # type: ignore[arg-type,return-value]


@dataclasses.dataclass
class Item:
    """All that a store without fences says of a due row."""

    id: str
    micro: int


def test_spend_a_reader_writes_nothing(harness: Harness) -> None:
    held = reserve(harness.store.days, 500)
    days = harness.open(read_only=True).days
    for call in (
        partial(reserve, days, 5),
        partial(days.release, held, 5, A0),
        partial(days.sweep, A1),
        partial(days.sweep, A1, lambda item: None),  # type: ignore[arg-type,return-value]
    ):
        with pytest.raises(ReadOnlyStore):
            call()
    assert days.total(D) == DayTotal(D, 500, 0)
    assert [item.id for item in days.expired(A1)] == [held]


def test_spend_in_memory() -> None:
    with open_store("memory:") as store:
        held = [reserve(store.days, 100, require_fence=fence) for fence in (False, True)]
        oracle = Oracle(Consumed(7))
        assert store.days.sweep(A1) == DaySweep(1, 0, 0, 1)
        assert store.days.sweep(A1, oracle) == DaySweep(1, 0, 0, 0)
        assert [item.id for item in oracle.asked] == held[1:]
        day_is(store.days, 0, 107)
        audited(store)
