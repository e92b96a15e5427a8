"""The spend meter: cases F of spend.md, rulings 43 and 66: fences, deferral, and answers that come too late."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import SpendMeterUnavailable
from engine.spend import (
    Consumed,
    Deferred,
    DenialReason,
    MeterReservation,
    PurgeReport,
    Released,
    SettlementStatus,
    SpendMeter,
)
from tests.support.meters import (
    CONSUMED,
    HR,
    LEASE,
    RELEASED,
    T0,
    T1,
    accounts,
    check_sums,
    consume,
    counts,
    denied,
    granted,
    held,
    hold,
    metering,
    ms,
    reservations,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.harness import Harness

ANSWERS = [Consumed(), Released(), Deferred(ms(60_000), {"ticket": 7})]
NOTHING = (0, 0, 0, 0)


class Oracle:
    """A resolver that notes what it is asked, may do something meanwhile, and answers."""

    def __init__(self, *answers: object, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.asked: list[MeterReservation] = []
        self._answers, self._meanwhile = answers, meanwhile

    def __call__(self, row: MeterReservation) -> object:
        """The next answer, or the last one again."""
        self.asked.append(row)
        self._meanwhile()
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def operations(self) -> list[str]:
        """Which operations it was asked about."""
        return [row.operation_id for row in self.asked]


def row_of(harness: Harness, operation: str = "op") -> tuple[str, int, int, bool]:
    """state, attempt, milliseconds from T0 to its expiry, fenced."""
    row = reservations(harness)[operation]
    return row.state, row.attempts, row.expires_at - int(T0.timestamp() * 1000), bool(row.fenced)


def test_spend_F1_no_default_settles_a_fenced_row(harness: Harness) -> None:
    meter = metering(harness, a=3)
    hold(meter, T0, "f", require_fence=True)
    hold(meter, T0, "p")
    assert counts(meter.reconcile(now=ms(5000))) == (0, 1, 0, 0)
    assert row_of(harness, "f")[0] == "reserved"
    assert held(meter.snapshot("a", now=T0)) == (0, 1, 2)
    denied(meter.reserve("a", "f", now=ms(5000)), DenialReason.IN_FLIGHT, 2)


def test_spend_F2_fenced_rows_starve_nobody(harness: Harness) -> None:
    meter = metering(harness, a=3)
    hold(meter, T0, "f1", "f2", require_fence=True)
    hold(meter, ms(10), "p")
    assert counts(meter.reconcile(now=ms(5000), limit=1)) == (0, 1, 0, 0)
    assert row_of(harness, "p")[0] == "released"


def test_spend_F3_three_answers(harness: Harness) -> None:
    answers = {"c": Consumed(), "r": Released(), "d": Deferred(ms(60_000), {"ticket": 7})}
    asked: list[MeterReservation] = []

    def resolve(row: MeterReservation) -> object:
        asked.append(row)
        return answers[row.operation_id]

    meter = metering(harness, a=9, resolve_expired=resolve)
    hold(meter, T0, "c", "r", "d")
    assert counts(meter.reconcile(now=ms(1000))) == (1, 1, 1, 0)
    assert held(meter.snapshot("a", now=T0)) == (1, 1, 7)
    assert row_of(harness, "d") == ("reserved", 1, 60_000, True)
    assert reservations(harness)["d"].evidence_json == '{"ticket":7}'
    assert sorted(row.operation_id for row in asked) == ["c", "d", "r"]
    assert asked[0] == MeterReservation(
        asked[0].operation_id, "a", "2026-10", 1, 1, T0, T0 + LEASE, False, None
    )

    asked.clear()
    assert counts(meter.reconcile(now=ms(59_999))) == NOTHING
    assert asked == []
    answers["d"] = Released()
    assert counts(meter.reconcile(now=ms(60_000))) == (0, 1, 0, 0)
    assert [(row.operation_id, row.fenced, row.evidence) for row in asked] == [("d", True, {"ticket": 7})]
    assert held(meter.snapshot("a", now=T0)) == (1, 0, 8)
    check_sums(harness)


def test_spend_F4_a_resolver_that_raises_decides_nothing(harness: Harness) -> None:
    oracle = Oracle(RuntimeError("the provider is down"))
    meter = metering(harness, a=9, resolve_expired=oracle, unknown_after_lease="consume")
    hold(meter, T0, "op")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 0, 1, 0)
    assert row_of(harness) == ("reserved", 1, 2000, True)
    assert reservations(harness)["op"].evidence_json == '{"error":"RuntimeError: the provider is down"}'
    assert counts(metering(harness, a=9).reconcile(now=ms(99_999))) == NOTHING
    assert meter.settle("op", CONSUMED, now=ms(99_999)).status == SettlementStatus.SETTLED
    assert held(meter.snapshot("a", now=T0)) == (1, 0, 8)


@pytest.mark.parametrize("answer", ANSWERS)
def test_spend_F5_an_answer_is_for_the_attempt_asked_about(harness: Harness, answer: object) -> None:
    owner = metering(harness, a=9)

    def retry() -> None:
        owner.settle("op", RELEASED, now=ms(1000))
        assert granted(owner.reserve("a", "op", now=ms(1000))).attempt == 2

    meter = metering(harness, a=9, resolve_expired=Oracle(answer, meanwhile=retry))
    hold(owner, T0, "op")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 0, 0, 1)
    assert row_of(harness) == ("reserved", 2, 2000, False)
    assert held(meter.snapshot("a", now=T0)) == (0, 1, 8)


@pytest.mark.parametrize("resolver", ["resolve_unknown", "resolve_expired"])
def test_ruling_66_not_even_when_the_retrys_lease_is_out_too(harness: Harness, resolver: str) -> None:
    owner = metering(harness, a=9)

    def retry_by_a_clock_behind() -> None:
        owner.settle("op", RELEASED, now=ms(1000))
        assert granted(owner.reserve("a", "op", now=ms(1000))).attempt == 2

    meter = metering(harness, a=9, **{resolver: Oracle(Consumed(), meanwhile=retry_by_a_clock_behind)})
    hold(owner, T0, "op")
    assert counts(meter.reconcile(now=ms(9000))) == (0, 0, 0, 1)
    assert row_of(harness) == ("reserved", 2, 2000, False)
    assert held(owner.snapshot("a", now=T0)) == (0, 1, 8)


@pytest.mark.parametrize("resolver", ["resolve_unknown", "resolve_expired"])
def test_spend_F6_a_heartbeat_while_asked(harness: Harness, resolver: str) -> None:
    owner = metering(harness, a=9)
    oracle = Oracle(Released(), meanwhile=lambda: owner.heartbeat("op", now=ms(1000)))
    hold(owner, T0, "op")
    meter = metering(harness, a=9, **{resolver: oracle})
    assert counts(meter.reconcile(now=ms(1000))) == (0, 0, 0, 1)
    assert row_of(harness) == ("reserved", 1, 2000, False)


def other_pass(harness: Harness, now: datetime, until: datetime) -> None:
    """Another meter's pass defers what has expired."""
    other = metering(harness, a=9, resolve_expired=Oracle(Deferred(until, {"by": "another"})))
    assert counts(other.reconcile(now=now)) == (0, 0, 1, 0)


def test_spend_F7_another_pass_defers_while_asked(harness: Harness) -> None:
    oracle = Oracle(Consumed(), meanwhile=lambda: other_pass(harness, ms(1000), ms(70_000)))
    meter = metering(harness, a=9, resolve_expired=oracle)
    hold(meter, T0, "op")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 0, 0, 1)
    assert row_of(harness) == ("reserved", 1, 70_000, True)


def test_spend_F8_a_fence_bars_who_may_only_ask_about_unfenced_rows(harness: Harness) -> None:
    oracle = Oracle(Consumed(), meanwhile=lambda: other_pass(harness, ms(500), ms(1000)))
    meter = metering(harness, a=9, resolve_unknown=oracle)
    hold(meter, ms(-500), "op")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 0, 0, 1)
    assert row_of(harness) == ("reserved", 1, 1000, True)
    assert counts(meter.reconcile(now=ms(1000))) == NOTHING
    assert oracle.operations == ["op"]


@pytest.mark.parametrize("answer", ANSWERS)
def test_spend_F9_the_owners_outcome_stands(harness: Harness, answer: object) -> None:
    owner = metering(harness, a=9)
    oracle = Oracle(answer, meanwhile=lambda: owner.settle("op", CONSUMED, now=ms(1000)))
    hold(owner, T0, "op")
    assert counts(metering(harness, a=9, resolve_expired=oracle).reconcile(now=ms(1000))) == NOTHING
    assert held(owner.snapshot("a", now=T0)) == (1, 0, 8)
    assert row_of(harness)[0] == "consumed"


def test_spend_F10_a_fence_ends_with_its_attempt(harness: Harness) -> None:
    answers = Oracle(Deferred(ms(2000), {"ticket": 7}), Released())
    meter = metering(harness, a=9, resolve_expired=answers)
    hold(meter, T0, "op", require_fence=True)
    meter.reconcile(now=ms(1000))
    assert counts(meter.reconcile(now=ms(2000))) == (0, 1, 0, 0)
    assert granted(meter.reserve("a", "op", now=ms(2000))).attempt == 2
    assert row_of(harness) == ("reserved", 2, 3000, False)
    assert reservations(harness)["op"].evidence_json is None


def test_spend_F11_a_purge_keeps_what_is_deferred(harness: Harness) -> None:
    meter = metering(harness, a=9, window=HR, resolve_expired=Oracle(Deferred(ms(2000), {})))
    hold(meter, T0, "op")
    meter.reconcile(now=ms(1000))
    assert meter.purge(T1 + timedelta(days=999)) == PurgeReport(0, 0)
    assert (len(reservations(harness)), len(accounts(harness))) == (1, 1)


def test_spend_F12_the_oldest_are_asked_about_first(harness: Harness) -> None:
    """By their expiry; the order of their ids is the other way round."""
    for limit, expected in ((2, ["z", "y"]), (0, ["x"])):
        oracle = Oracle(Released())
        meter = metering(harness, a=9, resolve_expired=oracle)
        if limit == 2:
            for place, operation in enumerate(("z", "y", "x", "w")):
                hold(meter, ms(place), operation)
        meter.reconcile(now=ms(5000), limit=limit)
        assert oracle.operations == expected


def test_spend_F13_one_resolver_takes_the_place_of_the_other(harness: Harness) -> None:
    unknown, expired = Oracle(Consumed()), Oracle(Released())
    meter = metering(harness, a=9, resolve_unknown=unknown, resolve_expired=expired)
    hold(meter, T0, "op")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 1, 0, 0)
    assert (unknown.operations, expired.operations) == ([], ["op"])


REFUSING = {
    "sqlite": "CREATE TABLE idx_spend_reservations_account (a TEXT)",
    # PostgreSQL passes over a name that is taken, whatever it belongs to.
    "postgresql": "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN"
    " RAISE EXCEPTION 'no index today'; END $$;"
    " CREATE EVENT TRIGGER refusing ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse()",
}
"""What keeps a database from making the index."""


def test_spend_F14_a_hearer_of_warnings_that_raises(harness: Harness) -> None:
    heard: list[object] = []

    def hear(warning: object) -> None:
        heard.append(warning)
        raise RuntimeError("deaf")

    metering(harness, a=9).ensure_schema()
    run(harness, "DROP INDEX idx_spend_reservations_account")
    with harness.raw() as connection:
        connection.exec_driver_sql(REFUSING[harness.kind])
    meter = metering(harness, a=9, on_warning=hear)
    meter.ensure_schema()
    hold(meter, T0, "op")
    assert len(heard) == 1
    metering(harness, a=9).ensure_schema()  # which nobody hears of


NONSENSE = [
    None,
    "consumed",
    Consumed(figure=3),
    Deferred(ms(1000), {}),
    Deferred(ms(999), {}),
    Deferred(datetime(2027, 1, 1), {}),  # noqa: DTZ001 - that is what is wrong with it
    Deferred(ms(9000), "why"),  # type: ignore[arg-type]
    Deferred(ms(9000), {"why": "x" * 17_000}),
    Deferred(ms(9000), {"why": float("nan")}),
    Deferred("tomorrow", {}),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("answer", NONSENSE)
def test_ruling_43_an_answer_that_is_none_counts_as_a_raise(harness: Harness, answer: object) -> None:
    meter = metering(harness, a=9, resolve_expired=Oracle(answer), unknown_after_lease="consume")
    hold(meter, T0, "op")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 0, 1, 0)
    assert row_of(harness) == ("reserved", 1, 2000, True)
    assert '{"error":' in reservations(harness)["op"].evidence_json


@pytest.mark.parametrize("answer", [None, "consumed", Consumed(figure=3), 7, RuntimeError("down")])
def test_ruling_43_an_unknown_answer_leaves_it_to_the_default(harness: Harness, answer: object) -> None:
    meter = metering(harness, a=9, resolve_unknown=Oracle(answer), unknown_after_lease="release")
    hold(meter, T0, "op")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 1, 0, 0)


def test_ruling_43_a_page_over_many_accounts(harness: Harness) -> None:
    meter = metering(harness, a=50, b=50, c=50, unknown_after_lease="consume")
    for n in range(30):
        hold(meter, ms(n), f"op{n}", account="abc"[n % 3], units=1 + n % 4)
    assert counts(meter.reconcile(now=ms(5000), limit=20)) == (20, 0, 0, 0)
    check_sums(harness)
    assert {row.state for name, row in reservations(harness).items() if int(name[2:]) < 20} == {"consumed"}
    assert counts(meter.reconcile(now=ms(5000))) == (10, 0, 0, 0)
    assert counts(meter.reconcile(now=ms(5000))) == NOTHING
    check_sums(harness)


def test_ruling_43_a_pass_does_not_wait_for_a_row_in_hand(postgres_harness: Harness) -> None:
    meter = metering(postgres_harness, a=9)
    hold(meter, T0, "in hand", "free")
    lock = "SELECT 1 FROM agentos_spend_reservations WHERE operation_id = 'in hand' FOR UPDATE"
    with postgres_harness.raw() as connection:
        connection.exec_driver_sql(lock)
        assert counts(meter.reconcile(now=ms(5000))) == (0, 1, 0, 0)
    assert counts(meter.reconcile(now=ms(5000))) == (0, 1, 0, 0)
    check_sums(postgres_harness)


def test_a_store_that_fails_in_the_middle_of_a_pass(harness: Harness) -> None:
    owner = metering(harness, a=9)
    hold(owner, T0, "x")
    hold(owner, ms(1), "y")

    def ruin() -> None:
        if len(oracle.asked) == 2:
            run(harness, "ALTER TABLE agentos_spend_meter RENAME TO gone")

    oracle = Oracle(Consumed(), meanwhile=ruin)
    meter: SpendMeter = metering(harness, a=9, resolve_expired=oracle)
    with pytest.raises(SpendMeterUnavailable):
        meter.reconcile(now=ms(5000))
    run(harness, "ALTER TABLE gone RENAME TO agentos_spend_meter")
    assert [reservations(harness)[name].state for name in "xy"] == ["consumed", "reserved"]
    check_sums(harness)


def test_evidence_of_another_hand_holds_up_no_pass(harness: Harness) -> None:
    oracle: Any = Oracle(Released())
    meter = metering(harness, a=9, resolve_expired=oracle)
    hold(meter, T0, "op")
    run(harness, "UPDATE agentos_spend_reservations SET evidence_json = 'not json'")
    assert counts(meter.reconcile(now=ms(5000))) == (0, 1, 0, 0)
    assert oracle.asked[0].evidence == {"undecodable": "not json"}


def test_a_default_leaves_settled_and_living_rows_alone(harness: Harness) -> None:
    meter = metering(harness, a=9)
    consume(meter, T0, "done")
    hold(meter, ms(4001), "living")
    assert counts(meter.reconcile(now=ms(5000))) == NOTHING
    assert counts(meter.reconcile(now=ms(5001))) == (0, 1, 0, 0)
