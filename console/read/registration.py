"""The reading commands, added to the command line when one of them is wanted: the console starts without them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import typer

COMMANDS: Final = {
    "overview": "overview",
    "changed": "overview",
    "threads": "threads",
    "thread": "thread",
    "incomplete": "threads",
    "children": "threads",
    "tombstones": "threads",
    "claims": "claims",
    "queue": "queue",
    "reservations": "reservations",
    "reservation": "reservations",
    "fences": "reservations",
    "accounts": "budgets",
    "account": "budgets",
    "days": "budgets",
    "day": "budgets",
    "events": "events",
    "doctor": "doctor",
}
"""The module of each, in the order in which help lists them."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, module in COMMANDS.items():
        app.command(name)(getattr(import_module(f"console.read.{module}"), name))
