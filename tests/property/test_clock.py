"""Instants and durations become whole nanoseconds and come back, or are refused (ruling 12)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.checkpoints import EventDraft
from engine.clock import EARLIEST, LATEST, ManualClock, from_ns, from_span, span_ns, to_ns
from engine.errors import ValidationError
from tests.property.values import INSTANTS, NAIVE, STORABLE, THOROUGHLY
from tests.support.builders import T0

LOWEST, HIGHEST = to_ns(EARLIEST), to_ns(LATEST)
SPANS = st.timedeltas()


class NoOffset(tzinfo):
    """A zone that says nothing, which makes a datetime as good as naive."""

    def utcoffset(self, when: datetime | None) -> None:
        """Nothing."""

    def dst(self, when: datetime | None) -> None:
        """Nothing."""

    def tzname(self, when: datetime | None) -> str:
        """Something."""
        return "nowhere"


@THOROUGHLY
@given(instant=STORABLE)
@example(instant=EARLIEST)
@example(instant=LATEST)
def test_an_instant_comes_back_equal_and_in_utc(instant: datetime) -> None:
    back = from_ns(to_ns(instant))
    assert back == instant
    assert back.tzinfo is UTC


@THOROUGHLY
@given(instant=INSTANTS)
def test_an_instant_is_stored_in_63_bits_or_refused(instant: datetime) -> None:
    inside = EARLIEST <= instant <= LATEST
    try:
        stored = to_ns(instant)
    except ValidationError:
        assert not inside
    else:
        assert inside
        assert -(2**63) <= stored < 2**63


@THOROUGHLY
@given(first=STORABLE, second=STORABLE)
def test_the_order_of_instants_is_that_of_their_numbers(first: datetime, second: datetime) -> None:
    assert (to_ns(first) < to_ns(second)) is (first < second)
    assert (to_ns(first) == to_ns(second)) is (first == second)


@THOROUGHLY
@given(ns=st.integers(LOWEST, HIGHEST))
def test_a_stored_number_is_cut_to_microseconds_downwards(ns: int) -> None:
    assert to_ns(from_ns(ns)) == ns // 1000 * 1000


@THOROUGHLY
@given(instant=NAIVE)
def test_a_naive_instant_is_refused(instant: datetime) -> None:
    for naive in (instant, instant.replace(tzinfo=NoOffset())):
        with pytest.raises(ValidationError):
            to_ns(naive)
        with pytest.raises(ValidationError):
            EventDraft("kind", None, "run", timestamp=naive)


@THOROUGHLY
@given(span=SPANS)
def test_a_duration_comes_back_equal(span: timedelta) -> None:
    assert from_span(span_ns(span)) == span


@THOROUGHLY
@given(start=STORABLE, span=st.timedeltas(-timedelta(days=300_000), timedelta(days=300_000)))
def test_adding_a_duration_is_adding_numbers(start: datetime, span: timedelta) -> None:
    assert from_ns(to_ns(start) + span_ns(span)) == start.astimezone(UTC) + span


@THOROUGHLY
@given(moves=st.lists(SPANS | st.timedeltas(-timedelta(days=9), timedelta(days=9)), max_size=8))
def test_a_manual_clock_moves_exactly_or_not_at_all(moves: list[timedelta]) -> None:
    clock, expected = ManualClock(T0), T0
    for by in moves:
        try:
            clock.advance(by)
        except ValidationError:
            assert clock.now() == expected
        else:
            expected += by
        assert clock.now() == expected
