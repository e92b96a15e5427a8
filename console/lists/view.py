"""What every list has: how it looks, and how the store is asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Generic

from console import filters
from console.commands import ShowList
from console.model import Row
from console.present import own
from console.sieve import Sieve

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.commands import Command
    from console.jsontext import Line
    from console.lists.sorting import Served
    from console.model import Counted, Page
    from console.present import Cell, Safe
    from console.reading import Gateway
    from console.sieve import Values
    from console.widgets.columns import Column, Scene

NO_SIEVE: Final = Sieve()
NOBODY: Final = own("nobody holds this row")


def claims_of(holder: str) -> ShowList:
    """All claims of a holder, as a command."""
    return ShowList("claims", f"holder:{filters.quoted(holder)}")


@dataclass(frozen=True, slots=True)
class Extra:
    """What a row has beyond its list, asked for once the cursor lies still on it.

    `ask` fetches it for the row; `version` is what must have changed for it to be fetched again.
    """

    ask: Callable[[Gateway, Any], Any]
    version: Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class View(Generic[Row]):
    """How a list looks, and what its rows lead to.

    `facts` fills the pane below from the row, its extra (None before it is here), the time and the room.
    `none` is what an empty list says; `opens` is what Enter does, `owner` leads to whom the row belongs to, and
    `orphan` says that there is nobody. `copies` is what is copied of the row, where that is not its key. `ids` are
    what its rows are known by: marks of one list are those of all lists with the same. `served` is the column that
    the store's order goes by. `history` is the audit's filter for what was done to a row by hand, None where the audit
    knows nothing of it.
    """

    title: Safe
    order: Safe
    none: Safe
    columns: tuple[Column[Row], ...]
    key: Callable[[Row], str]
    facts: Callable[[Row, Any, Scene, int], tuple[Line, ...]]
    opens: Callable[[Row], Command]
    owner: Callable[[Row], Command | None] = lambda _row: None
    orphan: Safe = NOBODY
    copies: Callable[[Row], str] | None = None
    extra: Extra | None = None
    ids: str = ""
    served: Served | None = None
    history: Callable[[Row], str | None] = lambda _row: None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows there are, where that is known, and what else is worth a word above the list: in its line, or
    in one of its own `below` that.
    """

    total: Counted | None = None
    said: tuple[Cell, ...] = ()
    below: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Question(Generic[Row]):
    """A view, and how the store is asked for a page of it and for its tally; `from_end` gives the same rows last one
    first, where an index serves that. `sieve` leaves rows out of what was fetched; `values` are what they have
    of the filter's fields.
    """

    view: View[Row]
    page: Callable[[Gateway, str | None, int], Page[Row]]
    tally: Callable[[Gateway], Tally] = lambda _gateway: Tally()
    from_end: Callable[[Gateway, str | None, int], Page[Row]] | None = None
    sieve: Sieve = NO_SIEVE
    values: Values = field(default_factory=dict)

    @property
    def turned(self) -> Question[Row]:
        """The same list last one first; ValueError where the store reads it from its first row only."""
        if self.from_end is None:
            raise ValueError(f"{self.view.title} are read from their first row only")
        view = replace(self.view, order=own(f"{self.view.order}, turned round"))
        return replace(self, view=view, page=self.from_end, from_end=self.page)
