"""All that a configuration says, before the environment and the command line are asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.config.command import commands_of
from console.config.context import LEAST_REFRESH, MOST_REFRESH, contexts_of
from console.config.problem import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from console.config.command import CustomCommand
    from console.config.context import Context
    from console.config.source import Valued
    from console.config.table import Table


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration. `file` is None where none was found; `keys` are keys by verb, `columns` titles by list."""

    file: Path | None = None
    looked_at: Path | None = None
    context: Valued[str] | None = None
    tenant: Valued[str] | None = None
    refresh: Valued[float] | None = None
    read_only: Valued[bool] | None = None
    contexts: Mapping[str, Context] = field(default_factory=dict)
    columns: Mapping[str, Valued[tuple[str, ...]]] = field(default_factory=dict)
    keys: Mapping[str, Valued[str]] = field(default_factory=dict)
    commands: Mapping[str, CustomCommand] = field(default_factory=dict)


def config_of(root: Table, file: Path) -> Config:
    """The configuration that a file's root table says; raises ConfigError."""
    contexts = contexts_of(root)
    context = root.text("context")
    if context is not None and context.value not in contexts:
        raise root.error("context", unknown(context.value, contexts, "context"))
    config = Config(
        file=file,
        looked_at=file,
        context=context,
        tenant=root.text("tenant"),
        refresh=root.number("refresh", LEAST_REFRESH, MOST_REFRESH, "seconds"),
        read_only=root.truth("read_only"),
        contexts=contexts,
        columns=_columns(root.below("columns")),
        keys=_keys(root.below("keys")),
        commands=commands_of(root),
    )
    root.done()
    return config


def _columns(table: Table) -> dict[str, Valued[tuple[str, ...]]]:
    allowed = 'a list of column titles, such as ["THREAD", "STATE", "AGE"]'
    found = {name: table.texts(name, allowed) for name in table.values}
    return {name: titles for name, titles in found.items() if titles is not None}


def _keys(table: Table) -> dict[str, Valued[str]]:
    found = {verb: table.text(verb) for verb in table.values}
    return {verb: key for verb, key in found.items() if key is not None}
