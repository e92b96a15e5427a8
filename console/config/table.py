"""One TOML table, read key by key: each value comes with its source, each error with its line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from console.config.problem import ConfigError, unknown
from console.config.source import Layer, Source, Valued

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from enum import StrEnum

    from console.config.statements import Path

    Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: its name for messages, what it says, and where each key stands."""

    name: str
    tables: Mapping[str, Any]
    lines: Mapping[Path, int]

    def source(self, path: Path, layer: Layer) -> Source:
        """Where the key at a path stands, or the table around it."""
        around = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in self.lines), ())
        place = f"{self.name}:{self.lines[around]}" if around else self.name
        return Source(layer, place, f"[{'.'.join(path[:-1])}]" if len(path) > 1 else "")


@dataclass(frozen=True, slots=True)
class Table:
    """A table at a path of the document. `done` refuses the keys that nobody asked for."""

    document: Document
    path: Path
    values: Mapping[str, Any]
    layer: Layer = Layer.GLOBAL
    _asked: set[str] = field(default_factory=set)

    def text(self, key: str) -> Valued[str] | None:
        """A string that is not empty."""
        found = self._found(key, str, 'text, such as "prod"')
        if found is not None and not found.value.strip():
            raise self.error(key, "is empty; leave the key out or give it a text")
        return found

    def truth(self, key: str) -> Valued[bool] | None:
        """True or false."""
        return self._found(key, bool, "true or false")

    def number(self, key: str, least: float, most: float, unit: str) -> Valued[float] | None:
        """A number within bounds."""
        allowed = f"a number of {unit} from {least:g} to {most:g}"
        found: Valued[Any] | None = self._found(key, (int, float), allowed)
        if found is None:
            return None
        if not least <= found.value <= most:
            raise self.error(key, f"must be {allowed}")
        return Valued(float(found.value), found.source)

    def texts(self, key: str, allowed: str) -> Valued[tuple[str, ...]] | None:
        """A list of strings, none of them empty and at least one."""
        found: Valued[Any] | None = self._found(key, list, allowed)
        if found is None:
            return None
        if not found.value or not all(isinstance(each, str) and each for each in found.value):
            raise self.error(key, f"must be {allowed}")
        return Valued(tuple(found.value), found.source)

    def word(self, key: str, words: type[Word], what: str) -> Valued[Word] | None:
        """One of a closed set's words."""
        found = self.text(key)
        if found is None:
            return None
        if found.value not in list(words):
            raise self.error(key, unknown(found.value, words, what))
        return Valued(words(found.value), found.source)

    @property
    def place(self) -> str:
        """Where the table stands."""
        return self.document.source(self.path, self.layer).place

    def tables(self, key: str, layer: Layer = Layer.GLOBAL) -> Iterator[tuple[str, Table]]:
        """The tables below a key, by name; their values are of this layer."""
        below = self.below(key)
        for name, values in below.values.items():
            if not isinstance(values, dict):
                raise below.error(name, f"must be a table: write [{key}.{name}] and its keys below")
            yield name, Table(self.document, (*below.path, name), values, layer)

    def below(self, key: str) -> Table:
        """The table at a key; an empty one where there is none."""
        self._asked.add(key)
        values = self.values.get(key, {})
        if not isinstance(values, dict):
            raise self.error(key, f"must be a table: write [{key}] and its keys below")
        return Table(self.document, (*self.path, key), values, self.layer)

    def source(self, key: str) -> Source:
        """Where a key stands."""
        return self.document.source((*self.path, key), self.layer)

    def error(self, key: str, problem: str) -> ConfigError:
        """The error of a key of this table."""
        named = f"[{'.'.join(self.path)}] {key}" if self.path else key
        return ConfigError(self.source(key).place, named, problem)

    def named_error(self, problem: str) -> ConfigError:
        """The error of the table's own name."""
        return ConfigError(self.place, f"[{'.'.join(self.path)}]", problem)

    def needed(self, key: str, value: Valued[Any] | None, allowed: str) -> None:
        """ConfigError, at the table, where a value is missing."""
        if value is None:
            raise self.error(key, f"is missing; give it {allowed}")

    def done(self) -> None:
        """ConfigError for the first key that was not asked for."""
        for key in self.values:
            if key not in self._asked:
                raise self.error(key, unknown(key, self._asked, "key"))

    def _found(self, key: str, kind: Any, allowed: str) -> Valued[Any] | None:
        self._asked.add(key)
        if key not in self.values:
            return None
        value = self.values[key]
        # To Python true is a number.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.error(key, f"must be {allowed}")
        return Valued(value, self.source(key))
