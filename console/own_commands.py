"""Running the operator's own commands from a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console import custom
from console.action import Capability
from console.present import Tone, safe
from console.widgets.prompt import Purpose

if TYPE_CHECKING:
    from console.config import CustomCommand
    from console.custom import Invocation
    from console.screens.page import Page


def start(page: Page, command: CustomCommand) -> None:
    """Run a command for the row under the cursor, or let its inputs be typed first."""
    if command.inputs:
        page.open_prompt(Purpose.COMMAND, custom.prompt_of(command), ())
        return
    try:
        run(page, custom.Invocation(command, {}))
    except ValueError as error:
        page.say(safe(str(error), 600), Tone.WARN)


def typed(page: Page, line: str) -> bool:
    """Run the command that a typed line asks for; False for any other line, ValueError where it cannot be run."""
    invocation = custom.invoked(page.session.registry, line)
    if invocation is not None:
        run(page, invocation)
    return invocation is not None


def run(page: Page, invocation: Invocation) -> None:
    """Open the screen of the program's output, after a confirmation where it changes something; ValueError where it
    cannot be run here.
    """
    session = page.session
    opened = session.contexts.current
    offered = {
        "id": page.copyable() if invocation.command.needs_row else None,
        "store": session.gateway.label.address,
        "context": None if opened is None else opened.name,
    }
    argv = custom.argv_of(invocation, offered)
    if invocation.command.capability is Capability.WRITE:
        from console.acting.outside import Outside

        Outside(page, invocation.command, argv).ask()
    else:
        from console.screens.output import OutputScreen

        page.app.push_screen(OutputScreen(session, invocation.command, argv))
