"""All that a configuration says, before the environment and the command line are asked."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.config.acting import Approval, after_lease_of, approval_of, rate_of
from console.config.command import commands_of
from console.config.context import LEAST_REFRESH, MOST_REFRESH, contexts_of
from console.config.problem import unknown
from console.config.source import Valued
from console.times import Telling

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from console.config.acting import AfterLease
    from console.config.command import CustomCommand
    from console.config.context import Context
    from console.config.table import Table


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration. `file` is None where none was found; `keys` are keys by verb, `columns` titles by list,
    `resolvers` a `module:function` by `day` and `meter:PREFIX`. `after_change` are the words of a program that hears of
    every change by hand; `rate` is how many items a second a job does at most, 0 for no limit.
    """

    file: Path | None = None
    looked_at: Path | None = None
    context: Valued[str] | None = None
    tenant: Valued[str] | None = None
    refresh: Valued[float] | None = None
    read_only: Valued[bool] | None = None
    time: Valued[Telling] | None = None
    ascii: Valued[bool] | None = None
    contexts: Mapping[str, Context] = field(default_factory=dict)
    columns: Mapping[str, Valued[tuple[str, ...]]] = field(default_factory=dict)
    keys: Mapping[str, Valued[str]] = field(default_factory=dict)
    commands: Mapping[str, CustomCommand] = field(default_factory=dict)
    resolvers: Mapping[str, Valued[str]] = field(default_factory=dict)
    after_change: Valued[tuple[str, ...]] | None = None
    approval: Approval = field(default_factory=Approval)
    after_lease: Valued[AfterLease] | None = None
    rate: Valued[int] | None = None


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
        time=root.word("time", Telling, "way to tell times"),
        ascii=root.truth("ascii"),
        contexts=contexts,
        columns=_columns(root.below("columns")),
        keys=_keys(root.below("keys")),
        commands=commands_of(root),
        resolvers=_resolvers(root.below("resolvers")),
        after_change=_hook(root.below("hooks")),
        approval=approval_of(root.below("approval")),
        after_lease=after_lease_of(root.below("reconcile")),
        rate=rate_of(root.below("jobs")),
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


def _hook(table: Table) -> Valued[tuple[str, ...]] | None:
    """The program that is run after each change, its words told apart as a shell does; no shell runs it."""
    found = table.text("after_change")
    table.done()
    if found is None:
        return None
    try:
        words = tuple(shlex.split(found.value))
    except ValueError as error:
        raise table.error("after_change", f"cannot be told apart into words: {error}") from error
    if not words or not words[0]:
        raise table.error("after_change", "must name a program")
    return Valued(words, found.source)


def _resolvers(table: Table) -> dict[str, Valued[str]]:
    """Who is asked about the reservations of the day store and of each meter in a job that asks."""
    return {kind: _resolver(table, kind) for kind in table.values}


def _resolver(table: Table, kind: str) -> Valued[str]:
    named, _, prefix = kind.partition(":")
    if kind != "day" and not (named == "meter" and prefix):
        raise table.error(kind, 'is no kind of reservation; there are day and "meter:PREFIX"')
    found = table.text(kind)
    module, _, function = ("" if found is None else found.value).partition(":")
    if found is None or not (module and function):
        raise table.error(kind, 'must be "module:function"')
    return found
