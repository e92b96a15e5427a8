"""The state machine of the day store: any sequence of calls, held against plain integers after every step."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import text

from engine.clock import to_ns
from engine.spend import Consumed, Deferred, ExpiredReservation, OperationAdmission, Released
from engine.spend.day import utc_day
from tests.property.agreement import outcome
from tests.property.daybook import Daybook, Row
from tests.support.daybooks import audit

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable
    from datetime import datetime
    from random import Random

    from engine.spend import DaySpend
    from engine.store import Store

F = TypeVar("F", bound="Callable[..., None]")
MINUTE = timedelta(minutes=1)
LONG = timedelta(minutes=20)
RETRY = timedelta(minutes=3)
LATEST, HOLDER = 9, 9
"""Stand for the number of deferrals that a row has, and for the run that holds its lease or was the last to."""
NOW = timedelta(0)
SPANS = (-MINUTE, NOW, MINUTE, 5 * MINUTE, LONG)
WORDS = (("whole", "released"), ("later", "part"), ("nonsense",), ("more", "later", "whole"))
WAITS = (NOW, NOW, MINUTE, 4 * MINUTE, LONG)
CHOICES: dict[str, dict[str, tuple[Any, ...]]] = {
    "reserve": {
        "micro": (0, 1, 100, 400, 999),
        "span": SPANS,
        "cap": (1500, 3000, 0, 10_000),
        "fence": (False, True),
    },
    "release": {
        "which": (0, 1, 2, 3, 8),
        "figure": (-1, 0, 1, 50, 399, 100_000),
        "shown": (LATEST, None, 0, 1, 2),
    },
    "defer": {"which": (0, 1, 2, 3, 8), "span": SPANS, "shown": (LATEST, None, 0, 1, 2)},
    "sweep": {"by": WAITS},
    "ask": {"words": WORDS, "by": WAITS},
    "admit": {
        "name": ("op1", "op2", "op3"),
        "micro": (400, 999),
        "bound": (0, 100, 250, 400),
        "span": (LONG, 5 * MINUTE, -MINUTE),
        "lease": SPANS,
        "cap": (10_000, 1500, 0),
        "most": (3, 1, 4),
    },
    "begin_run": {
        "name": ("op1", "op2", "op3"),
        "bound": (0, 100, 250, 400),
        "lease": SPANS,
        "most": (3, 1, 4),
    },
    "end_run": {
        "name": ("op1", "op2", "op3"),
        "run": (HOLDER, HOLDER, 1, 2, 0),
        "figure": (-1, 0, 50, 399),
        "close": (False, False, True),
    },
    "renew_run": {"name": ("op1", "op2", "op3"), "run": (HOLDER, HOLDER, 1, 2), "lease": SPANS},
    "advance": {"by": (timedelta(microseconds=1), MINUTE, 4 * MINUTE, timedelta(hours=3), -MINUTE)},
}
"""What each rule may be called with."""
EPISODE = 12
"""Calls of one `story`."""


def call(name: str) -> Callable[[F], F]:
    """The rule's decorator."""
    choices: dict[str, Any] = {field: st.sampled_from(values) for field, values in CHOICES[name].items()}
    return cast("Callable[[F], F]", rule(**choices))


class Days(RuleBasedStateMachine):
    """Reserve, release, defer, sweep, and operations with their runs, through two stores in turn."""

    stores: tuple[Store, ...]
    seen: Counter[str]
    first: datetime

    def __init__(self) -> None:
        super().__init__()
        with self.stores[0].engine.begin() as connection:
            for table in ("spend_days", "spend_day_reservations", "spend_day_runs"):
                connection.execute(text(f"DELETE FROM {table}"))
        self.book = Daybook()
        self.now = self.first
        self._turn = 0

    @property
    def days(self) -> DaySpend:
        """The other store's than the last time."""
        self._turn += 1
        return self.stores[self._turn % len(self.stores)].days

    @initialize()
    def begin(self) -> None:
        """One of each kind, or most runs would be refusals."""
        for fence in (False, True):
            self.reserve(100, MINUTE, 1500, fence)
            self.reserve(400, LONG, 1500, fence)
        self.admit("op1", 999, 250, LONG, MINUTE, 10_000, 3)

    @call("reserve")
    def reserve(self, micro: int, span: timedelta, cap: int, fence: bool) -> None:
        """2A.2: exactly what fits is admitted."""
        at, expires = self.now, self.now + span
        expected = outcome(self.book.fits, "call", micro, at, cap)
        call = partial(self.days.reserve, kind="call", micro=micro, at=at, expires=expires, cap_micro=cap)
        made = outcome(partial(call, require_fence=fence))
        if expected is not None:
            assert made == expected
            self.saw("reserve", "refused")
            return
        self.book.add(Row(made, utc_day(at), micro, expires, fenced=fence))
        self.saw("reserve", "done")

    @call("release")
    def release(self, which: int, figure: int, shown: int | None) -> None:
        """2A.5, under a guard or without."""
        row = self.row(which)
        shown = row.deferrals if shown == LATEST else shown
        expected = shown in (None, row.deferrals) and self.book.release(row, figure)
        assert self.days.release(row.id, figure, self.now, expected_deferrals=shown) == expected
        self.saw("release", expected)

    @call("defer")
    def defer(self, which: int, span: timedelta, shown: int | None) -> None:
        """2A.7."""
        row, check, evidence = self.row(which), self.now + span, {"asked": which}
        shown = row.deferrals if shown == LATEST else shown
        expected = self.book.defer(row, check, evidence, shown)
        assert self.days.defer(row.id, check, evidence, expected_deferrals=shown) == expected
        self.saw("defer", expected)

    @call("sweep")
    def sweep(self, by: timedelta) -> None:
        """2A.8, with nobody to ask."""
        self.now += by
        expected = self.book.sweep(self.now, None, RETRY)
        assert self.days.sweep(self.now) == expected
        self.saw("sweep", expected.settled > 0)

    @call("ask")
    def ask(self, words: tuple[str, ...], by: timedelta) -> None:
        """2A.8, with somebody who says these things in turn."""
        self.now += by
        asked = [row for row in self.book.due(self.now) if row.fenced or not row.runs]
        answers = {row.id: self.answer(words[n % len(words)]) for n, row in enumerate(asked)}
        shown = {row.id: (row.figure, row.fenced, row.evidence, row.deferrals) for row in asked}
        order: list[str] = []

        def resolver(item: ExpiredReservation) -> Any:
            order.append(item.id)
            assert shown[item.id] == (item.micro, item.require_fence, item.evidence, item.deferrals)
            answer = answers[item.id]
            if isinstance(answer, Exception):
                raise answer
            return answer

        expected = self.book.sweep(self.now, answers, RETRY)
        assert self.days.sweep(self.now, resolver, retry_after=RETRY) == expected
        assert order == [row.id for row in asked]
        self.saw("ask", bool(asked))

    def answer(self, word: str) -> Any:
        """An answer, or what is raised for none."""
        return {
            "whole": Consumed(),
            "part": Consumed(50),
            "more": Consumed(100_000),
            "released": Released(),
            "later": Deferred(self.now + MINUTE, {"until": "later"}),
            "nonsense": LookupError("nobody knows"),
        }[word]

    @call("admit")
    def admit(
        self, name: str, micro: int, bound: int, span: timedelta, lease: timedelta, cap: int, most: int
    ) -> None:
        """2A.9."""
        at = self.now
        wish = OperationAdmission(name, "op", micro, bound, at, at + span, at + lease, cap, most)
        actual = outcome(self.days.admit_operation, wish)
        made = None if isinstance(actual, Exception) else actual.reservation_id
        assert actual == outcome(self.book.admit, wish, made)
        self.saw("admit", type(actual).__name__)

    @call("begin_run")
    def begin_run(self, name: str, bound: int, lease: timedelta, most: int) -> None:
        """2A.10."""
        row = self.book.operations.get(name)
        if row is not None:
            until = self.now + lease
            expected = self.book.begin(row, self.now, until, bound, most)
            assert self.days.begin_run(row.id, self.now, until, bound, most) == expected
            self.saw("begin_run", type(expected).__name__)

    @call("end_run")
    def end_run(self, name: str, run: int, figure: int, close: bool) -> None:
        """2A.11."""
        row = self.book.operations.get(name)
        if row is not None:
            run = _run(row, run)
            expected = self.book.end(row, run, figure, self.now, close)
            assert self.days.end_run(row.id, run, figure, self.now, close) == expected
            self.saw("end_run", expected)

    @call("renew_run")
    def renew_run(self, name: str, run: int, lease: timedelta) -> None:
        """2A.12."""
        row = self.book.operations.get(name)
        if row is not None:
            run, until = _run(row, run), self.now + lease
            expected = self.book.renew(row, run, self.now, until)
            assert self.days.renew_run(row.id, run, self.now, until) == expected
            self.saw("renew_run", expected)

    @call("advance")
    def advance(self, by: timedelta) -> None:
        """Time passes, or a caller's clock is a little behind."""
        self.now += by

    @rule(dice=st.randoms(use_true_random=False))
    def story(self, dice: Random) -> None:
        """Many calls of any kind: left alone, a machine prefers a few of them."""
        for _ in range(EPISODE):
            name = dice.choice([*CHOICES, "admit", "begin_run", "end_run"])
            getattr(self, name)(**{field: dice.choice(values) for field, values in CHOICES[name].items()})
            self.agrees()

    @invariant()
    def agrees(self) -> None:
        """Rows, totals and what is due are the model's; the totals are the sums of the rows."""
        with self.stores[0].engine.begin() as connection:
            audit(connection)
            rows = connection.execute(text("SELECT * FROM spend_day_reservations")).all()
            runs = connection.execute(
                text("SELECT reservation_id, run, bound_micro, settled_micro FROM spend_day_runs")
            )
            known = {
                (row.id, n, run.bound, run.settled)
                for row in self.book.rows.values()
                for n, run in enumerate(row.runs, 1)
            }
            assert {tuple(run) for run in runs} == known
        assert {row.id: _stored(row) for row in rows} == {
            row.id: _known(row) for row in self.book.rows.values()
        }
        for day in {row.day for row in self.book.rows.values()}:
            total = self.days.total(day)
            assert (total.reserved_micro, total.settled_micro) == self.book.total(day)
        assert [item.id for item in self.days.expired(self.now)] == [
            row.id for row in self.book.due(self.now)
        ]
        assert not any(row.by_default and row.fenced for row in self.book.rows.values())

    def row(self, which: int) -> Row:
        """One of the rows there are, the open ones first."""
        rows = sorted(self.book.rows.values(), key=lambda row: row.settled is not None)
        return rows[which % len(rows)]

    def saw(self, verb: str, what: object) -> None:
        """Count what happened."""
        self.seen[f"{verb}: {what}"] += 1


def _run(row: Row, run: int) -> int:
    return (row.holder or len(row.runs)) if run == HOLDER else run


def _ns(instant: datetime | None) -> int | None:
    return None if instant is None else to_ns(instant)


def _stored(row: Any) -> tuple[Any, ...]:
    fenced = bool(row.require_fence)
    owned = (row.day, row.micro, row.expires_at, fenced, row.next_check_at, row.deferrals, row.settled_micro)
    return (*owned, row.recorded_micro, row.runs or 0, row.lease_run, row.lease_until)


def _known(row: Row) -> tuple[Any, ...]:
    owned = (
        row.day,
        row.micro,
        _ns(row.expires),
        row.fenced,
        _ns(row.next_check),
        row.deferrals,
        row.settled,
    )
    return (*owned, row.recorded, len(row.runs), row.holder, _ns(row.lease))
