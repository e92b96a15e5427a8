"""The console as a Textual application: theme, screens, lifetime. Nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import on
from textual._compositor import ChopsUpdate
from textual.driver import Driver
from textual.events import InputEvent
from textual.screen import Screen

from console import arriving, copying, garbage, manner, theme, times
from console.acting.leaving import ITEM_SECONDS, Leaving
from console.acting.model import Route
from console.acting.running import Running
from console.acting.watching import Watching
from console.acting.windowing import Windowing
from console.commands import (
    Command,
    GoTo,
    OpenJob,
    OpenOperation,
    OpenPlan,
    OpenReservation,
    OpenThread,
    Perform,
    SetCap,
    ShowList,
    Switch,
    Wear,
)
from console.config import ConfigError, with_habit
from console.going import Going
from console.identify import Identifying
from console.narrow import NarrowUpdate
from console.present import Safe, Tone, safe
from console.screens import modes
from console.screens.openings import screen_of
from console.screens.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType
    from textual.app import App as TextualApp
    from textual.command import Provider
    from textual.events import AppBlur, AppFocus, Event, Key

    from console.session import Session

TERMINATED: Final = 128 + signal.SIGTERM
LEAVING_SECONDS: Final = 2.0
BETWEEN: Final = "between"
"""The mode of an empty screen, while one context gives way to another."""


def _verbs() -> type[Provider]:
    """What the palette offers, loaded when it opens."""
    from console.palette import VerbProvider

    return VerbProvider


class HoldwatchApp(Going):
    """One console on one store."""

    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = {_verbs}
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {BETWEEN: Screen}
    COMMAND_PALETTE_BINDING: ClassVar[str] = "ctrl+p"
    DEFAULT_MODE: ClassVar[str] = modes.THREADS
    TITLE = "holdwatch"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        theme.install(self)
        times.TOLD.telling = session.settings.time.value
        manner.put_on(self, ascii_only=session.settings.ascii.value)
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

        self._windowing = Windowing(
            session,
            ask=self.push_screen,
            start=lambda work: self.run_worker(work, group="window", exit_on_error=False),
            tell=self._tell,
        )
        self._watching = Watching(
            session,
            start=lambda work: self.run_worker(work, group="watching", exit_on_error=False),
            tell=self._tell,
            redraw=self._identified,
        )
        self.running = Running(
            session,
            start=lambda work: self.run_worker(work, group="job", exit_on_error=False),
            tell=self._tell,
            changed=self._job_changed,
        )
        self._leaving = Leaving(
            session,
            self.running,
            ask=self.push_screen,
            start=lambda work: self.run_worker(work, group="leaving", exit_on_error=False),
            typed=self._typed,
            leave=self.exit,
        )

    @property
    def _page(self) -> Page | None:
        """The page in front: none below a dialog, and none for what comes while the console is leaving."""
        front = self.screen_stack[-1:]
        return front[0] if front and isinstance(front[0], Page) else None

    def _typed(self) -> tuple[str, ...]:
        """What stands half-filled on any screen."""
        from console.screens import leaving

        return leaving.typed_anywhere(self, modes.MODES)

    def _job_changed(self) -> None:
        """A job began or ended here: what is on the screen says so soon."""
        if self._page is not None:
            self._page.do_refresh()

    def _identify(self) -> None:
        """Ask the store who it is, from now on."""
        self.run_worker(self._identifying.poll.run(), group="identity", exclusive=True, exit_on_error=False)

    def _identified(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Page):
                screen.update_lines()

    def _tell(self, text: str, tone: Tone) -> None:
        if self._page is not None:
            self._page.say(safe(text, 600), tone)

    async def on_event(self, event: Event) -> None:
        """Whatever the operator does says that the read-write window is not forgotten."""
        if isinstance(event, InputEvent):
            self.session.window.touch()
        await super().on_event(event)

    def _look_at_window(self) -> None:
        self._windowing.look()
        if self._page is not None:
            self._watching.look(read=self._page.freshness.since is not None)

    def on_page_lost(self) -> None:
        """Nothing is changed in a store that does not answer."""
        self._windowing.end("the connection was lost")

    def on_page_recovered(self) -> None:
        """The connection is a new one: it may have reached another store."""
        self._identifying.poll.ask_now()
        self._watching.look_now()

    def on_mount(self) -> None:
        """Leave with a clean terminal also when told to by a signal."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
                loop.add_signal_handler(number, lambda: self.exit(return_code=TERMINATED))
        self.call_after_refresh(self._identify)
        self.set_interval(1.0, self._look_at_window)
        self.set_timer(garbage.STARTED_SECONDS, garbage.resume)

    def on_key(self, event: Key) -> None:
        """What was typed so fast that it still went to the list belongs to the prompt that opened meanwhile."""
        from console.screens.sort import SortScreen

        page, typed = self.screen, event.character if event.is_printable else None
        if typed is not None and isinstance(page, Page | SortScreen) and page.type_ahead(typed):
            event.prevent_default()

    async def on_unmount(self) -> None:
        """Hand over the job that runs here and record the end of the window, if both are quick; end running calls, so
        that nothing waits for them.
        """
        await self.running.finish(LEAVING_SECONDS)
        if self.session.window.was_opened:
            with contextlib.suppress(TimeoutError):  # leaving does not wait for a store that hangs
                await asyncio.wait_for(self._windowing.finish("the console was left"), LEAVING_SECONDS)
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
        return copying.told(copying.send(self, text), text)

    # Verbs that concern the whole console

    def do_help(self) -> None:
        from console.screens.help import HelpScreen

        if self._page is not None:
            self.push_screen(HelpScreen(self._page.PLACES, self.session.registry))

    def do_diagnostics(self) -> None:
        from console.screens.diagnostics import DiagnosticsScreen

        self.push_screen(DiagnosticsScreen(self.session))

    def do_contexts(self) -> None:
        from console.screens.contexts import ContextsScreen

        if self.session.contexts.rows():
            self.push_screen(ContextsScreen(self.session), self._choose_context)
        else:
            self._tell("the configuration names no context", Tone.INFO)

    def _choose_context(self, name: str | None) -> None:
        if name is not None:
            self._switch_context(name)

    def do_trust(self) -> None:
        if self._identifying.trust():
            self._tell("this store is what the context stands for, from now on", Tone.WARN)
        else:
            self._tell("trust: no context is open here, or its store has not answered yet", Tone.WARN)

    def do_palette(self) -> None:
        self.action_command_palette()

    def action_command_palette(self) -> None:
        from console.palette import Palette

        if not Palette.is_open(cast("TextualApp[object]", self)):
            self.push_screen(Palette(id="--command-palette"))

    def do_theme(self) -> None:
        theme.wear(self, theme.following(self.theme))

    def do_times(self) -> None:
        times.TOLD.telling = times.TOLD.telling.following
        self.session.settings = with_habit(self.session.settings, times.TOLD.telling)
        self._tell(manner.said(times.TOLD.telling), Tone.INFO)
        for screen in self.screen_stack:
            if isinstance(screen, Page):
                screen.retell()
        self.run_worker(self._keep_telling(times.TOLD.telling), group="habits", exit_on_error=False)

    async def _keep_telling(self, telling: times.Telling) -> None:
        """Off the event loop: the file may lie on a disk that hangs."""
        habits, configured = self.session.habits, self.session.contexts.config.time
        usual = times.Telling.UTC if configured is None else configured.value
        kept = None if telling is usual else telling
        try:
            if habits is not None:
                await self.session.errands.run(lambda: habits.keep(kept))
        except OSError as error:
            self._tell(f"{error.strerror}: how times are told could not be kept", Tone.WARN)

    def do_suspend(self) -> None:
        self._windowing.end("the console was suspended")  # who comes back may be somebody else
        if self.running.job is None:
            self.action_suspend_process()
        else:
            self.run_worker(self._hand_over_and_suspend(), group="leaving", exit_on_error=False)

    async def _hand_over_and_suspend(self) -> None:
        """A stopped process would keep its lease from nobody, and go on with its item when it comes back."""
        await self.running.finish(ITEM_SECONDS)
        self.action_suspend_process()

    @on(Driver.SignalResume)
    def _come_back(self) -> None:
        """The shell has written over all of it: draw everything, not what has changed."""
        for screen in self.screen_stack:
            screen.refresh()

    def do_window(self) -> None:
        self._windowing.turn()

    def do_quit(self) -> None:
        self._leaving.quit()

    async def action_quit(self) -> None:
        """Textual's own key, which it hears before any screen does."""
        self._leaving.quit()

    def carry_out(self, command: Command) -> None:
        """Do what a command line says; ValueError if it cannot be done here. What a page still asks for after a key has
        put a dialog in front of it is dropped.
        """
        page = self.screen
        if not isinstance(page, Page):
            return
        match command:
            case Perform(name, argument):
                self.session.route = Route.COMMAND
                page.perform(name, argument)
            case OpenThread() | OpenReservation() | OpenJob() | OpenPlan() | OpenOperation():
                self.push_screen(screen_of(command, self.session))
            case SetCap(micro):
                self.session.cap = micro
                page.capped()
            case GoTo(goal):
                arriving.among_events(self, goal)
            case Switch(name):
                self._switch_context(name)
            case Wear(name):
                self._wear(name)
            case ShowList(mode):
                self._close_over(mode, partial(self._show_list, command))

    def _show_list(self, command: ShowList) -> None:
        self.switch_mode(command.screen)
        self.call_after_refresh(arriving.in_a_list, self, command.filter, command.sort)

    def _wear(self, name: str) -> None:
        if name not in theme.NAMES:
            raise ValueError(f"no theme {name!r}; there are {', '.join(theme.NAMES)}")
        theme.wear(self, name)

    def _switch_context(self, name: str) -> None:
        """Open another context; the present one stays if that cannot be."""
        opens = self.session.contexts.opens
        if opens is None:
            raise ValueError("ctx: this console was opened without a configuration")
        entering = partial(self._open_and_enter, partial(opens, name))
        self._leaving.switch(name, lambda: self.run_worker(entering(), group="context", exclusive=True))

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
        await self.running.finish(ITEM_SECONDS)
        await self._windowing.finish("another context was opened")
        self.workers.cancel_group(self, "identity")
        self.workers.cancel_group(self, "memory")
        self.session.gateway.close()
        self.session = session
        self._furnish()
        await self.switch_mode(self.DEFAULT_MODE)
        self._identify()
