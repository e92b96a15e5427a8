"""A job's reconcile pass and an operator's answer, straight on their code: rulings 39, 40, 43, 66 and 67."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.clock import to_ns
from engine.desk.audit.model import Deed
from engine.desk.jobs.executor import Done
from engine.desk.jobs.executors import asking
from engine.desk.jobs.executors.settling import lock_shown
from engine.desk.plans.model import ItemKind
from engine.spend.answers import Consumed, Deferred, Released
from engine.spend.day.model import Begun
from tests.support.builders import T0
from tests.support.daybooks import audit as audit_days
from tests.support.executors import APPLIED, FAILED, SKIPPED, item, job
from tests.support.meters import OTHER, check_sums, hold, metering, reservations
from tests.support.money import make_meter

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from engine.desk.plans.model import Item
    from engine.spend.answers import Answer
    from tests.support.executors import Job
    from tests.support.harness import Harness

HOUR = timedelta(hours=1)
CAP = 10**9
PREFIX = "agentos_spend"
WHY = {"charge": "ch_1"}


def reserve(harness: Harness, micro: int = 100, *, fenced: bool = False) -> str:
    """A day reservation that is due an hour after T0."""
    days = harness.store.days
    made = days.reserve(kind="call", micro=micro, at=T0, expires=T0 + HOUR, cap_micro=CAP)
    if fenced:
        assert days.defer(made, T0 + HOUR, WHY)
    return str(made)


def day_item(harness: Harness, which: str, n: int = 1) -> Item:
    """The reservation as a plan shows it now."""
    row = day_row(harness, which)
    guard = {name: getattr(row, name) for name in ("deferrals", "expires_at", "next_check_at")}
    return item(n, ItemKind.DAY, f"day:{which}", **guard)


def day_row(harness: Harness, which: str) -> Any:
    """As it is stored."""
    with harness.raw() as connection:
        found = text("SELECT * FROM spend_day_reservations WHERE id = :id")
        return connection.execute(found, {"id": which}).one()


def meter_item(harness: Harness, operation: str, n: int = 1, prefix: str = PREFIX) -> Item:
    """The unit as a plan shows it now."""
    row = reservations(harness, prefix)[operation]
    expires = row.expires_at * 1_000_000
    return item(n, ItemKind.METER, f"meter:{prefix}:{operation}", attempt=row.attempts, expires_at=expires)


def reconciling(harness: Harness, *items: Item, source: str = "default", **params: Any) -> Job:
    """A job of these rows, once all of them are due."""
    made = job(harness, Deed.RECONCILE, items, source=source, **params)
    harness.advance(2 * HOUR)
    return made


def answered(harness: Harness, shown: Item, answer: Answer) -> Done:
    """What an operator's answer comes to."""

    def write(connection: Connection) -> Done:
        found = lock_shown(connection, shown)
        return found if isinstance(found, Done) else found.write(connection, answer, harness.now())

    return harness.store._transactions.write("test", write)


def checked(harness: Harness) -> None:
    """The totals are the sums of their rows."""
    with harness.raw() as connection:
        audit_days(connection)


def test_ruling_39_by_default_the_unfenced_is_settled_whole_and_the_fenced_left(harness: Harness) -> None:
    plain, fenced = reserve(harness), reserve(harness, 50, fenced=True)
    asked = reconciling(harness, day_item(harness, plain), day_item(harness, fenced, 2))
    done = asked.run()
    assert asked.whys() == ["applied", "fenced: a resolver or a person must answer"]
    assert done[0].detail["before"]["day"] == {"day": "2026-10-09", "reserved_micro": 150, "settled_micro": 0}
    assert done[0].detail["after"]["day"] == {"day": "2026-10-09", "reserved_micro": 50, "settled_micro": 100}
    assert (day_row(harness, plain).settled_micro, day_row(harness, fenced).settled_at) == (100, None)
    checked(harness)


def test_ruling_40_a_row_that_was_deferred_settled_or_put_off_since_is_left_alone(harness: Harness) -> None:
    deferred, settled, gone = (reserve(harness) for _ in range(3))
    items = [day_item(harness, each, n) for n, each in enumerate((deferred, settled, gone), 1)]
    asked = reconciling(harness, *items)
    harness.store.days.defer(deferred, harness.now(), WHY)
    harness.store.days.release(settled, 7, harness.now())
    with harness.raw() as connection:
        connection.execute(text("DELETE FROM spend_day_reservations WHERE id = :id"), {"id": gone})
    asked.run()
    assert asked.whys() == ["version changed", "already settled", "already gone"]
    assert asked.done[1].detail["now"]["settled_micro"] == 7
    assert day_row(harness, settled).settled_micro == 7


def test_ruling_41_a_run_that_began_meanwhile_keeps_its_operation(harness: Harness) -> None:
    """Its lease is in no guard: what is not due is nobody's to settle but a person's."""
    days, expires = harness.store.days, T0 + HOUR
    made = days.admit_operation(_operation(T0, expires))
    assert isinstance(made, Begun)
    assert days.end_run(made.reservation_id, made.run, 30, T0)
    shown = day_item(harness, made.reservation_id)
    by_default = job(harness, Deed.RECONCILE, [shown], source="default")
    asked = job(harness, Deed.RECONCILE, [shown], source="resolver")
    assert isinstance(days.admit_operation(_operation(T0 + HOUR / 2, expires)), Begun)
    harness.advance(2 * HOUR)
    for each in (by_default, asked):
        each.run(resolvers={"day": lambda _: Released()})
        assert each.whys() == ["somebody works on it again: not due before its lease ends"]
    settled = reconciling(harness, shown).run()[0]
    assert settled.detail["after"]["settled_micro"] == day_row(harness, made.reservation_id).recorded_micro
    checked(harness)


def _operation(at: Any, expires: Any) -> Any:
    from engine.spend.day import OperationAdmission

    return OperationAdmission(
        operation_id="op",
        kind="session",
        micro=1000,
        run_micro=300,
        at=at,
        expires=expires,
        lease_until=at + 2 * HOUR,
        cap_micro=CAP,
        max_runs=3,
    )


@pytest.mark.parametrize(("after_lease", "state"), [("release", "released"), ("consume", "consumed")])
def test_ruling_66_a_meters_units_by_default(harness: Harness, after_lease: str, state: str) -> None:
    meter = metering(harness, a=9)
    hold(meter, harness.now(), "plain", "fenced", "again")
    operator = harness.store.meter_operator(PREFIX, lease=HOUR, unknown_after_lease="release")
    row = reservations(harness)["fenced"]
    retry = harness.now() + timedelta(minutes=30)
    assert operator.defer("fenced", retry, WHY, attempt=row.attempts, expires_at=_expiry(harness, "fenced"))
    items = [meter_item(harness, each, n) for n, each in enumerate(("plain", "fenced", "again"), 1)]
    asked = reconciling(harness, *items, after_lease=after_lease)
    meter.heartbeat("again", now=harness.now())
    asked.run()
    assert asked.whys() == ["applied", "fenced: a resolver or a person must answer", "version changed"]
    assert reservations(harness)["plain"].state == state
    assert asked.done[0].detail["after"]["account"]["used"] == (after_lease == "consume")
    check_sums(harness)


def _expiry(harness: Harness, operation: str) -> Any:
    return T0 + timedelta(milliseconds=reservations(harness)[operation].expires_at - to_ns(T0) // 1_000_000)


def test_ruling_45_without_a_word_on_expired_units_none_is_settled(harness: Harness) -> None:
    hold(metering(harness, a=9), harness.now(), "o")
    done = reconciling(harness, meter_item(harness, "o")).run()[0]
    assert (done.outcome, reservations(harness)["o"].state) == (FAILED, "reserved")
    assert done.detail["retryable"] is False, "the same plan would say as little"


def _raises(_: Any) -> Answer:
    raise LookupError("no such charge")


def _slow(_: Any) -> Answer:
    threading.Event().wait(0.2)
    return Released()


ANSWERS: dict[str, Callable[[Any], Any]] = {
    "consumed": lambda _: Consumed(),
    "released": lambda _: Released(),
    "deferred": lambda _: Deferred(T0 + 5 * HOUR, WHY),
    "raised": _raises,
    "nonsense": lambda _: 7,
    "slow": _slow,
}
EVIDENCE = {
    "deferred": "ch_1",
    "raised": "LookupError: no such charge",
    "nonsense": "must be",
    "slow": "no answer",
}


@pytest.mark.parametrize("word", ANSWERS)
def test_ruling_43_a_resolvers_answer_is_written_and_no_answer_is_evidence(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setattr(asking.Asking.__init__, "__defaults__", (timedelta(seconds=0.05),))
    which = reserve(harness, fenced=True)
    hold(metering(harness, a=9), harness.now(), "o")
    asked = reconciling(harness, day_item(harness, which), meter_item(harness, "o", 2), source="resolver")
    asked.run(resolvers={"day": ANSWERS[word], f"meter:{PREFIX}": ANSWERS[word]})
    assert [done.outcome for done in asked.done] == [APPLIED] * 2
    day, unit = day_row(harness, which), reservations(harness)["o"]
    if word in EVIDENCE:
        assert (day.deferrals, day.settled_at, unit.state, bool(unit.fenced)) == (2, None, "reserved", True)
        assert EVIDENCE[word] in day.evidence
        assert EVIDENCE[word] in unit.evidence_json
        assert unit.expires_at > to_ns(harness.now()) // 1_000_000
    else:
        assert (day.settled_micro, unit.state) == (100 if word == "consumed" else 0, word)
    checked(harness)
    check_sums(harness)


def test_console_F10_no_more_resolvers_are_left_behind_than_the_bound(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking.Asking.__init__, "__defaults__", (timedelta(milliseconds=5),))
    monkeypatch.setattr(asking, "MOST_UNANSWERED", 2)
    over, asked_of = threading.Event(), list[Any]()

    def hangs(row: Any) -> Answer:
        asked_of.append(row.id)
        over.wait(5)
        return Released()

    rows = [reserve(harness) for _ in range(4)]
    asked = reconciling(harness, *(day_item(harness, each) for each in rows), source="resolver")
    asked.run(resolvers={"day": hangs})
    over.set()
    assert asked_of == rows[:2]
    assert ["not asked" in str(day_row(harness, each).evidence) for each in rows] == [
        False,
        False,
        True,
        True,
    ]


def test_ruling_40_an_answer_that_comes_after_the_owners_changes_nothing(harness: Harness) -> None:
    which = reserve(harness)

    def answers_late(_: Any) -> Answer:
        assert harness.store.days.release(which, 5, harness.now()), "no lock is held while asking"
        return Released()

    asked = reconciling(harness, day_item(harness, which), source="resolver")
    asked.run(resolvers={"day": answers_late})
    assert asked.whys() == ["already settled"]
    assert day_row(harness, which).settled_micro == 5


def test_console_F10_without_a_resolver_the_row_fails_and_what_is_asked_of_people_is_left(
    harness: Harness,
) -> None:
    which = reserve(harness)
    unanswered = reconciling(harness, day_item(harness, which), source="resolver")
    assert unanswered.run()[0].outcome is FAILED
    assert unanswered.done[0].detail["retryable"] is True
    person = reconciling(harness, day_item(harness, which), source="ask")
    assert person.run()[0].outcome is SKIPPED
    assert day_row(harness, which).settled_at is None


def test_ruling_40_a_persons_answer_is_written_under_what_was_shown(harness: Harness) -> None:
    """Not due yet, and fenced: a person may decide both."""
    which = reserve(harness, fenced=True)
    shown = day_item(harness, which)
    deferred = answered(harness, shown, Deferred(T0 + HOUR, {"said": "ask again"}))
    assert deferred.detail["after"]["deferrals"] == 2
    assert deferred.detail["after"]["evidence"] == {"said": "ask again"}
    assert answered(harness, shown, Released()).detail["why"] == "version changed"
    done = answered(harness, day_item(harness, which), Consumed(40))
    assert (done.outcome, done.detail["after"]["settled_micro"]) == (APPLIED, 40)
    assert answered(harness, shown, Released()).detail["why"] == "already settled"
    checked(harness)


def test_ruling_66_a_persons_answer_about_a_unit_is_under_attempt_and_expiry(harness: Harness) -> None:
    meter = metering(harness, a=9)
    hold(meter, harness.now(), "o")
    shown = meter_item(harness, "o")
    meter.heartbeat("o", attempt=1, now=harness.now() + timedelta(seconds=1))
    assert answered(harness, shown, Released()).detail["why"] == "version changed"
    again = meter_item(harness, "o")
    assert answered(harness, again, Deferred(harness.now(), WHY)).outcome is APPLIED
    assert answered(harness, again, Released()).detail["why"] == "version changed"
    done = answered(harness, meter_item(harness, "o"), Consumed())
    assert done.detail["before"]["account"] | {"used": 1, "reserved": 0} == done.detail["after"]["account"]
    assert done.detail["before"]["account"]["reserved"] == 1
    missing = item(1, ItemKind.METER, f"meter:{PREFIX}:unknown", attempt=1, expires_at=0)
    assert answered(harness, missing, Released()).detail["why"] == "already gone"
    check_sums(harness)


def test_ruling_35_on_tables_without_fences_units_are_settled_and_not_deferred(harness: Harness) -> None:
    with harness.raw() as connection:
        make_meter(connection, OTHER, fences=False)
    meter = metering(harness, "made", table_prefix=OTHER, ensure_schema=False, a=9)
    hold(meter, harness.now(), "o")
    shown = meter_item(harness, "o", prefix=OTHER)
    refused = answered(harness, shown, Deferred(T0 + HOUR, WHY))
    assert (refused.outcome, refused.detail["retryable"]) == (FAILED, False)
    assert reconciling(harness, shown, after_lease="release").run()[0].outcome is APPLIED
    check_sums(harness, OTHER)
