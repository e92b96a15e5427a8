"""The first words that are commands, known without loading any: every other first word is a store (ruling 62)."""

from __future__ import annotations

from typing import Final

from console.act import registration as changing
from console.read import registration as reading

OWN: Final = frozenset({"console", "demo", "migrate", "maintain", "metrics", "serve"})
"""Those that `console.cli` itself adds."""


def names() -> frozenset[str]:
    """All of them."""
    return OWN | reading.names() | changing.names()
