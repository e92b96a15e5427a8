"""How the console starts: what opens its sessions, whether the terminal will do, and the screen."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from console import command_names
from console.config import Asked, load

if TYPE_CHECKING:
    from pathlib import Path

    from console.opening import Opener
    from console.session import Session


class CannotStartError(Exception):
    """The console was not asked for as it can be shown; the message says what would do."""


def opener_of(file: Path | None = None, asked: Asked = Asked()) -> Opener:  # noqa: B008 - frozen
    """What opens sessions by the configuration in a file, else by the operator's own; raises ConfigError."""
    from console.opening import Opener, check_names

    found = load(file)
    check_names(found, command_names.names())
    return Opener(found, asked)


def usual_context(opener: Opener) -> str:
    """The context to open where no store is given."""
    if opener.config.context is None:
        raise CannotStartError(
            "STORE is missing: give a file, an address or a context, or set `context` in the configuration"
        )
    return opener.config.context.value


def check_terminal() -> None:
    """CannotStartError where the console could neither read a key nor show anything: it would run on unseen."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CannotStartError(
            "the console needs a terminal to show itself on; holdwatch threads STORE prints a list"
        )
    if os.environ.get("TERM") == "dumb":
        raise CannotStartError(
            "TERM=dumb says that this terminal cannot move its cursor, which the console needs; if it can, set TERM "
            "to what it is, such as xterm-256color; holdwatch threads STORE prints a list on any"
        )


def start(word: str | None, opener: Opener, cap: int | None = None) -> int:
    """Run the console on the store that a word means, or on the usual one; the exit code."""
    from console.targets import target_of

    session = opener.session(target_of(word or usual_context(opener), opener.config), cap)
    check_terminal()
    return open_console(session)


def open_console(session: Session) -> int:
    """Run the console on a session until the operator leaves; the exit code."""
    from console.app import HoldwatchApp

    application = HoldwatchApp(session)
    application.run()
    return application.return_code or 0
