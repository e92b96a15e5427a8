"""The header's left part: which store this is, who we are in it, and that nothing can be changed.

A context's word and colour are shown once the live connection is known to be that context's store, and not
before (console.md 3.1, row 12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console.acting.window import WARNING_SECONDS
from console.config import Colour
from console.identity import Trust
from console.present import Cell, Tone, own, safe

if TYPE_CHECKING:
    from console.config import Context
    from console.identity import Identity, Standing
    from console.jsontext import Line
    from console.session import Session

WIDE: Final = 110
"""Cells from which the header shows the store's whole address."""
TAG_TONES: Final = {
    Colour.RED: Tone.TAG_RED,
    Colour.AMBER: Tone.TAG_AMBER,
    Colour.GREEN: Tone.TAG_GREEN,
    Colour.CYAN: Tone.TAG_CYAN,
    Colour.BLUE: Tone.TAG_BLUE,
    Colour.VIOLET: Tone.TAG_VIOLET,
    Colour.GREY: Tone.TAG_GREY,
}


def store(session: Session, room: int) -> Line:
    """Environment, name, mode and role; what matters least stands last and gives way first."""
    return (
        Cell(own(" ")),
        *_named(session, room),
        Cell(own("  ")),
        _mode(session, room),
        *_role(session.identity),
        Cell(own(f"  {session.gateway.label.kind}  "), Tone.MUTED),
    )


def _mode(session: Session, room: int) -> Cell:
    """A word, never a sign: that nothing can be changed, or for how long something can."""
    if not session.writable:
        return Cell(own("RO"), Tone.INFO)
    window, words = session.window, "READ-WRITE" if room >= WIDE else "RW"
    forgotten = window.idle_left < min(WARNING_SECONDS, window.left)
    minutes, seconds = divmod(int(window.idle_left if forgotten else window.left), 60)
    return Cell(own(f" {words}{' idle' if forgotten else ''} {minutes:02}:{seconds:02} "), Tone.TAG_RED)


def tag(context: Context) -> Cell:
    """A context's environment on its colour."""
    return Cell(own(f" {context.environment.value} "), TAG_TONES[context.colour.value])


def _named(session: Session, room: int) -> Line:
    standing, opened = session.standing, session.contexts.current
    if standing.trust is Trust.OTHER and opened is not None and session.identity is not None:
        return _other(standing, opened, session.identity)
    if standing.context is None:
        return _address(session, room)
    label = standing.context.label.value
    if standing.trust is Trust.UNKNOWN:
        return (Cell(safe(f"{label}?"), Tone.MUTED),)
    name = (Cell(own(" ")), Cell(safe(label), Tone.HEAD))
    shown = (Cell(own("  ")), *_address(session, room, Tone.MUTED)) if room >= WIDE else ()
    return (tag(standing.context), *name, *shown)


def _other(standing: Standing, opened: Context, identity: Identity) -> Line:
    """The name leads elsewhere than it did: never its tag, but that of the store it leads to."""
    known = () if standing.context is None else (tag(standing.context), Cell(own(" ")))
    return (*known, Cell(safe(f"NOT {opened.label.value}: {identity.database}"), Tone.BAD))


def _address(session: Session, room: int, tone: Tone = Tone.HEAD) -> Line:
    """The store without a context's name; a database that is not the one asked for is said."""
    label, identity = session.gateway.label, session.identity
    shown = Cell(safe(label.address if room >= WIDE else label.name), tone if identity else Tone.MUTED)
    asked = label.name.partition("@")[0]
    if identity is None or not identity.role or identity.database == asked:
        return (shown,)
    return (shown, Cell(safe(f" is {identity.database}"), Tone.WARN))


def _role(identity: Identity | None) -> Line:
    if identity is None or not identity.role:
        return ()
    login = f" ({identity.login} logged in)" if identity.login != identity.role else ""
    return (Cell(safe(f"  as {identity.role}{login}"), Tone.MUTED),)
