"""What the commands share: exit codes, and the store as an argument (api.md, "The command")."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Annotated

import typer

from console.stores import STORE_VARIABLE

Store = Annotated[
    str,
    typer.Argument(
        envvar=STORE_VARIABLE,
        metavar="STORE",
        help="A file, sqlite:///path, postgresql://user@host/database, or the name of a context.",
        show_default=False,
    ),
]
ContextOrStore = Annotated[
    str | None,
    typer.Argument(
        envvar=STORE_VARIABLE,
        metavar="STORE",
        help="A file, sqlite:///path, postgresql://user@host/database, or the name of a context; without one, "
        "the configuration's own.",
        show_default=False,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Read this configuration instead of the user's own."),
]
AsciiOnly = Annotated[
    bool,
    typer.Option("--ascii", help="Draw ASCII alone: no lines of other characters, stored text as escapes."),
]


class Exit(IntEnum):
    """What the command's exit codes mean."""

    OK = 0
    REFUSED = 1
    STORE_FAILURE = 2
    USAGE = 64
    INTERRUPTED = 130
