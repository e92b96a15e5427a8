"""A password that a command prints: asked for when a store is opened, kept nowhere, shown nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from console.model import GatewayError

if TYPE_CHECKING:
    from console.config import Context

PASSWORD_SECONDS: Final = 5.0
PASSWORD_BYTES: Final = 4_096


def url_with_password(context: Context) -> str:
    """The context's URL with the password that its command prints; GatewayError where that fails.

    Blocks for up to five seconds. Not for showing: the engine hides a password in a URL from its messages.
    """
    url = context.url.value
    if context.password_command is None:
        return url
    password = _printed(context.password_command.value, context.name)
    return f"{url}{'&' if '?' in url else '?'}password={quote(password, safe='')}"


def _printed(command: tuple[str, ...], name: str) -> str:
    """The one line that the command prints. What else it says is not shown: it may be the password."""
    from subprocess import DEVNULL

    from console.programs import Ending, Program

    program = Program(command, seconds=PASSWORD_SECONDS, most=PASSWORD_BYTES, errors=DEVNULL)
    outcome = program.run()
    if outcome.ending is Ending.NOT_STARTED:
        raise _failure(name, f"could not be started: {outcome.reason}")
    if outcome.ending is not Ending.DONE:
        raise _failure(name, f"gave no password within {PASSWORD_SECONDS:g} s")
    if outcome.code != 0:
        raise _failure(name, f"ended with exit code {outcome.code}")
    try:
        lines = program.output.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise _failure(name, "printed what is not UTF-8") from None  # the cause would quote it
    if len(lines) != 1 or not lines[0]:
        raise _failure(name, f"printed {len(lines)} lines; a password is one line")
    return lines[0]


def _failure(name: str, problem: str) -> GatewayError:
    message = f"password_command of [contexts.{name}] {problem}; run it in a terminal to see why"
    return GatewayError(message, code="password_command", retryable=True)
