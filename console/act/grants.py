"""`holdwatch grants`: the GRANT statements that a database role needs."""

from __future__ import annotations

from typing import Annotated

import typer

from console.model import GatewayError
from console.read.output import print_lines

ROLES = ("worker", "ops_ro", "ops_rw")


def grants(
    role: Annotated[str, typer.Option(metavar="|".join(ROLES), help="What the role is for.")],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="NAME", help="The database role; the word itself without one."),
    ] = None,
    schema: Annotated[str, typer.Option(metavar="S", help="Where the tables are.")] = "public",
    meter: Annotated[
        list[str] | None, typer.Option(metavar="PREFIX", help="A meter's tables; may be given again.")
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="T", help="A table of your own with tentative rows; may be given again."),
    ] = None,
) -> None:
    """Print the statements; the owner of the tables runs them. No store is asked."""
    from console.gateway.grants import statements

    if role not in ROLES:
        raise typer.BadParameter(f"--role: no {role!r}; there are {', '.join(ROLES)}")
    if to == "" or not schema:
        raise typer.BadParameter("--to and --schema need a name each")
    try:
        lines = statements(role, to or role, schema=schema, prefixes=meter or (), tables=table or ())
    except GatewayError as error:
        raise typer.BadParameter(str(error)) from error
    print_lines(lines)
