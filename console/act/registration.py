"""The changing commands, added to the command line when one of them is wanted: the console starts without them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    import typer

COMMANDS: Final = {
    "plans": "plans",
    "execute": "execute",
    "resolve": "resolve",
    "outcome": "outcome",
    "grants": "grants",
}
"""The module of each, in the order in which help lists them."""
PLAN: Final = {
    "delete": "plan",
    "release": "plan",
    "reconcile": "reconcile",
    "sweep": "sweep",
    "show": "plans",
    "approve": "plans",
    "cancel": "plans",
}
"""The commands behind `plan`, and their modules."""
JOBS: Final = ("run", "pause", "resume", "cancel")
"""The commands behind `jobs`, beside the list that it is by itself (`console.read.jobs`)."""


def names() -> frozenset[str]:
    """The first words of those that are not listed elsewhere."""
    return frozenset((*COMMANDS, "plan"))


def register(app: typer.Typer) -> None:
    """Add the commands; once."""
    import typer

    from console.read.jobs import GROUP

    plan = typer.Typer(help="Make, show, approve or give up a plan.", rich_markup_mode=None)
    _add(plan, PLAN)
    app.add_typer(plan, name="plan")
    _add(app, COMMANDS)
    _add(GROUP, dict.fromkeys(JOBS, "jobs"))


def _add(group: Any, modules: Mapping[str, str]) -> None:
    for name, module in modules.items():
        group.command(name)(getattr(import_module(f"console.act.{module}"), name))
