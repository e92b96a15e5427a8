"""The console as a Textual application: theme, screens, lifetime. Nothing else."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import signal
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual._compositor import ChopsUpdate
from textual.app import App
from textual.screen import Screen

from console import filters, money_filters, theme
from console.commands import (
    Command,
    GoTo,
    OpenReservation,
    OpenThread,
    Perform,
    SetCap,
    ShowList,
    Switch,
    Wear,
    changed_since,
)
from console.config import ConfigError
from console.identify import Identifying
from console.narrow import NarrowUpdate
from console.palette import VerbProvider
from console.present import Safe, Tone, own, safe
from console.screens import modes
from console.screens.filtered import FilteredPage
from console.screens.page import Page
from console.screens.sort import SortScreen
from console.spans import LATELY

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType
    from textual.events import AppBlur, AppFocus, Key

    from console.money_model import Address
    from console.session import Session

CLIPBOARD_LIMIT: Final = 74_994
"""Encoded bytes that a terminal takes through OSC 52."""
TERMINATED: Final = 128 + signal.SIGTERM
BETWEEN: Final = "between"
"""The mode of an empty screen, while one context gives way to another."""


class HoldwatchApp(App[None]):
    """One console on one store."""

    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = {VerbProvider}
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {BETWEEN: Screen}
    COMMAND_PALETTE_BINDING: ClassVar[str] = "ctrl+p"
    DEFAULT_MODE: ClassVar[str] = modes.THREADS
    TITLE = "holdwatch"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        theme.install(self)
        self._furnish()

    def _furnish(self) -> None:
        """The screens of the present session, none of them made yet."""
        session = self.session
        for mode in modes.MODES:
            self.add_mode(mode, partial(modes.screen_of, mode, session))
        self._identifying = Identifying(
            session,
            start=lambda work: self.run_worker(work, group="memory", exit_on_error=False),
            changed=self._identified,
            failed=lambda text: self._tell(text, Tone.WARN),
        )

    def _identify(self) -> None:
        """Ask the store who it is, from now on."""
        self.run_worker(self._identifying.poll.run(), group="identity", exclusive=True, exit_on_error=False)

    def _identified(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Page):
                screen.update_lines()

    def _tell(self, text: str, tone: Tone) -> None:
        if isinstance(self.screen, Page):
            self.screen.say(safe(text, 600), tone)

    def on_page_recovered(self) -> None:
        """The connection is a new one: it may have reached another store."""
        self._identifying.poll.ask_now()

    def on_mount(self) -> None:
        """Leave with a clean terminal also when told to by a signal."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
                loop.add_signal_handler(number, lambda: self.exit(return_code=TERMINATED))
        self.call_after_refresh(self._identify)

    def on_key(self, event: Key) -> None:
        """What was typed so fast that it still went to the list belongs to the prompt that opened meanwhile."""
        page, typed = self.screen, event.character if event.is_printable else None
        if typed is not None and isinstance(page, Page | SortScreen) and page.type_ahead(typed):
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
        self._identifying.poll.focus(has_focus)
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

    def do_overview(self) -> None:
        self.switch_mode(modes.OVERVIEW)

    def do_changed(self) -> None:
        self.carry_out(changed_since(LATELY))

    def do_threads(self) -> None:
        self.switch_mode(modes.THREADS)

    def do_claims(self) -> None:
        self.switch_mode(modes.CLAIMS)

    def do_reservations(self) -> None:
        self.switch_mode(modes.RESERVATIONS)

    def do_fences(self) -> None:
        self.switch_mode(modes.FENCES)

    def do_budgets(self) -> None:
        self.switch_mode(modes.BUDGETS)

    def do_days(self) -> None:
        self.carry_out(ShowList(modes.BUDGETS, money_filters.DAYS))

    def do_events(self) -> None:
        self.switch_mode(modes.EVENTS)

    def do_queue(self) -> None:
        self.switch_mode(modes.QUEUE)

    def do_incomplete(self) -> None:
        self.carry_out(ShowList(modes.THREADS, filters.STUCK))

    def do_tombstones(self) -> None:
        self.carry_out(ShowList(modes.THREADS, filters.TOMBSTONES))

    def do_holders(self) -> None:
        self.carry_out(ShowList(modes.CLAIMS, filters.HOLDERS))

    def do_help(self) -> None:
        from console.screens.help import HelpScreen

        if isinstance(self.screen, Page):
            self.push_screen(HelpScreen(self.screen.PLACES, self.session.registry))

    def do_diagnostics(self) -> None:
        from console.screens.diagnostics import DiagnosticsScreen

        self.push_screen(DiagnosticsScreen(self.session))

    def do_contexts(self) -> None:
        named = [f"{row.name} ({row.environment})" for row in self.session.contexts.rows()]
        self._tell(
            f"contexts: {', '.join(named)}" if named else "the configuration names no context", Tone.INFO
        )

    def do_trust(self) -> None:
        if self._identifying.trust():
            self._tell("this store is what the context stands for, from now on", Tone.WARN)
        else:
            self._tell("trust: no context is open here, or its store has not answered yet", Tone.WARN)

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
            case Perform(name, argument):
                page.perform(name, argument)
            case OpenThread(thread):
                self._show_thread(thread)
            case OpenReservation(address):
                self._show_reservation(address)
            case SetCap(micro):
                self.session.cap = micro
                page.capped()
            case GoTo(goal):
                page.go_to(goal)
            case Switch(name):
                self._switch_context(name)
            case Wear(name):
                self._wear(name)
            case ShowList(mode, text):
                self.switch_mode(mode)
                self.call_after_refresh(self._narrow, text)

    def _show_thread(self, thread: str) -> None:
        from console.screens.thread import ThreadScreen

        self.push_screen(ThreadScreen(self.session, thread))

    def _show_reservation(self, address: Address) -> None:
        from console.screens.reservation import ReservationScreen

        self.push_screen(ReservationScreen(self.session, address))

    def _wear(self, name: str) -> None:
        if name not in theme.SCHEMES:
            raise ValueError(f"no theme {name!r}; there are {', '.join(theme.SCHEMES)}")
        self.theme = name

    def _switch_context(self, name: str) -> None:
        """Open another context; the present one stays if that cannot be."""
        opens = self.session.contexts.opens
        if opens is None:
            raise ValueError("ctx: this console was opened without a configuration")
        self.run_worker(self._open_and_enter(lambda: opens(name)), group="context", exclusive=True)

    async def _open_and_enter(self, opens: Callable[[], Session]) -> None:
        """Opening looks at files, which may lie on a disk that hangs: not in the event loop."""
        try:
            session = await self.session.errands.run(opens)
        except (ConfigError, ValueError) as error:
            self._tell(str(error), Tone.WARN)
        else:
            await self._enter(session)

    async def _enter(self, session: Session) -> None:
        """Leave one session for another: nothing of the old one - rows, marks, filters, connections - is kept
        (console.md 3.1, row 14).
        """
        await self.switch_mode(BETWEEN)
        for mode in modes.MODES:
            await self.remove_mode(mode)
        self.workers.cancel_group(self, "identity")
        self.workers.cancel_group(self, "memory")
        self.session.gateway.close()
        self.session = session
        self._furnish()
        await self.switch_mode(self.DEFAULT_MODE)
        self._identify()

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
