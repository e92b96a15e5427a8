"""`[columns]`: which columns each list shows, by their titles, in the order given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.config.problem import ConfigError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from console.config.source import Valued
    from console.config.whole import Config


def columns_of(config: Config, lists: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """The places of the columns to show of each list, among those that it has; raises ConfigError.

    Places, not titles: a title may tell a figure that changes.
    """
    chosen: dict[str, tuple[int, ...]] = {}
    for name, titles in config.columns.items():
        if name not in lists:
            raise ConfigError.at(titles.source, f"[columns] {name}", unknown(name, lists, "list"))
        chosen[name] = _places(name, titles, list(lists[name]))
    return chosen


def _places(name: str, titles: Valued[tuple[str, ...]], known: list[str]) -> tuple[int, ...]:
    wanted = [title.upper() for title in titles.value]
    for title in wanted:
        if title not in known:
            raise ConfigError.at(titles.source, f"[columns] {name}", unknown(title, known, "column"))
        if wanted.count(title) > 1:
            raise ConfigError.at(titles.source, f"[columns] {name}", f"{title!r} stands there twice")
    return tuple(known.index(title) for title in wanted)


def shown_of(columns: tuple[Any, ...], places: tuple[int, ...] | None) -> tuple[Any, ...]:
    """Those of a list's columns that were chosen, in that order; all of them where none were."""
    return columns if places is None else tuple(columns[place] for place in places)
