"""The line at the foot of a screen, where filters and commands are typed."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, cast

from textual import on

from console import command_completion, commands, own_commands
from console.present import Tone, safe
from console.screens.paced import Paced
from console.widgets.prompt import Prompt, Purpose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.widget import Widget

    from console.app import HoldwatchApp
    from console.completion import Completer
    from console.screens.page import Page


class Prompted(Paced):
    """What its prompt does; a subclass shows one."""

    @abstractmethod
    def main_widget(self) -> Widget:
        """Where the focus belongs."""

    @abstractmethod
    def update_lines(self) -> None:
        """Say again what the lines say."""

    def titles(self) -> tuple[str, ...]:
        """The columns of the list in front, by which it can be sorted."""
        return ()

    def held_values(self) -> dict[str, tuple[str, ...]]:
        """The values of a filter's fields that were read already, for completion."""
        return {}

    def open_prompt(self, purpose: Purpose, text: str, words: Iterable[str] | Completer) -> None:
        """Let the operator type."""
        self.query_one(Prompt).open(purpose, text, words)
        self.update_lines()

    def do_command(self) -> None:
        self._open_command("")

    def do_cap(self) -> None:
        self._open_command(f"{commands.CAP} ")

    def _open_command(self, text: str) -> None:
        complete = command_completion.completer(self.session, self.titles(), self.held_values())
        self.open_prompt(Purpose.COMMAND, text, complete)

    def type_ahead(self, character: str) -> bool:
        """Give the open prompt a character that was typed before it opened; False if none is open."""
        open_ones = [prompt for prompt in self.query(Prompt) if prompt.is_open]  # none before it is composed
        for prompt in open_ones:
            prompt.type_ahead(character)
        return bool(open_ones)

    @on(Prompt.Closed)
    def close_prompt(self) -> None:
        """Back to the list."""
        self.query_one(Prompt).close()
        self.set_focus(self.main_widget())
        self.update_lines()

    @on(Prompt.Given)
    def _given(self, event: Prompt.Given) -> None:
        try:
            self.take(event.purpose, event.text)
        except ValueError as error:
            self.say(safe(str(error)), Tone.WARN)

    def take(self, purpose: Purpose, text: str) -> None:
        """Do what was typed; raises ValueError, the prompt still open, if it means nothing."""
        if purpose is Purpose.COMMAND:
            means = bool(text.strip()) and not own_commands.typed(cast("Page", self), text)
            command = commands.parse(text) if means else None
            self.close_prompt()
            if command is not None:
                cast("HoldwatchApp", self.app).carry_out(command)
