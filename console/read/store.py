"""The store that a reading command was given, opened for that command."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from console import targets
from console.read.output import refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.gateway.scripts import Reads


@contextmanager
def opened(word: str) -> Iterator[Reads]:
    """The calls on the store that the word means; what the store refuses to answer ends the command with 1."""
    from console.gateway.scripts import reading

    with refusals(), reading(targets.url_of(word)) as reads:
        yield reads
