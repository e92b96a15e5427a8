"""What the overview says of the configured contexts, and which of them is the one that is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console.cards import Item, Mark, said
from console.commands import Perform, Switch
from console.header import TAG_TONES
from console.identity import Trust
from console.present import Cell, Tone, own, safe

if TYPE_CHECKING:
    from console.contexts import ContextRow
    from console.overview_facts import Lines
    from console.session import Session

MOST: Final = 6
"""Contexts that the card names."""


def of_session(session: Session) -> Lines:
    """A line a context; Enter opens it in place of the present one."""
    rows = session.contexts.rows()
    if not rows:
        return (said("none", Mark.NOTE, "the configuration names no context (F12)", Perform("diagnostics")),)
    # The one that is open is never left out, wherever it stands in the file.
    shown = [row for place, row in enumerate(rows) if place < MOST or row.here]
    told: list[tuple[Item, ...]] = [(_context(row, session),) for row in shown]
    if len(shown) < len(rows):
        text = f"{len(rows) - len(shown):,} more; ctx NAME opens one"
        told.append(said("more", Mark.NOTE, text, Perform("contexts")))
    return tuple(told)


def _context(row: ContextRow, session: Session) -> Item:
    standing = here(session) if row.here else None
    words = (
        Cell(safe(f" {row.environment} "), TAG_TONES[row.colour]),
        Cell(safe(f" {row.label}"), Tone.STRONG),
        *(() if standing is None else (Cell(own("  ")), standing)),
        Cell(safe(f"  {row.address}"), Tone.MUTED),
    )
    mark = Mark.BAD if standing is not None and standing.tone is Tone.BAD else Mark.NOTE
    return Item(row.name, mark, words, Perform("diagnostics") if row.here else Switch(row.name))


def here(session: Session) -> Cell:
    """Whether the open context is what its name stands for."""
    trust = session.standing.trust
    if trust is Trust.CONFIRMED:
        return Cell(own("open here"), Tone.GOOD)
    if trust is Trust.OTHER:
        return Cell(own("open here, but ANOTHER STORE (F12)"), Tone.BAD)
    return Cell(own("open here, not connected yet"), Tone.MUTED)
