"""`holdwatch STORE`, the command that is given most: read without typer, which loads pydantic to convert one word, and
with it takes a quarter of the time to the first frame. Every other command line is typer's.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from console import command_names
from console.stores import STORE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_plain(arguments: Sequence[str]) -> bool:
    """Whether a command line is a store alone, or nothing at all."""
    if not arguments:
        return True
    word = arguments[0]
    is_store = word.isprintable() and not word.startswith("-") and word not in command_names.names()
    return len(arguments) == 1 and is_store


def run(arguments: Sequence[str]) -> int:
    """Show the console on it; the exit code. What went wrong is said as for every other command."""
    from console.starting import opener_of, start

    word = arguments[0] if arguments else os.environ.get(STORE_VARIABLE)
    try:
        return start(word, opener_of())
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - raised again where it is none of ours
        from console.cli import told

        return told(error, arguments)
