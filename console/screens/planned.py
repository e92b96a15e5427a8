"""What is done with a plan: executing, approving, giving it up, its items, a file of it. One change at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from console import export
from console.acting import equivalent, plan_file
from console.acting.confirmation import Asked
from console.acting.deeds import Deed
from console.acting.pace import said_rate
from console.acting.plans import PlanState, Source
from console.action import Level
from console.commands import OpenJob
from console.export import Form
from console.model import GatewayError
from console.present import Cell, Tone, own, safe, several
from console.screens import ordering
from console.screens.confirm import Question, ask
from console.screens.page import Page
from console.widgets.prompt import Purpose

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from console.acting.confirmation import Confirmed
    from console.acting.door import Acting
    from console.acting.equivalent import Aim
    from console.acting.model import Order
    from console.acting.planning import Made
    from console.acting.plans import PlanView
    from console.app import HoldwatchApp
    from console.session import Session

_ASKED = "the rows of this pass wait for your answers: e on its plan goes on with them"


class PlannedPage(Page):
    """Keeps what was made, and by which moment of this machine's clock it was read; `executed`: from here."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.made: Made | None = None
        self.confirmed: Confirmed | None = None
        self._made_at = 0.0
        self._sending = False
        self.executed = False

    @property
    def now(self) -> datetime | None:
        """The store's clock: as it was read, and what has gone by here since."""
        if self.made is None:
            return None
        return self.made.view.as_of + timedelta(seconds=max(0.0, self.session.monotonic() - self._made_at))

    @property
    def is_writing(self) -> bool:
        """One change of it at a time, which is waited for: a job that it makes is begun here."""
        return self._sending

    def copyable(self) -> str | None:
        """The command that does the same from a shell."""
        return None if self.made is None else self.made.command

    # Changes

    def do_execute(self) -> None:
        """Only ever with a confirmation in hand: typed as a command it says where that is given."""
        confirmed, self.confirmed = self.confirmed, None
        view = self._stored()
        if view is None:
            self.say(own("execute: this is a preview; r makes a plan of it"), Tone.WARN)
        elif confirmed is None:
            self.say(own("execute: type reason and phrase below, then Enter on the deed"), Tone.WARN)
        else:
            self._send(self._execute(view, confirmed))

    async def _execute(self, view: PlanView, confirmed: Confirmed) -> None:
        rate = said_rate(self.session.contexts.config)
        command = equivalent.executing(self._aim, str(view.id), view.phrase, confirmed.reason, rate)
        order = self._order(f"execute {view.deed.value}", view, confirmed.reason, command)
        call = partial(self._door.execute, str(view.id), order, confirmed.phrase, rate or 0)
        job = await self._sent(order, call)
        if job is None:
            return
        self.executed = True
        self.carried_out()
        app = cast("HoldwatchApp", self.app)
        if _asks(view):
            app.running.begin(job, _ASKED)
            self.do_resolve()
        else:
            app.running.begin(job)
            if self.is_active:  # who has opened something else meanwhile finds the job by the plan
                app.carry_out(OpenJob(job))

    def carried_out(self) -> None:
        """The plan has become a job: for what began it."""

    def do_resolve(self) -> None:
        """Through the rows of a pass that asks, one form after the other; past those that are decided."""
        from console.screens.leading import ask_through

        view = self._stored()
        if view is None or not _asks(view):
            self.say(
                own("resolve: a plan with source ask leads through its rows; e on a row opens its form"),
                Tone.WARN,
            )
        else:
            ask_through(cast("HoldwatchApp", self.app), str(view.id))

    def do_approve(self) -> None:
        """The second pair of eyes."""
        view = self._stored()
        if view is None or view.state is not PlanState.AWAITING:
            self.say(own("approve: this plan waits for nobody's approval"), Tone.WARN)
        elif view.actor == self.session.person.name:
            self.say(
                safe(f"approve: another person than {view.actor}, who made it, must do that", 300), Tone.WARN
            )
        else:
            phrase = f"APPROVE {view.hash[:8]}"
            asked = Asked(Level.PHRASE, "Approve", phrase, reasoned=True)
            self._confirm("approve", "approve another person's plan", asked, partial(self._approve, view))

    async def _approve(self, view: PlanView, confirmed: Confirmed) -> None:
        command = equivalent.approving(self._aim, str(view.id), confirmed.reason)
        order = self._order("approve plan", view, confirmed.reason, command)
        await self._sent(order, partial(self._door.approve_plan, str(view.id), order))

    def do_give_up_plan(self) -> None:
        """Cancel it: the store then refuses to execute it."""
        view = self._stored()
        if view is None:
            self.say(own("give up: a preview is stored nowhere; esc leaves it"), Tone.WARN)
        else:
            asked = Asked(Level.ASK, "Give up", reasoned=True)
            self._confirm("give_up_plan", "give this plan up", asked, partial(self._cancel, view))

    async def _cancel(self, view: PlanView, confirmed: Confirmed) -> None:
        command = equivalent.giving_up(self._aim, str(view.id), confirmed.reason)
        order = self._order("cancel plan", view, confirmed.reason, command)
        await self._sent(order, partial(self._door.cancel_plan, str(view.id), order))

    def _confirm(
        self, verb: str, title: str, asked: Asked, then: Callable[[Confirmed], Coroutine[Any, Any, None]]
    ) -> None:
        view = self._stored()
        assert view is not None
        lines = (
            (
                Cell(
                    safe(
                        f"{view.deed.value}: {several(view.items, 'item')}, {several(view.rows, 'row')}, "
                        f"for {view.environment}",
                        300,
                    )
                ),
            ),
            (Cell(safe(f"plan {view.id}, made by {view.actor}", 300), Tone.MUTED),),
            (Cell(safe(f"hash {view.hash}", 300), Tone.MUTED),),
        )
        ask(self, Question(own(title), lines, asked, verb=verb), lambda yes: self._send(then(yes)))

    def _send(self, work: Coroutine[Any, Any, None]) -> None:
        """One at a time: a second one while the first is on its way would be a second change."""
        if self._sending:
            work.close()
            self.say(own("the change before is still on its way"), Tone.WARN)
            return
        self._sending = True
        self.run_worker(work, group="acting", exit_on_error=False)

    async def _sent(self, order: Order, call: Callable[[], Any]) -> Any:
        """The store's answer; None where it refused, which is said."""
        try:
            return await self.session.sending.send(order, call)
        except GatewayError as error:
            self.say(safe(error.message, 600), Tone.BAD)
            return None
        finally:
            self._sending = False
            self.do_refresh()

    def _order(self, what: str, view: PlanView, reason: str, command: str) -> Order:
        """Made before it is sent, so that its outcome can be asked for (console.md F8)."""
        return ordering.order_of(self.session, f"{what} {view.id}", reason, command)

    def _stored(self) -> PlanView | None:
        return None if self.made is None or self.made.view.id is None else self.made.view

    @property
    def _door(self) -> Acting:
        acting = self.session.acting
        assert acting is not None, "nothing gets here while this console only looks"
        return acting

    @property
    def _aim(self) -> Aim:
        return equivalent.aim_of(self.session)

    # Looking

    def do_plan_items(self) -> None:
        from console.screens.plan_items import PlanItemsScreen

        if self.made is not None:
            self.app.push_screen(PlanItemsScreen(self.session, self.made.view))

    def do_export_plan(self) -> None:
        if self.made is not None:
            name = export.suggestion("plan", Form.JSONL, self.made.view.as_of.astimezone(UTC))
            self.open_prompt(Purpose.EXPORT, name, ())

    def take(self, purpose: Purpose, text: str) -> None:
        """A file's name, or what every screen takes."""
        if purpose is not Purpose.EXPORT:
            super().take(purpose, text)
            return
        path, form = export.file_of(text)
        if form is not Form.JSONL:
            raise export.ExportError(f"{text.strip()!r}: a plan is written as .jsonl")
        self.close_prompt()
        if self.made is not None:
            self.run_worker(self._write(path, self.made.view), group="export", exit_on_error=False)

    async def _write(self, path: Path, view: PlanView) -> None:
        try:
            text, items = await self.session.calls.run(lambda: plan_file.text_of(self.session.gateway, view))
            written = await self.session.errands.run(partial(export.write_text, path, text))
        except (GatewayError, export.ExportError) as error:
            self.say(safe(str(error), 600), Tone.WARN)
        else:
            self.say(own(f"the plan and its {several(items, 'item')} are in {safe(str(written), 600)}"))


def _asks(view: PlanView) -> bool:
    """Whether a person answers each of its rows."""
    return view.deed is Deed.RECONCILE and view.params.get("source") == Source.ASK
