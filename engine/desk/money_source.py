"""What the lists of money read from: the day store, one meter, one adopting table; all asked in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.desk.money_views import ReservationState

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement

    from engine.desk.money_views import ReservationKind, ReservationRow


@dataclass(frozen=True, slots=True)
class Source:
    """One table of reservations.

    `due` and `key` name the columns that order it, `settled` the one that orders what is over. `tick` is how
    many nanoseconds its instants count in; `:at` is bound in the same. `open` and `fenced` repeat the words of
    the partial indexes; `fenced` is None for a table that knows no fences. `shown` is what a row is made of, no
    bodies; whatever a filter may ask stands in it as `owner`, `fenced`, `deferred`, `day`, `thread_id` or
    `lease_until`. `narrow` names a part with an index of its own, whose rows are a bounded set in no order.
    """

    kind: ReservationKind
    name: str
    columns: Any
    shown: tuple[ColumnElement[Any], ...]
    due: str
    key: tuple[str, ...]
    tick: int
    open: ColumnElement[bool]
    fenced: ColumnElement[bool] | None
    row: Callable[[Any], ReservationRow]
    key_text: Callable[[Any], str]
    key_values: Callable[[str], tuple[Any, ...]]
    narrow: str | None = None
    settled: str | None = None
    evidence: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Where it stands among rows that are due at the same moment."""
        return (self.kind.value, self.name)


def state_of(*, due: bool, fenced: bool) -> ReservationState:
    """The word for an open row (spend.md 2C: a fenced one whose next check has passed is due, not expired)."""
    if fenced:
        return ReservationState.DUE if due else ReservationState.FENCED
    return ReservationState.EXPIRED if due else ReservationState.OPEN
