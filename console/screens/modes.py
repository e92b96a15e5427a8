"""The screens that a digit goes to, each a mode of its own: loaded when it is first shown."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from console.screens.page import Page
    from console.session import Session

OVERVIEW: Final = "overview"
THREADS: Final = "threads"
CLAIMS: Final = "claims"
RESERVATIONS: Final = "reservations"
FENCES: Final = "fences"
EVENTS: Final = "events"
JOBS: Final = "jobs"
AUDIT: Final = "audit"
QUEUE: Final = "queue"
BUDGETS: Final = "budgets"
MODES: Final = (OVERVIEW, THREADS, CLAIMS, RESERVATIONS, FENCES, EVENTS, JOBS, AUDIT, QUEUE, BUDGETS)
"""Each is the name of a module beside this one, with a class called after it."""


def screen_of(mode: str, session: Session) -> Page:
    """A new screen of a mode."""
    made: Page = getattr(import_module(f"console.screens.{mode}"), f"{mode.capitalize()}Screen")(session)
    return made
