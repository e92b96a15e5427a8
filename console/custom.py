"""The operator's own commands: what a typed line or a key asks for, and the words that the program is given.

What fills a placeholder is text of agents and operators: it stays one word, no shell reads it, and it never
becomes an option where a word begins with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.commands import CommandError
from console.config.command import PLACEHOLDER
from console.filter_words import FilterError, quoted, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.config import CustomCommand
    from console.registry import Registry


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command with its inputs."""

    command: CustomCommand
    inputs: Mapping[str, str]


def invoked(registry: Registry, line: str) -> Invocation | None:
    """The own command that a line `NAME input=value ...` asks for; None for any other line.

    Raises CommandError where an input is missing or means nothing.
    """
    name, _, rest = line.strip().partition(" ")
    command = registry.commands.get(name)
    if command is None:
        return None
    return Invocation(command, _inputs(command, rest))


def prompt_of(command: CustomCommand) -> str:
    """The line that an operator completes to give the inputs."""
    return f"{command.name} {command.inputs[0]}="


def argv_of(invocation: Invocation, offered: Mapping[str, str | None]) -> tuple[str, ...]:
    """The program's words with every placeholder filled; CommandError where one cannot be.

    `offered` are the values of id, store and context, None where there is none.
    """
    values = {**offered, **invocation.inputs}
    return tuple(_filled(word, values) for word in invocation.command.argv)


def _inputs(command: CustomCommand, rest: str) -> dict[str, str]:
    try:
        pairs = [word.partition("=") for word in words_of(rest)]
    except FilterError as error:
        raise CommandError(str(error)) from error
    given = {name: value for name, _, value in pairs}
    odd = [name for name, sign, _ in pairs if not sign or name not in command.inputs]
    missing = [name for name in command.inputs if not given.get(name)]
    if odd or missing:
        raise CommandError(f"{command.name} takes {_usage(command)}; {_complaint(odd, missing)}")
    return given


def _usage(command: CustomCommand) -> str:
    return " ".join(f"{name}=VALUE" for name in command.inputs) or "no inputs"


def _complaint(odd: list[str], missing: list[str]) -> str:
    return f"{quoted(odd[0])} is none of them" if odd else f"{missing[0]} is missing"


def _filled(word: str, values: Mapping[str, str | None]) -> str:
    first = PLACEHOLDER.match(word)
    for name in PLACEHOLDER.findall(word):
        _check(name, values.get(name), leads=first is not None and first[1] == name)
    return PLACEHOLDER.sub(lambda found: values[found[1]] or "", word)


def _check(name: str, value: str | None, *, leads: bool) -> None:
    if value is None:
        raise CommandError(_ABSENT.get(name, f"there is no {name} here"))
    if leads and value.startswith("-"):
        raise CommandError(
            f"this {name} begins with - and would be read as an option; "
            f'give the program its value behind a word, as in "--name={{{name}}}"'
        )
    if "\0" in value:
        raise CommandError(f"this {name} holds a NUL, which no program can be given")


_ABSENT = {
    "id": "no row under the cursor to run this for",
    "context": "this store was not opened by a context's name",
}
