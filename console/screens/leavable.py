"""Screens that are left once, and only by who stands in front: Textual takes away whatever is on top."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen

R = TypeVar("R")


class Leavable(Screen[R]):
    """Keys that were typed ahead, and answers that come late, may ask for it again or from below another screen.

    A subclass says what would be lost with it; `leaving.leave` asks before that happens.
    """

    QUESTION: ClassVar[bool] = False
    """Whether it only asks something about the screen below it."""

    @property
    def typed_work(self) -> str:
        """What the operator typed here and would lose with it, in a few words; empty where nothing is lost."""
        return ""

    @property
    def is_writing(self) -> bool:
        """Whether it waits for the answer to a change of its own: then it is not left."""
        return False

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Leave with this result; nothing where another screen is in front, or it was left already."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
