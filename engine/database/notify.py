"""Hints over LISTEN and NOTIFY."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.database.wakeups import LocalSignals

if TYPE_CHECKING:
    from collections.abc import Callable


class NotifiedSignals(LocalSignals):
    def __init__(self, connect: Callable[[], Any], *, listen: bool) -> None:
        super().__init__()
