"""Which reservations and fences to list: checked when built, answered by the store alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.database.columns import check_optional_id
from engine.desk.claim_filter import as_word
from engine.desk.money_views import ReservationKind, ReservationState
from engine.errors import ValidationError
from engine.spend.meter.prefix import check_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping

K = ReservationKind
_OF_KIND: Final[Mapping[str, ReservationKind]] = {
    "day": K.DAY,
    "thread_id": K.DAY,
    "leased": K.DAY,
    "prefix": K.METER,
    "table": K.TENTATIVE,
}
"""The parts of a filter that only one kind has."""


@dataclass(frozen=True, slots=True)
class ReservationFilter:
    """Reservations for which every given part holds; without `state` all that are open, fenced or not.

    `state` is the word that the rows bear. SETTLED is for meters alone, whose index has them: newest first.
    All else is in the order of due_at, the row that is due first at the front. `owner` is the row's own: a day
    row's kind word, a meter's account, a tentative row's txn_id. `day`, `thread_id` and `leased` (operations
    that a run holds now) ask for day rows, `prefix` for one meter's, `table` for one table's: each says the
    kind by itself, and another kind beside it is a ValidationError.

    The index answers FENCED and DUE, a thread's rows, and every tentative listing. The rest of it (OPEN and
    EXPIRED where fences exist, owner, day, leased) is looked for among the next 10,000 of each source.
    """

    kind: ReservationKind | None = None
    state: ReservationState | None = None
    owner: str | None = None
    day: str | None = None
    thread_id: str | None = None
    leased: bool = False
    prefix: str | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        for field in ("owner", "day", "thread_id", "table"):
            check_optional_id(field, getattr(self, field))
        if self.prefix is not None:
            check_prefix(self.prefix)
        object.__setattr__(self, "state", as_word("state", self.state, ReservationState))
        object.__setattr__(self, "kind", _kind(self, as_word("kind", self.kind, ReservationKind)))


@dataclass(frozen=True, slots=True)
class FenceFilter:
    """Fenced open reservations of days and meters; the first to be checked at the front.

    `state` is FENCED or DUE, None both. `deferred`: True those with evidence, False those never deferred; it,
    `owner` and `thread_id` are looked for among the next 10,000 of each source. The rest is in an index.
    """

    kind: ReservationKind | None = None
    state: ReservationState | None = None
    owner: str | None = None
    thread_id: str | None = None
    deferred: bool | None = None
    prefix: str | None = None

    def __post_init__(self) -> None:
        for field in ("owner", "thread_id"):
            check_optional_id(field, getattr(self, field))
        if self.prefix is not None:
            check_prefix(self.prefix)
        state = as_word("state", self.state, ReservationState)
        if state not in {None, ReservationState.FENCED, ReservationState.DUE}:
            raise ValidationError("state", ("a fence is fenced or due",))
        kind = _kind(self, as_word("kind", self.kind, ReservationKind))
        if kind is K.TENTATIVE:
            raise ValidationError("kind", ("tentative rows have no fences; there are day and meter",))
        object.__setattr__(self, "state", state)
        object.__setattr__(self, "kind", kind)


def _kind(wanted: ReservationFilter | FenceFilter, kind: ReservationKind | None) -> ReservationKind | None:
    """The kind that the filter's parts leave; ValidationError naming the part that no such row has."""
    settled = wanted.state is ReservationState.SETTLED
    for field, only in _OF_KIND.items():
        if getattr(wanted, field, None) in (None, False):
            continue
        if kind not in {None, only}:
            raise ValidationError(field, (f"only {only} reservations have one, not {kind}",))
        kind = only
    if settled and kind not in {None, K.METER}:
        raise ValidationError(
            "state", ("settled ones are listed of meters only; look others up by their id",)
        )
    return K.METER if settled else kind
