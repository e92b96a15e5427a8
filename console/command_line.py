"""What the commands share: exit codes, and the store as an argument (api.md, "The command")."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import typer

STORE_VARIABLE: Final = "HOLDWATCH_STORE"

Store = Annotated[
    str,
    typer.Argument(
        envvar=STORE_VARIABLE,
        metavar="STORE",
        help="A file, sqlite:///path or postgresql://user@host/database.",
        show_default=False,
    ),
]


class Exit(IntEnum):
    """What the command's exit codes mean."""

    OK = 0
    REFUSED = 1
    STORE_FAILURE = 2
    USAGE = 64
    INTERRUPTED = 130
