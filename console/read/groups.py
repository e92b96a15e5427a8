"""A command with commands of its own that lists where none of them is named: `holdwatch jobs STORE`, `jobs run …`."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperGroup

LIST: Final = "list"
_HELP: Final = frozenset({"-h", "--help"})


class Listing(TyperGroup):
    """Takes a first word that is none of its commands for the store to list from."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the list where nothing else was named."""
        named = bool(args) and (args[0] in self.commands or args[0] in _HELP)
        return super().parse_args(ctx, args if named else [LIST, *args])
