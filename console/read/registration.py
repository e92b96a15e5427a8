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
    "audit": "audit",
    "doctor": "doctor",
    "job": "jobs",
}
"""The module of each, in the order in which help lists them."""


GROUPS: Final = {"jobs": "jobs"}
"""The module of each command that has commands of its own; they are its `GROUP`."""


def names() -> frozenset[str]:
    """The first words of all of them."""
    return frozenset(COMMANDS) | frozenset(GROUPS)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, module in COMMANDS.items():
        app.command(name)(getattr(import_module(f"console.read.{module}"), name))
    for name, module in GROUPS.items():
        app.add_typer(import_module(f"console.read.{module}").GROUP, name=name)
