"""What every list has: how it looks, and how the store is asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from console.model import Row

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.commands import Command
    from console.jsontext import Line
    from console.model import Counted, Gateway, Page
    from console.present import Cell, Safe
    from console.widgets.columns import Column, Scene


@dataclass(frozen=True, slots=True)
class Extra:
    """What a row has beyond its list, asked for once the cursor lies still on it.

    `ask` fetches it by the row's id; `version` is what must have changed for it to be fetched again.
    """

    ask: Callable[[Gateway, str], Any]
    version: Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class View(Generic[Row]):
    """How a list looks, and what its rows lead to.

    `facts` fills the pane below from the row, its extra (None before it is here), the time and the room.
    `none` is what an empty list says; `holder` names who holds the row, `opens` is what Enter does.
    """

    title: Safe
    order: Safe
    none: Safe
    columns: tuple[Column[Row], ...]
    key: Callable[[Row], str]
    facts: Callable[[Row, Any, Scene, int], tuple[Line, ...]]
    opens: Callable[[Row], Command]
    holder: Callable[[Row], str | None] = lambda _row: None
    extra: Extra | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows there are, where that is known, and what else is worth a word above the list."""

    total: Counted | None = None
    said: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Question(Generic[Row]):
    """A view, and how the store is asked for a page of it and for its tally."""

    view: View[Row]
    page: Callable[[Gateway, str | None, int], Page[Row]]
    tally: Callable[[Gateway], Tally] = lambda _gateway: Tally()
