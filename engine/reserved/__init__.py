"""The reserved-commit convention: tentative rows that any table can adopt (reserved.md).

A participant adds three columns to its table, inserts a row as reserved, and confirms it, releases it or lets its
deadline pass. What keeps such tables right (ruling 33):

* Whoever enforces a rule reads the table that carries the convention. Nothing that is fed by commits, be it a
  cache, an index or a rollup, ever answers a guard.
* GUARD reads are not optional. An ADVISORY reader may take in live rows when they are pessimistic, and is then
  put right by the sweep: nothing is correct because of it. ANALYTIC readers see a row once it is confirmed.
* Every read takes its condition from `predicate_for`, at the moment of the read.
* Optimistic losers are found by the database: declare a unique index on the conflict key
  `WHERE state = 'committed'`, and `confirm` answers a loser with ReservationInvalidated (ruling 30).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

# Its module has the same name, which would be found in its place.
from engine.reserved.adopters import adopters

if TYPE_CHECKING:
    from engine.reserved.adopters import (
        Adopter,
        Adopters,
        ReservedCounts,
        ReservedPage,
        ReservedRow,
        reserved_counts,
        reserved_page,
    )
    from engine.reserved.convention import (
        State,
        convention_columns,
        convention_columns_ddl,
        convention_ddl,
        convention_indexes,
        convention_indexes_ddl,
        deadline,
        reserve_values,
    )
    from engine.reserved.predicates import (
        VisibilityTier,
        Weight,
        application_predicate,
        guard_predicate,
        predicate_for,
    )
    from engine.reserved.reserved_rows import ReservedRows
    from engine.reserved.sweeper import Sweeper, SweepFailure, SweepReport
    from engine.reserved.transitions import Confirmation, Outcome, confirm, release

__all__ = [
    "Adopter",
    "Adopters",
    "Confirmation",
    "Outcome",
    "ReservedCounts",
    "ReservedPage",
    "ReservedRow",
    "ReservedRows",
    "State",
    "SweepFailure",
    "SweepReport",
    "Sweeper",
    "VisibilityTier",
    "Weight",
    "adopters",
    "application_predicate",
    "confirm",
    "convention_columns",
    "convention_columns_ddl",
    "convention_ddl",
    "convention_indexes",
    "convention_indexes_ddl",
    "deadline",
    "guard_predicate",
    "predicate_for",
    "release",
    "reserve_values",
    "reserved_counts",
    "reserved_page",
]

_HOMES: Final = {
    "engine.reserved.adopters": (
        "Adopter",
        "Adopters",
        "ReservedCounts",
        "ReservedPage",
        "ReservedRow",
        "reserved_counts",
        "reserved_page",
    ),
    "engine.reserved.convention": (
        "State",
        "convention_columns",
        "convention_columns_ddl",
        "convention_ddl",
        "convention_indexes",
        "convention_indexes_ddl",
        "deadline",
        "reserve_values",
    ),
    "engine.reserved.predicates": (
        "VisibilityTier",
        "Weight",
        "application_predicate",
        "guard_predicate",
        "predicate_for",
    ),
    "engine.reserved.reserved_rows": ("ReservedRows",),
    "engine.reserved.sweeper": (
        "SweepFailure",
        "SweepReport",
        "Sweeper",
    ),
    "engine.reserved.transitions": (
        "Confirmation",
        "Outcome",
        "confirm",
        "release",
    ),
}
_HOME: Final = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Each name is loaded when it is first asked for: who needs one module of these starts without the others.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
