"""What a session and a script share: whether changes are forbidden here, which word the phrases name, and above which
amounts another person must approve (console.md F3 and F4).
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from console.identity import Trust

if TYPE_CHECKING:
    from console.acting.plans import Bounds
    from console.acting.resolving import Answer
    from console.config import Config, Settings
    from console.identity import Identity, Standing
    from console.money_model import ReservationRow

NOWHERE: Final = "store"
"""The word of a phrase where neither a context nor a database has a name."""


def forbidden(settings: Settings, standing: Standing) -> str | None:
    """Why nothing may be changed here, whatever the role may do; None where nothing forbids it."""
    if settings.read_only.value:
        return f"read-only by {settings.read_only.source}"
    if standing.trust is Trust.OTHER:
        return "this is another store than the context stands for; F12 shows both, :trust accepts it"
    return None


def environment(standing: Standing) -> str | None:
    """The environment of the context that the live connection is known to be; None where it is none's."""
    if standing.trust is not Trust.CONFIRMED or standing.context is None:
        return None
    return standing.context.environment.value


def spoken(known: str | None, identity: Identity | None, name: str) -> str:
    """The word that phrases name: the environment, else the database, a file without its end; `name` is the label's."""
    if known is not None:
        return known
    database = "" if identity is None else identity.database
    return PurePath(database or name).stem or NOWHERE


def bounds_of(config: Config) -> Bounds:
    """Above which a plan waits for another person, as the configuration says."""
    from console.acting.plans import Bounds

    approval = config.approval
    units, rows = approval.units, approval.rows
    return Bounds(
        approval.micro,
        None if units is None else int(units.value),
        None if rows is None else int(rows.value),
    )


def above(bounds: Bounds, *, micro: int = 0, units: int = 0, rows: int = 0) -> bool:
    """Whether a change of so much needs another person's approval."""
    pairs = ((bounds.micro, micro), (bounds.units, units), (bounds.rows, rows))
    return any(most is not None and amount > most for most, amount in pairs)


def decision_above(bounds: Bounds, row: ReservationRow, answer: Answer | None) -> bool:
    """Whether a decision by hand needs another person: by all that is held, for what it does not charge it frees.

    Whatever was recorded of it (console.md F5). A deferral does neither; an answer that is not chosen yet may.
    """
    from console.acting.resolving import Deferred
    from console.money_words import Kind

    if isinstance(answer, Deferred):
        return False
    meter = row.address.kind is Kind.METER
    micro, units = (0, row.units or 0) if meter else (row.micro or 0, 0)
    return above(bounds, micro=micro, units=units, rows=1)
