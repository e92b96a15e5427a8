"""Running the operator's own commands from a page, and the words that its command line completes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console import commands, custom
from console.present import Tone, safe
from console.screens.output import OutputScreen
from console.widgets.prompt import Purpose

if TYPE_CHECKING:
    from console.config import CustomCommand
    from console.custom import Invocation
    from console.screens.page import Page
    from console.session import Session


def start(page: Page, command: CustomCommand) -> None:
    """Run a command for the row under the cursor, or let its inputs be typed first."""
    if command.inputs:
        page.open_prompt(Purpose.COMMAND, custom.prompt_of(command), ())
        return
    try:
        run(page, custom.Invocation(command, {}))
    except ValueError as error:
        page.say(safe(str(error), 600), Tone.WARN)


def run(page: Page, invocation: Invocation) -> None:
    """Open the screen of the program's output; ValueError where it cannot be run here."""
    session = page.session
    opened = session.contexts.current
    offered = {
        "id": page.copyable() if invocation.command.needs_row else None,
        "store": session.gateway.label.address,
        "context": None if opened is None else opened.name,
    }
    argv = custom.argv_of(invocation, offered)
    page.app.push_screen(OutputScreen(session, invocation.command, argv))


def words(session: Session) -> tuple[str, ...]:
    """What the command line completes."""
    contexts = session.contexts.config.contexts
    return (
        *commands.words(),
        *session.registry.commands,
        *(f"{commands.CONTEXT} {name}" for name in contexts),
    )
