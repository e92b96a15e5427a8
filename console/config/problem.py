"""What is wrong with a configuration, in the words that the operator reads."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from console.config.source import Source


class ConfigError(Exception):
    """A configuration that cannot be used: where (a file and line, a variable), which key, and what is allowed.

    No message quotes an address or a command: either may hold a password that does not belong there.
    """

    def __init__(self, where: str, key: str, problem: str) -> None:
        super().__init__(f"{where}: {key}: {problem}" if key else f"{where}: {problem}")
        self.where = where
        self.key = key
        self.problem = problem

    @classmethod
    def at(cls, source: Source, key: str, problem: str) -> ConfigError:
        """The error of a value that came from this source."""
        return cls(source.place, key, problem)


def unknown(word: str, known: Iterable[str], what: str) -> str:
    """What is said of a word that is none of a closed set."""
    words = sorted(known)
    near = get_close_matches(word, words, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"no {what} {word!r}; {hint}there are {', '.join(words) or 'none'}"
