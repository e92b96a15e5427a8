"""`[commands.NAME]`: a program of the operator's own, for the row under the cursor.

One that changes something says `capability = "write"`: it runs only while changes are on, is confirmed as its `level`
says (1 to 3), and stands in the audit with what it came to. Its key is a capital.

[commands.logs]
key = "b"
scope = "threads"
capability = "read"
inputs = ["since"]
argv = ["journalctl", "--since={since}", "--grep={id}"]
limit = 20
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from console.action import Capability, Level
from console.config.problem import unknown

if TYPE_CHECKING:
    from console.config.source import Source, Valued
    from console.config.table import Table

PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
DEFAULT_LIMIT: Final = 30.0
LEAST_LIMIT: Final = 0.5
MOST_LIMIT: Final = 600.0
"""Seconds that a program may take."""
OFFERED: Final = ("id", "store", "context")
"""Placeholders filled by the console: the row's id, the store's address without its password, the context."""
_UNDECLARED: Final = 'is missing; say capability = "read" of a program that changes nothing, else "write"'
_CAPABILITIES: Final = {each.value: each for each in (Capability.READ, Capability.WRITE)}
_LEVELLED: Final = 'belongs to a command with capability = "write": what only looks is not confirmed'


class Scope(StrEnum):
    """Where a command is offered: everywhere, on every list, or on one screen."""

    EVERYWHERE = "everywhere"
    LISTS = "lists"
    THREADS = "threads"
    CLAIMS = "claims"
    QUEUE = "queue"
    RESERVATIONS = "reservations"
    FENCES = "fences"
    BUDGETS = "budgets"
    EVENTS = "events"
    THREAD = "thread"
    RESERVATION = "reservation"


@dataclass(frozen=True, slots=True)
class CustomCommand:
    """A program: its words with placeholders, and the inputs that the operator types. `limit` is in seconds."""

    name: str
    argv: tuple[str, ...]
    scope: Scope
    key: Valued[str] | None
    inputs: tuple[str, ...]
    limit: float
    help: str
    source: Source
    capability: Capability = Capability.READ
    level: Level = Level.NONE

    @property
    def needs_row(self) -> bool:
        """Whether it is about the row under the cursor."""
        return any("{id}" in word for word in self.argv)


def commands_of(root: Table) -> dict[str, CustomCommand]:
    """All commands by name; raises ConfigError."""
    return {name: _command(name, table) for name, table in root.tables("commands")}


def _command(name: str, table: Table) -> CustomCommand:
    if not NAME.fullmatch(name):
        raise table.named_error("is no name; use small letters, digits, - and _, at most 32")
    capability = _capability(table)
    inputs = _inputs(table)
    scope = table.word("scope", Scope, "scope")
    limit = table.number("limit", LEAST_LIMIT, MOST_LIMIT, "seconds")
    help_text = table.text("help")
    command = CustomCommand(
        name=name,
        argv=_argv(table, inputs),
        scope=Scope.LISTS if scope is None else scope.value,
        key=table.text("key"),
        inputs=inputs,
        limit=DEFAULT_LIMIT if limit is None else limit.value,
        help=f"Your own command {name}" if help_text is None else help_text.value,
        source=table.source("argv"),
        capability=capability,
        level=_level(table, capability),
    )
    table.done()
    return command


def _capability(table: Table) -> Capability:
    """A command that does not say what it does is refused (console.md 3.1, row 10)."""
    said = table.text("capability")
    if said is None:
        raise table.error("capability", _UNDECLARED)
    if said.value not in _CAPABILITIES:
        raise table.error("capability", unknown(said.value, _CAPABILITIES, "capability"))
    return _CAPABILITIES[said.value]


def _level(table: Table, capability: Capability) -> Level:
    """How it is confirmed: every change at least by a question (console.md 3.1, row 22)."""
    said = table.number("level", Level.ASK, Level.REASON, "as the levels are numbered")
    if capability is Capability.READ:
        if said is not None:
            raise table.error("level", _LEVELLED)
        return Level.NONE
    if said is not None and said.value != int(said.value):
        raise table.error("level", "must be 1, 2 or 3")
    return Level.ASK if said is None else Level(int(said.value))


def _inputs(table: Table) -> tuple[str, ...]:
    given = table.texts("inputs", 'a list of names, such as ["since"]')
    names = () if given is None else given.value
    for name in names:
        if not NAME.fullmatch(name) or name in OFFERED or names.count(name) > 1:
            raise table.error(
                "inputs", f"{name!r} cannot be an input; use each name once, and none of {', '.join(OFFERED)}"
            )
    return names


def _argv(table: Table, inputs: tuple[str, ...]) -> tuple[str, ...]:
    allowed = 'a list of words, such as ["grep", "--", "{id}", "agents.log"]; no shell reads them'
    argv = table.texts("argv", allowed)
    table.needed("argv", argv, allowed)
    assert argv is not None
    known = {*OFFERED, *inputs}
    for word in argv.value:
        for name in PLACEHOLDER.findall(word):
            if name not in known:
                raise table.error("argv", unknown(name, known, "placeholder"))
    if PLACEHOLDER.search(argv.value[0]):
        raise table.error("argv", "must begin with the program itself, not with a placeholder")
    return argv.value
