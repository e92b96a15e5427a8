"""The verbs of one console: those that every console has, with the operator's keys, and the commands of his own.

Each key means one thing wherever it is bound, so that a changed key never hides another (console.md 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from console import actions, commands
from console.actions import ACTIONS, Action, Capability, Place
from console.config import ConfigError
from console.config.problem import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import Binding

    from console.config import Config, CustomCommand, Source

HARMLESS_CAPITALS: Final = frozenset("GMNYE")
"""Capitals that change nothing in the store (ruling 52)."""
FUNCTION_KEYS: Final = tuple(f"f{number}" for number in range(2, 12))
"""F1 and F12 keep their meaning."""
_ALLOWED: Final = "a key is one printable character, or f2 to f11"
_SCOPES: Final = {
    "everywhere": Place.EVERYWHERE,
    "lists": Place.LIST,
    "threads": Place.THREADS,
    "claims": Place.CLAIMS,
    "queue": Place.QUEUE,
    "reservations": Place.RESERVATIONS,
    "fences": Place.FENCES,
    "budgets": Place.BUDGETS,
    "events": Place.EVENTS,
    "thread": Place.THREAD,
    "reservation": Place.RESERVATION,
}


@dataclass(frozen=True, slots=True)
class Registry:
    """Verbs in the order of the help. `commands` are the operator's own, by name; each is a verb as well."""

    actions: tuple[Action, ...] = ACTIONS
    commands: Mapping[str, CustomCommand] = field(default_factory=dict)

    def named(self, name: str) -> Action:
        """The verb of this name; KeyError if there is none."""
        for action in self.actions:
            if action.name == name:
                return action
        raise KeyError(name)

    def of(self, places: tuple[Place, ...]) -> tuple[Action, ...]:
        """The verbs of a screen that names these places."""
        return actions.of(places, self.actions)

    def footer(self, places: tuple[Place, ...]) -> tuple[Action, ...]:
        """The verbs of its footer."""
        return actions.footer(places, self.actions)

    def bindings(self, places: tuple[Place, ...]) -> list[Binding]:
        """Its keys."""
        return actions.bindings(*places, known=self.actions)


def registry_of(config: Config) -> Registry:
    """The verbs as a configuration has them; raises ConfigError."""
    for verb, key in config.keys.items():
        if verb not in actions.BY_NAME:
            raise ConfigError.at(key.source, f"[keys] {verb}", unknown(verb, actions.BY_NAME, "verb"))
    known = [_rekeyed(action, config) for action in ACTIONS]
    own = [_action_of(command) for command in config.commands.values()]
    chosen = {verb: key.source for verb, key in config.keys.items()}
    chosen |= {command.name: command.key.source for command in config.commands.values() if command.key}
    _check_taken([*known, *own], chosen)
    return Registry((*known, *own), config.commands)


def _rekeyed(action: Action, config: Config) -> Action:
    """The verb under its new key; keys with names, such as arrows and esc, stay."""
    key = config.keys.get(action.name)
    if key is None:
        return action
    _check_key(key.value, action.capability, key.source, f"[keys] {action.name}")
    named = (each for each in action.keys if len(each) > 1 and each != key.value)
    return replace(action, keys=(key.value, *named))


def _action_of(command: CustomCommand) -> Action:
    """The operator's command as a verb."""
    where = f"[commands.{command.name}]"
    if command.name in actions.BY_NAME or command.name in commands.RESERVED:
        raise ConfigError.at(command.source, where, "is the name of a verb of the console; choose another")
    if command.key is not None:
        _check_key(command.key.value, command.capability, command.key.source, f"{where} key")
    keys = () if command.key is None else (command.key.value,)
    return Action(
        command.name,
        keys,
        command.name,
        command.help,
        _SCOPES[command.scope],
        command.capability,
        command.level,
    )


def _check_key(key: str, capability: Capability, source: Source, where: str) -> None:
    single = len(key) == 1 and key.isprintable() and not key.isspace()
    if not single and key not in FUNCTION_KEYS:
        raise ConfigError.at(source, where, f"cannot be {key!r}; {_ALLOWED}")
    capital = single and key.isupper()
    if capability is not Capability.READ and not capital:
        raise ConfigError.at(
            source, where, f"cannot be {key!r}: a verb that changes the store, or begins to, needs a capital"
        )
    if capability is Capability.READ and capital and key not in HARMLESS_CAPITALS:
        allowed = ", ".join(sorted(HARMLESS_CAPITALS))
        raise ConfigError.at(
            source, where, f"cannot be {key!r}: capitals start changes; only {allowed} may look"
        )


def _check_taken(known: list[Action], chosen: dict[str, Source]) -> None:
    for name, source in chosen.items():
        key = next(action.keys[0] for action in known if action.name == name)
        other = next((each for each in known if each.name != name and key in each.keys), None)
        if other is not None:
            where = f"[keys] {name}" if name in actions.BY_NAME else f"[commands.{name}] key"
            raise ConfigError.at(
                source, where, f"{key!r} is taken by {other.name} ({other.help}); choose another key"
            )
