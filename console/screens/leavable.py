"""Screens that are left once, and only by who stands in front: Textual takes away whatever is on top."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen

R = TypeVar("R")


class Leavable(Screen[R]):
    """Keys that were typed ahead, and answers that come late, may ask for it again or from below another screen."""

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Leave with this result; nothing where another screen is in front, or it was left already."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
