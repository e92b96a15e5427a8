"""The `holdwatch` command run in this process, and what it prints."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from console import cli

if TYPE_CHECKING:
    import pytest


@dataclass(frozen=True, slots=True)
class Said:
    """One run: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on the one line that was printed."""
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def documents(self) -> list[Any]:
        """The JSON documents, a line each."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def lines(self) -> list[str]:
        """The lines of text."""
        return self.out.splitlines()


class Command:
    """Runs command lines one after the other."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Said:
        self._capsys.readouterr()
        code = cli.run(list(arguments))
        said = self._capsys.readouterr()
        return Said(code, said.out, said.err)

    def json(self, *arguments: str) -> Any:
        """The document that `--json` prints; AssertionError unless the command went well."""
        said = self(*arguments, "--json")
        assert (said.code, said.err) == (0, ""), said
        return said.document
