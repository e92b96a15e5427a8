"""Where a value came from: what F12 shows beside it, and what errors name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

T = TypeVar("T")


class Layer(StrEnum):
    """Who may say a value; a later one overrides those before it (console.md 3.1, row 11)."""

    DEFAULT = "default"
    GLOBAL = "configuration file"
    CONTEXT = "context"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command line"
    HABIT = "chosen by key"


@dataclass(frozen=True, slots=True)
class Source:
    """A layer and the place in it: `config.toml:12`, a variable's or an option's name. `table` is the TOML table."""

    layer: Layer
    place: str = ""
    table: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.layer.value, self.place, self.table) if part)


DEFAULT: Final = Source(Layer.DEFAULT)


@dataclass(frozen=True, slots=True)
class Valued(Generic[T]):
    """A value and its source."""

    value: T
    source: Source = DEFAULT
