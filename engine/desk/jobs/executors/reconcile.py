"""A planned reconcile pass, row by row: by default, by a resolver, or not at all where a person is to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine.clock import from_ns
from engine.desk.audit.model import ObjectKind
from engine.desk.jobs.executor import Between, Done, Executor
from engine.desk.jobs.executors.asking import Asking, is_due
from engine.desk.jobs.executors.outcomes import Words
from engine.desk.jobs.executors.settling import lock_shown, read_shown
from engine.desk.jobs.executors.shown_day import ShownDay
from engine.desk.moment import moment
from engine.desk.money_views import ReservationKind
from engine.desk.object_ids import parts
from engine.spend.answers import Consumed, Released
from engine.spend.meter.model import AfterLease

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.jobs.executors.settling import Shown
    from engine.desk.plans.model import Item
    from engine.spend.answers import Answer

_NAME: Final = "desk.reconcile"
_SAY: Final = Words(ObjectKind.RESERVATION)
_IN_USE: Final = "somebody works on it again: not due before its lease ends"
_FENCED: Final = "fenced: a resolver or a person must answer"
_NO_DEFAULT: Final = "the plan does not say what becomes of a meter's expired units"


class DefaultExecutor(Executor):
    """What is due and not fenced is settled as a pass without a resolver does (ruling 39).

    `after_lease` is what becomes of a meter's units: the store does not know which the meter was told.
    """

    def __init__(self, after_lease: AfterLease | None) -> None:
        self._after_lease = after_lease

    def finish(self, connection: Connection, item: Item) -> Done:
        """See `Executor`."""
        shown = lock_shown(connection, item)
        if isinstance(shown, Done):
            return shown
        now = from_ns(moment(connection))
        if shown.fenced:
            return _SAY.skipped(_FENCED)
        if not is_due(shown, now):
            return _SAY.skipped(_IN_USE)
        answer = self._answer(shown)
        return _SAY.impossible(_NO_DEFAULT) if answer is None else shown.write(connection, answer, now)

    def _answer(self, shown: Shown) -> Answer | None:
        if isinstance(shown, ShownDay) or self._after_lease is AfterLease.CONSUME:
            return Consumed()
        return None if self._after_lease is None else Released()


class ResolverExecutor(Executor):
    """Each row is asked about outside any transaction; its answer is written if the row is still as it was then."""

    def __init__(self, transactions: Transactions, resolvers: Mapping[str, Callable[[Any], Answer]]) -> None:
        self._tx = transactions
        self._resolvers = resolvers
        self._asking = Asking()
        self._answer: Answer | None = None

    def prepare(self, item: Item, still_ours: Between) -> Done | None:
        """Ask, once it is certain that there is something to ask about."""
        self._answer = None
        resolver = self._resolvers.get(_resolver_of(item))
        if resolver is None:
            return _SAY.failed(f"no resolver is configured for {_resolver_of(item)}")
        shown, now = self._tx.read(_NAME, _look, item)
        if isinstance(shown, Done):
            return shown
        if not is_due(shown, now):
            return _SAY.skipped(_IN_USE)
        self._answer = self._asking.ask(resolver, shown, now)
        still_ours()
        return None

    def finish(self, connection: Connection, item: Item) -> Done:
        """See `Executor`."""
        shown = lock_shown(connection, item)
        if isinstance(shown, Done):
            return shown
        now = from_ns(moment(connection))
        if not is_due(shown, now):
            return _SAY.skipped(_IN_USE)
        assert self._answer is not None, "an item is prepared before it is finished"
        return shown.write(connection, self._answer, now)


class AskExecutor(Executor):
    """Rows that a person answers one by one: a job leaves them alone."""

    def finish(self, connection: Connection, item: Item) -> Done:  # noqa: ARG002 - the protocol's
        """Every item is told so."""
        return _SAY.skipped("waits for a person's answer: resolve it")


def _look(connection: Connection, item: Item) -> tuple[Shown | Done, datetime]:
    return read_shown(connection, item), from_ns(moment(connection))


def _resolver_of(item: Item) -> str:
    kind, prefix, _ = parts(item.object_id)
    return "day" if kind is ReservationKind.DAY else f"meter:{prefix}"
