"""Holdwatch's storage engine: durable threads with fenced claims. `open_store(url)` is the door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.store import Store, open_store

__all__ = ["Store", "open_store"]


def __getattr__(name: str) -> Any:
    # Importing the package alone loads no driver: workers and `--help` start fast.
    if name in __all__:
        from engine import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
