"""What holds in the end: command line before environment before context before file, and read-only before all
(console.md 3.1, row 11).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from console.config.context import LEAST_REFRESH, MOST_REFRESH
from console.config.problem import ConfigError
from console.config.source import DEFAULT, Layer, Source, Valued
from console.times import Telling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.config.context import Context
    from console.config.whole import Config

T = TypeVar("T")

REFRESH_VARIABLE: Final = "HOLDWATCH_REFRESH"
TENANT_VARIABLE: Final = "HOLDWATCH_TENANT"
READ_ONLY_VARIABLE: Final = "HOLDWATCH_READ_ONLY"
USUAL_REFRESH: Final = 2.0
_TRUTHS: Final = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}

_USUALLY: Final = Valued(USUAL_REFRESH)
_EVERYBODY: Final[Valued[str | None]] = Valued(None)
_OPEN: Final = Valued(value=False)
_UTC: Final = Valued(Telling.UTC)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says; None and False say nothing."""

    refresh: float | None = None
    tenant: str | None = None
    read_only: bool = False
    ascii: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for one console on one store. `refresh` is in seconds; no `tenant` means all of them; `ascii`
    says that nothing else is drawn.
    """

    refresh: Valued[float] = _USUALLY
    tenant: Valued[str | None] = _EVERYBODY
    read_only: Valued[bool] = _OPEN
    time: Valued[Telling] = _UTC
    ascii: Valued[bool] = _OPEN


def settled(
    config: Config,
    context: Context | None = None,
    asked: Asked = Asked(),
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """What holds for a context of a configuration, or for a store without one; raises ConfigError."""
    refresh: list[Valued[Any] | None] = [
        _option("--refresh", asked.refresh),
        _refresh_variable(environ),
        None if context is None else context.refresh,
        config.refresh,
    ]
    tenant: list[Valued[Any] | None] = [
        _option("--tenant", asked.tenant),
        _variable(environ, TENANT_VARIABLE),
        None if context is None else context.tenant,
        config.tenant,
    ]
    read_only: list[Valued[Any] | None] = [
        _option("--read-only", asked.read_only or None),
        _truth_variable(environ),
        None if context is None else context.read_only,
        config.read_only,
    ]
    return Settings(
        refresh=_first(refresh, USUAL_REFRESH),
        tenant=_first(tenant, None),
        read_only=_strictest(read_only),
        time=_first([config.time], Telling.UTC),
        ascii=_first([_option("--ascii", asked.ascii or None), config.ascii], default=False),
    )


def with_habit(settings: Settings, telling: Telling | None) -> Settings:
    """The settings with what the operator chose by key and what was kept of it: the last word."""
    if telling is None:
        return settings
    return replace(settings, time=Valued(telling, Source(Layer.HABIT, "t")))


def _first(layers: list[Valued[Any] | None], default: Any) -> Valued[Any]:
    return next((each for each in layers if each is not None), Valued(default, DEFAULT))


def _strictest(layers: list[Valued[Any] | None]) -> Valued[bool]:
    """Read-only where any layer says so, whatever the others say."""
    said = [each for each in layers if each is not None]
    return next((each for each in said if each.value), _first(layers, default=False))


def _option(name: str, value: T | None) -> Valued[T] | None:
    return None if value is None else Valued(value, Source(Layer.COMMAND_LINE, name))


def _variable(environ: Mapping[str, str], name: str) -> Valued[str] | None:
    value = environ.get(name, "")
    return Valued(value, Source(Layer.ENVIRONMENT, name)) if value else None


def _refresh_variable(environ: Mapping[str, str]) -> Valued[float] | None:
    found = _variable(environ, REFRESH_VARIABLE)
    if found is None:
        return None
    try:
        seconds = float(found.value)
    except ValueError:
        seconds = 0.0
    if not LEAST_REFRESH <= seconds <= MOST_REFRESH:
        raise ConfigError(
            REFRESH_VARIABLE, "", f"must be a number of seconds from {LEAST_REFRESH:g} to {MOST_REFRESH:g}"
        )
    return Valued(seconds, found.source)


def _truth_variable(environ: Mapping[str, str]) -> Valued[bool] | None:
    found = _variable(environ, READ_ONLY_VARIABLE)
    if found is None:
        return None
    if found.value.lower() not in _TRUTHS:
        raise ConfigError(READ_ONLY_VARIABLE, "", f"must be one of {', '.join(_TRUTHS)}")
    return Valued(_TRUTHS[found.value.lower()], found.source)
