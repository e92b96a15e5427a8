"""The spend meter driven at random beside its model, by two meters over one pair of tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import text

from engine.spend import (
    Consumed,
    Deferred,
    MeterReservation,
    Outcome,
    ReconcileReport,
    Released,
    SpendMeter,
)
from tests.property.meter_model import (
    ATTEMPTS,
    CONSUMED,
    LEASE,
    RESERVED,
    WINDOW,
    Answer,
    Meter,
    instant,
    label_of,
)

if TYPE_CHECKING:
    from collections import Counter
    from datetime import datetime

    from tests.support.harness import Harness

ACCOUNTS = ("a", "b")
OPERATIONS = ("o0", "o1", "o2", "o3", "o4")
PREFIX = "agentos_spend"
ACCOUNT = st.sampled_from(ACCOUNTS)
OPERATION = st.sampled_from(OPERATIONS)
UNITS = st.integers(1, 3)
PLENTY = 20
ALLOWANCE = st.integers(0, 6)
THROUGH = st.sampled_from((0, 1))
OUTCOME = st.sampled_from(tuple(Outcome))
ATTEMPT = st.sampled_from((None, None, 0, 0, -1))
"""The attempt to name: none, the row's own, or the one before."""
JUMP = st.sampled_from((0, 1, LEASE - 1, LEASE, LEASE, WINDOW))
LIMIT = st.sampled_from((1, 2, 100))
WISHES = st.lists(
    st.tuples(ACCOUNT, OPERATION, UNITS, st.sampled_from((False, False, True))), min_size=2, max_size=6
)
ANSWER = st.sampled_from(("consumed", "released", "deferred", "deferred", "raise"))
MEANWHILE = st.sampled_from(("", "", "", "heartbeat", "settle", "retry", "retry behind", "fence"))
RESOLVERS = ("resolve_expired", "resolve_expired", "resolve_unknown")
PLAN = st.fixed_dictionaries({name: st.tuples(ANSWER, MEANWHILE) for name in OPERATIONS})


Wishes = list[tuple[str, str, int, bool]]


class MeterSubject:
    """The meters of one storage: `plain` ones by two stores, the second of which runs the ordinary forms alone."""

    def __init__(self, harness: Harness, *, windowed: bool) -> None:
        self.harness, self.windowed = harness, windowed
        self.product: dict[str, int] = {}
        self.stores = [harness.open(), harness.open()]
        self.plain = [self.meter(through) for through in (0, 1)]
        self.plain[0].ensure_schema()

    def meter(self, through: int, **options: Any) -> SpendMeter:
        """Another meter over the same tables."""
        counting: dict[str, Any] = {"period_of": _label}
        if self.windowed:
            counting = {"window": instant(WINDOW) - instant(0)}
        made: Any = self.stores[through].meter(
            allowance_for=lambda account, period: self.product[account],
            lease=instant(LEASE) - instant(0),
            max_attempts_per_operation=ATTEMPTS,
            require_shared=False,
            **counting,
            **options,
        )
        if through:
            made._hot_reserve = made._hot_settle = False
        return made  # type: ignore[no-any-return]

    def operator(self) -> Any:
        """The operator's side."""
        lease = instant(LEASE) - instant(0)
        return self.stores[1].meter_operator(PREFIX, lease=lease, unknown_after_lease="release")

    def rows(self, table: str) -> list[Any]:
        """The rows of a table."""
        with self.stores[0].engine.begin() as connection:
            return list(connection.execute(text(f"SELECT * FROM {PREFIX}_{table}")))

    def wipe(self) -> None:
        """Forget everything."""
        with self.stores[0].engine.begin() as connection:
            for table in ("reservations", "meter"):
                connection.execute(text(f"DELETE FROM {PREFIX}_{table}"))


def _label(now: datetime, account: str) -> str:
    return label_of(int(now.timestamp() * 1000))


class Metering(RuleBasedStateMachine):
    """Reserve, settle, beat, reconcile, defer, purge, change allowances, and let time pass."""

    subject: MeterSubject
    seen: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.subject.wipe()
        now = int(self.subject.harness.now().timestamp() * 1000)
        self.model = Meter(now, windowed=self.subject.windowed)

    @initialize(a=ALLOWANCE, b=ALLOWANCE, wishes=WISHES)
    def begin(self, a: int, b: int, wishes: Wishes) -> None:
        """The product's allowances, and something to go on with."""
        for account, limit in zip(ACCOUNTS, (a + 2, b), strict=True):
            self.model.product[account] = self.subject.product[account] = limit
        self.reserve_several(wishes, 0)

    @rule(wishes=WISHES, through=THROUGH)
    def reserve_several(self, wishes: Wishes, through: int) -> None:
        """Or most passes would find nothing."""
        for account, operation, units, fenced in wishes:
            self.reserve(account, operation, units, fenced, through)

    @rule(wishes=WISHES, outcome=OUTCOME, through=THROUGH)
    def work(self, wishes: Wishes, outcome: Outcome, through: int) -> None:
        """Reserve and settle, as owners do."""
        for account, operation, units, fenced in wishes:
            self.reserve(account, operation, units, fenced, through)
            self.settle(operation, outcome, 0, through)

    @rule(account=ACCOUNT, operation=OPERATION, units=UNITS, fenced=st.booleans(), through=THROUGH)
    def reserve(self, account: str, operation: str, units: int, fenced: bool, through: int) -> None:
        """Nothing exceeds its allowance at admission."""
        expected = self.model.reserve(account, operation, units, fenced=fenced)
        meter = self.subject.plain[through]
        answer = meter.reserve(account, operation, units=units, require_fence=fenced)
        self._same("reserve", expected, answer)
        held = self.model.snapshot(account)
        assert expected != answer or held.used + held.reserved <= max(
            held.allowance, held.used + held.reserved
        )

    @rule(operation=OPERATION, outcome=OUTCOME, back=ATTEMPT, through=THROUGH)
    def settle(self, operation: str, outcome: Outcome, back: int | None, through: int) -> None:
        """By its owner, or by one of an attempt that is gone."""
        attempt = self._attempt(operation, back)
        expected = self.model.settle(operation, outcome, attempt)
        answer = self.subject.plain[through].settle(operation, outcome, attempt=attempt)
        self._same("settle", expected, answer)

    @rule(operation=OPERATION, back=ATTEMPT, through=THROUGH)
    def heartbeat(self, operation: str, back: int | None, through: int) -> None:
        """Only forward."""
        attempt = self._attempt(operation, back)
        self.model.heartbeat(operation, attempt)
        self.subject.plain[through].heartbeat(operation, attempt=attempt)

    @rule(
        wishes=WISHES, by=JUMP, limit=LIMIT, default=st.sampled_from(("release", "consume")), through=THROUGH
    )
    def by_default(self, wishes: Wishes, by: int, limit: int, default: str, through: int) -> None:
        """No fenced row is settled by a default."""
        self.reserve_several(wishes, through)
        self.advance(by)
        fenced = {
            row.operation_id for row in self.subject.rows("reservations") if _is_held(row) and row.fenced
        }
        consume = default == "consume"
        count = self.model.default(limit, Outcome.CONSUMED if consume else Outcome.RELEASED)
        expected = ReconcileReport(consumed=count) if consume else ReconcileReport(released=count)
        meter = self.subject.meter(through, unknown_after_lease=default)
        self._same("default", expected, meter.reconcile(limit=limit))
        held = {row.operation_id for row in self.subject.rows("reservations") if _is_held(row)}
        assert fenced <= held
        self.seen["default: settled"] += bool(count)

    @rule(wishes=WISHES, by=JUMP, limit=LIMIT, plan=PLAN, kind=st.sampled_from(RESOLVERS))
    def by_answers(
        self,
        wishes: Wishes,
        by: int,
        limit: int,
        plan: dict[str, tuple[str, str]],
        kind: str,
    ) -> None:
        """An answer is written under the attempt that was asked about, or not at all."""
        self.reserve_several(wishes, 0)
        self.advance(by)
        asking = _Asking(self, plan, fenced_too=kind == "resolve_expired")
        page = self.model.due(limit, fenced_too=asking.fenced_too)
        report = self.subject.meter(1, **{kind: asking}).reconcile(limit=limit)
        asking.flush()
        assert asking.asked == page
        names = ("consumed", "released", "deferred", "pending")
        self._same("answers", ReconcileReport(*(asking.counts.count(name) for name in names)), report)

    @rule(operation=OPERATION, stale=st.booleans(), after=st.integers(-1, 3000))
    def by_hand(self, operation: str, stale: bool, after: int) -> None:
        """A person's deferral, under what the person was shown."""
        row = self.model.rows.get(operation)
        attempt, shown = (1, 0) if row is None else (row.attempts, row.expires_at - stale)
        answer = Answer(until=self.model.now + after, evidence='{"by":"hand"}')
        expected = self.model.defer(operation, attempt, shown, answer)
        done = self.subject.operator().defer(
            operation, instant(answer.until), {"by": "hand"}, attempt=attempt, expires_at=instant(shown)
        )
        self._same("defer", expected, done)

    @rule(account=ACCOUNT, limit=ALLOWANCE, by_product=st.booleans(), through=THROUGH)
    def allow(self, account: str, limit: int, by_product: bool, through: int) -> None:
        """The product's answer changes, or the row does."""
        if by_product:
            self.model.product[account] = self.subject.product[account] = limit
        else:
            self.model.set_allowance(account, limit)
            self.subject.plain[through].set_allowance(account, limit)

    @rule(age=st.sampled_from((-1, 0, LEASE, WINDOW)), limit=LIMIT, through=THROUGH)
    def purge(self, age: int, limit: int, through: int) -> None:
        """Reserved rows stay, and so do the rows of periods."""
        before = self.model.now - age
        expected = self.model.purge(before, limit)
        self._same("purge", expected, self.subject.plain[through].purge(instant(before), limit=limit))

    @rule(by=JUMP)
    def advance(self, by: int) -> None:
        """Time passes."""
        self.model.now += by
        self.subject.harness.advance(instant(by) - instant(0))

    @invariant()
    def rows_and_counters_agree(self) -> None:
        """The tables hold what the model holds; each account's counters are the sums of what is reserved."""
        found = {row.operation_id: row for row in self.subject.rows("reservations")}
        assert found.keys() == self.model.rows.keys()
        for operation, row in self.model.rows.items():
            assert _shown(found[operation]) == (
                row.account, row.period, row.units, row.state.value, row.outcome, row.attempts, row.reserved_at,
                row.expires_at, row.settled_at, row.fenced, row.evidence,
            )  # fmt: skip
        accounts = {(row.account_id, row.period): row for row in self.subject.rows("meter")}
        assert {key: _counters(row) for key, row in accounts.items()} == {
            key: (row.allowance, row.used, row.reserved, row.updated_at)
            for key, row in self.model.accounts.items()
        }
        for key, row in accounts.items():
            own = [each for each in found.values() if (each.account_id, each.period) == key]
            assert row.reserved == sum(each.units for each in own if each.state == RESERVED.value)
            assert row.used >= sum(each.units for each in own if each.state == CONSUMED.value)

    @invariant()
    def snapshots_agree(self) -> None:
        """What an account is shown."""
        if self.model.product:
            for through, account in enumerate(ACCOUNTS):
                assert self.subject.plain[through].snapshot(account) == self.model.snapshot(account)

    def _attempt(self, operation: str, back: int | None) -> int | None:
        row = self.model.rows.get(operation)
        return None if back is None else (1 if row is None else row.attempts) + back

    def _same(self, verb: str, expected: object, answer: object) -> None:
        assert answer == expected, verb
        what = getattr(answer, "reason", getattr(answer, "status", type(answer).__name__))
        self.seen[f"{verb}: {what}"] += 1


class _Asking:
    """A resolver that answers by plan, after something happened to the very row it is asked about."""

    def __init__(self, machine: Metering, plan: dict[str, tuple[str, str]], *, fenced_too: bool) -> None:
        self._machine, self._plan, self.fenced_too = machine, plan, fenced_too
        self.asked: list[str] = []
        self.counts: list[str] = []
        self._last: tuple[str, int, Answer] | None = None

    def __call__(self, row: MeterReservation) -> object:
        self.flush()
        model = self._machine.model
        known = model.rows[row.operation_id]
        evidence = None if known.evidence is None else json.loads(known.evidence)
        assert row == MeterReservation(
            row.operation_id, known.account, known.period, known.units, known.attempts,
            instant(known.reserved_at), instant(known.expires_at), known.fenced, evidence,
        )  # fmt: skip
        self.asked.append(row.operation_id)
        word, meanwhile = self._plan[row.operation_id]
        self._last = (row.operation_id, known.attempts, self._answer(word))
        self._happen(row.operation_id, meanwhile)
        self._machine.seen[f"asked: {word}, {meanwhile or 'nothing'} meanwhile"] += 1
        if word == "raise":
            raise RuntimeError("down")
        later = Deferred(instant(model.now + 1500), {"n": 7})
        return {"consumed": Consumed(), "released": Released(), "deferred": later}[word]

    def _answer(self, word: str) -> Answer:
        now = self._machine.model.now
        if word in ("consumed", "released"):
            return Answer(Outcome(word))
        if not self.fenced_too:
            return Answer(Outcome.RELEASED)
        if word == "deferred":
            return Answer(until=now + 1500, evidence='{"n":7}')
        return Answer(until=now + LEASE, evidence='{"error":"RuntimeError: down"}')

    def _happen(self, operation: str, meanwhile: str) -> None:
        machine = self._machine
        if meanwhile == "heartbeat":
            machine.heartbeat(operation, None, 0)
        elif meanwhile == "settle":
            machine.settle(operation, Outcome.CONSUMED, None, 0)
        elif meanwhile == "fence":
            machine.by_hand(operation, False, 0)
        elif meanwhile == "retry behind":
            machine.advance(-2 * LEASE)  # by a clock that is: its lease is out at the time of the pass
            self._happen(operation, "retry")
            machine.advance(2 * LEASE)
        elif meanwhile == "retry":
            account = machine.model.rows[operation].account
            machine.settle(operation, Outcome.RELEASED, None, 0)
            machine.allow(account, PLENTY, True, 0)  # or the retry would find no room
            machine.reserve(account, operation, 1, False, 0)

    def flush(self) -> None:
        """The answer before this one is written by now."""
        if self._last is not None:
            operation, attempt, answer = self._last
            if self._machine.model.rows[operation].attempts != attempt:
                self._machine.seen["answered for another attempt"] += 1
            written = self._machine.model.write(operation, attempt, answer, fenced_too=self.fenced_too)
            self.counts.append(written)
            self._last = None


def _is_held(row: Any) -> bool:
    return bool(row.state == RESERVED.value)


def _shown(row: Any) -> tuple[Any, ...]:
    return (
        row.account_id, row.period, row.units, row.state, row.outcome, row.attempts, row.reserved_at,
        row.expires_at, row.settled_at, bool(row.fenced), row.evidence_json,
    )  # fmt: skip


def _counters(row: Any) -> tuple[int, int, int, int]:
    return row.allowance, row.used, row.reserved, row.updated_at
