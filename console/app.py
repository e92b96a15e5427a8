"""The console as a Textual application: theme, screens, lifetime. Nothing else."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import signal
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual._compositor import ChopsUpdate
from textual.app import App

from console import filters, theme
from console.commands import Command, GoTo, OpenThread, Perform, ShowList, Wear
from console.narrow import NarrowUpdate
from console.palette import VerbProvider
from console.present import Safe, Tone, own, safe
from console.screens.claims import ClaimsScreen
from console.screens.events import EventsScreen
from console.screens.filtered import FilteredPage
from console.screens.help import HelpScreen
from console.screens.page import Page
from console.screens.queue import QueueScreen
from console.screens.thread import ThreadScreen
from console.screens.threads import ThreadsScreen

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.events import AppBlur, AppFocus, Key
    from textual.screen import Screen

    from console.session import Session

CLIPBOARD_LIMIT: Final = 74_994
"""Encoded bytes that a terminal takes through OSC 52."""
TERMINATED: Final = 128 + signal.SIGTERM


class HoldwatchApp(App[None]):
    """One console on one store."""

    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = {VerbProvider}
    COMMAND_PALETTE_BINDING: ClassVar[str] = "ctrl+p"
    DEFAULT_MODE: ClassVar[str] = ThreadsScreen.MODE
    TITLE = "holdwatch"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        theme.install(self)
        self.add_mode(ThreadsScreen.MODE, lambda: ThreadsScreen(session))
        self.add_mode(ClaimsScreen.MODE, lambda: ClaimsScreen(session))
        self.add_mode(EventsScreen.MODE, lambda: EventsScreen(session))
        self.add_mode(QueueScreen.MODE, lambda: QueueScreen(session))

    def on_mount(self) -> None:
        """Leave with a clean terminal also when told to by a signal."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
                loop.add_signal_handler(number, lambda: self.exit(return_code=TERMINATED))

    def on_key(self, event: Key) -> None:
        """What was typed so fast that it still went to the list belongs to the prompt that opened meanwhile."""
        page, typed = self.screen, event.character if event.is_printable else None
        if typed is not None and isinstance(page, Page) and page.type_ahead(typed):
            event.prevent_default()

    def on_unmount(self) -> None:
        """End running calls, so that nothing waits for them."""
        self.session.gateway.close()

    def on_app_focus(self, _event: AppFocus) -> None:
        """The terminal is being looked at."""
        self._tell_focus(has_focus=True)

    def on_app_blur(self, _event: AppBlur) -> None:
        """The terminal is not being looked at: only a heartbeat goes on."""
        self._tell_focus(has_focus=False)

    def _tell_focus(self, *, has_focus: bool) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Page):
                screen.terminal_focus(has_focus)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Write no more than what has changed."""
        narrow = NarrowUpdate.of(renderable) if isinstance(renderable, ChopsUpdate) else renderable
        super()._display(screen, narrow)

    def send_to_terminal(self, text: str) -> Safe:
        """Ask the terminal to keep a text (OSC 52), and say what was asked; no terminal says whether
        it did.
        """
        shown = safe(text, CLIPBOARD_LIMIT)
        if len(base64.b64encode(shown.encode())) > CLIPBOARD_LIMIT:
            return own("copy: too long for a terminal's clipboard")
        self.copy_to_clipboard(shown)
        return own(f"sent to terminal: {shown}" if shown == text else f"sent to terminal, escaped: {shown}")

    # Verbs that concern the whole console

    def do_threads(self) -> None:
        self.switch_mode(ThreadsScreen.MODE)

    def do_claims(self) -> None:
        self.switch_mode(ClaimsScreen.MODE)

    def do_events(self) -> None:
        self.switch_mode(EventsScreen.MODE)

    def do_queue(self) -> None:
        self.switch_mode(QueueScreen.MODE)

    def do_incomplete(self) -> None:
        self.carry_out(ShowList(ThreadsScreen.MODE, filters.STUCK))

    def do_tombstones(self) -> None:
        self.carry_out(ShowList(ThreadsScreen.MODE, filters.TOMBSTONES))

    def do_holders(self) -> None:
        self.carry_out(ShowList(ClaimsScreen.MODE, filters.HOLDERS))

    def do_help(self) -> None:
        if isinstance(self.screen, Page):
            self.push_screen(HelpScreen(self.screen.PLACES))

    def do_palette(self) -> None:
        self.action_command_palette()

    def do_theme(self) -> None:
        names = list(theme.SCHEMES)
        self.theme = names[(names.index(self.theme) + 1) % len(names)]

    def do_quit(self) -> None:
        self.exit()

    def carry_out(self, command: Command) -> None:
        """Do what a command line says; ValueError if it cannot be done here."""
        page = self.screen
        if not isinstance(page, Page):
            raise TypeError(f"{page!r} takes no commands")
        match command:
            case Perform(name):
                page.perform(name)
            case OpenThread(thread):
                self.push_screen(ThreadScreen(self.session, thread))
            case GoTo(goal):
                page.go_to(goal)
            case Wear(name) if name in theme.SCHEMES:
                self.theme = name
            case Wear(name):
                raise ValueError(f"no theme {name!r}; there are {', '.join(theme.SCHEMES)}")
            case ShowList(mode, text):
                self.switch_mode(mode)
                self.call_after_refresh(self._narrow, text)

    def _narrow(self, text: str) -> None:
        """Narrow the list of the mode in front, closing what was opened over it."""
        for _ in self.screen_stack[1:]:
            self.pop_screen()
        page = self.screen
        if not isinstance(page, FilteredPage):
            return
        try:
            page.narrow(text)
        except ValueError as error:
            page.say(safe(str(error), 600), Tone.WARN)
