"""One plan: what would be changed, what not, what stands in the way, and the confirmation (console.md F1, 5.3).

It is made, or previewed while changes are off, when the screen opens, and never again by itself: whoever leaves it and
comes back sees the same plan. Its age and the time it has left are counted by the store's clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.containers import Vertical

from console import chrome
from console.acting import plan_facts, plan_file, planning, standing
from console.acting.deeds import WORDS, Deed
from console.acting.planning import Want
from console.acting.plans import PlanState, ReleaseWish, Source
from console.actions import Place, bindings
from console.commands import OpenJob
from console.model import GatewayError
from console.present import Cell, Tone, own, safe
from console.refresh import Poll
from console.screens import asking
from console.screens.planned import PlannedPage
from console.styles import beside
from console.widgets.confirming import Confirming
from console.widgets.pane import Pane
from console.widgets.plan_form import PlanForm
from console.widgets.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.acting.planning import Made
    from console.acting.plans import Wish
    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.reading import Gateway
    from console.session import Session

ROOMY = 100
"""Cells from which on the title has room beside the plan's number and its age."""
_ENDED = {PlanState.EXECUTED, PlanState.CANCELLED}
"""What no confirmation belongs to any more."""
_OF_PLANS = frozenset(
    {"replan", "plan_items", "export_plan", "give_up_plan", "approve", "resolve", "release"}
)
"""Verbs that are offered as the plan allows."""


class PlanScreen(PlannedPage):
    """Give it a `want` to plan, or the id of a stored `plan`."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.PLAN,
        Place.CLAIMED,
        Place.DECIDED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "jobs"

    def __init__(
        self, session: Session, want: Want | None = None, *, plan: str | None = None, reason: str = ""
    ) -> None:
        super().__init__(session)
        self._want = want
        self._plan = plan
        self._reason = reason
        self._busy = False
        self._failed = ""
        self._poll: Poll[Made | None] = Poll(
            session.calls, self._ask, self._take, changed=self.freshened, monotonic=session.monotonic
        )

    def compose_body(self) -> Iterable[Widget]:
        """The facts, and the room of the confirmation."""
        yield Pane(id="facts")
        yield Vertical(id="ask")

    def polls(self) -> tuple[Poll[Any], ...]:
        """How the plan stands."""
        return (self._poll,)

    def main_widget(self) -> Widget:
        """Cancel, where a confirmation is open; else the facts."""
        return next(iter(self.query("#cancel")), self.query_one("#facts", Pane))

    def on_mount(self) -> None:
        """Make the plan once the first frame is drawn."""
        if self._want is not None and self._plan is None:
            self._busy = True
            self.run_worker(self._make(self._want), group="planning", exclusive=True, exit_on_error=False)

    def on_screen_resume(self) -> None:
        """In front again: the same plan; what was typed of the phrase is gone."""
        for form in self.query(PlanForm):
            form.begin_anew()

    # The plan

    async def _make(self, want: Want) -> None:
        try:
            made = await planning.make(self.session, want)
        except (GatewayError, ValueError) as error:
            self._failed = str(error)
        else:
            self._plan = made.view.id
            self._show(made)
        finally:
            self._busy = False
        self.tick()
        self.update_lines()

    def _ask(self) -> Made | None:
        """How it stands; of what is not stored only whether the store answers."""
        gateway = self.session.gateway
        if self._plan is None:
            gateway.identity()
            return None
        view = gateway.plan(self._plan)
        if view is None:
            raise GatewayError(f"there is no plan {self._plan}", code="validation", retryable=False)
        if self.made is not None and self.made.view.id == view.id:
            return planning.later(self.session, self.made, view)
        return planning.known(self.session, view)

    def _take(self, made: Made | None) -> None:
        if made is not None:
            self._show(made)

    def _show(self, made: Made) -> None:
        """Draw it; the confirmation is put up once, and taken away when there is nothing more to confirm."""
        if not self.is_mounted:
            return
        stored = made.view.id is not None
        self.made, self._made_at = made, self.session.monotonic()
        self.as_of = made.view.as_of if stored else None
        ask = self.query_one("#ask", Vertical)
        if made.view.state in _ENDED:
            ask.remove_children()
            ask.display = False
            self.query_one("#facts", Pane).focus()
        elif not ask.query(PlanForm):
            ask.mount(PlanForm(standing.asked_of(made.view), self.session.monotonic, reason=self._reason))
        self.tick()
        self.update_lines()

    def tick(self) -> None:
        """Age and time left go on."""
        if not self.is_mounted:
            return
        facts = self.query_one("#facts", Pane)
        made, now = self.made, self.now
        if made is None or now is None:
            line = (Cell(safe(self._waiting(), 2_000), Tone.BAD if self._failed else Tone.MUTED),)
            facts.show(lambda _room: (line,))
            return
        person = self.session.person
        facts.show(lambda room: plan_facts.lines(made, person, now, room))
        for form in self.query(PlanForm):
            form.block(self._blocker())

    def _waiting(self) -> str:
        if self._failed:
            return f"{self._failed}\n(r tries again, esc goes back)"
        return (
            "planning: what is about to be changed is being looked at ...   esc stops"
            if self._busy
            else "reading ..."
        )

    def _blocker(self) -> str:
        assert self.made is not None
        assert self.now is not None
        at = standing.Moment(self.now, self.session.writable, self.connected)
        return standing.why_not(self.made.view, at)

    def update_lines(self) -> None:
        """What holds the deed back follows the window and the clock."""
        super().update_lines()
        if self.is_mounted and self.made is not None:
            for form in self.query(PlanForm):
                form.block(self._blocker())

    @property
    def _deed(self) -> Deed | None:
        """What is planned; None while a stored plan was not read yet."""
        if self.made is not None:
            return self.made.view.deed
        return None if self._want is None else self._want.deed

    def crumbs(self) -> tuple[Line, Line]:
        """Whence and what; which plan, how it stands, its age and the time it has left."""
        deed = self._deed
        way = "Plans" if self._want is None else self._want.way
        title = "plan" if deed is None else WORDS[deed].title
        if self.size.width < ROOMY:  # the whole title stands over the table
            way, title = "plan" if deed is None else deed.value, way.rpartition(" > ")[2]
        left = (Cell(safe(f" {way} > ", 200), Tone.MUTED), Cell(safe(title, 200), Tone.HEAD))
        if self.made is None or self.now is None:
            return left, ()
        return left, plan_facts.standing(self.made.view, self.now)

    def _key_cells(self, room: int) -> Line:
        """Enter belongs to the answers, where there are any."""
        if not self.query(PlanForm) or self.query_one(Prompt).is_open:
            return super()._key_cells(room)
        return chrome.keys(
            [action for action in self.footer() if action.name not in {"open", "resolve"}], room
        )

    def idle_verbs(self) -> frozenset[str]:
        """A preview cannot be given up, nor what has ended; what is not read yet has no items."""
        view = None if self.made is None else self.made.view
        if view is None:
            return _OF_PLANS
        can = {"plan_items", "export_plan"}
        if view.id is not None and view.state not in _ENDED:
            can |= {"give_up_plan", "approve"}
        if view.id is not None and view.params.get("source") == Source.ASK:
            can.add("resolve")
        if self._want is not None:
            can.add("replan")
        if view.deed is Deed.DELETE:
            can.add("release")
        return _OF_PLANS - can

    # Verbs

    def do_up(self) -> None:
        self._facts.do_up()

    def do_down(self) -> None:
        self._facts.do_down()

    def do_page_up(self) -> None:
        self._facts.do_page_up()

    def do_page_down(self) -> None:
        self._facts.do_page_down()

    def do_first(self) -> None:
        self._facts.do_first()

    def do_last(self) -> None:
        self._facts.do_last()

    def do_end(self) -> None:
        self._facts.do_end()

    @property
    def _facts(self) -> Pane:
        """What is scrolled, whatever has the focus."""
        return self.query_one("#facts", Pane)

    def do_replan(self) -> None:
        """The same wish anew, under a new id; what was typed as a reason is kept."""
        if self._want is None:
            self.say(own("this plan was not made on this screen: go to its rows and begin there"), Tone.WARN)
            return
        reason = next((form.reason for form in self.query(PlanForm)), self._reason)
        self.app.switch_screen(PlanScreen(self.session, self._want, reason=reason))

    def do_release(self) -> None:
        """The claims that block a delete, on their own plan (console.md 3.1, row 41)."""
        made = self.made
        if made is None or made.view.deed is not Deed.DELETE:
            self.say(own("release: only a plan to delete is blocked by claims"), Tone.WARN)
            return
        view = made.view

        def wish(gateway: Gateway) -> Wish:
            items = plan_file.all_items(gateway, view)
            return ReleaseWish(tuple(item.id for item in items if item.guard.get("token") is not None))

        asking.begin(self, Want(Deed.RELEASE, wish, self.address_text(), "claims that block a delete"))

    def do_open(self) -> None:
        made = self.made
        if made is not None and made.view.job is not None:
            cast("HoldwatchApp", self.app).carry_out(OpenJob(made.view.job))

    def do_back(self) -> None:
        """Esc while it is being planned gives that up; else the page's."""
        if self._busy:
            self.workers.cancel_group(self, "planning")
            self.session.gateway.interrupt()
            self.dismiss()
        else:
            super().do_back()

    def carried_out(self) -> None:
        """What was marked for it was marked for this once."""
        if self._want is not None:
            self._want.spent()

    @property
    def typed_work(self) -> str:
        """A reason, or part of the phrase; once it was executed, both are in the audit."""
        typed = not self.executed and any(form.typed for form in self.query(PlanForm))
        return f"what was typed to confirm {self._plan or 'this preview'}" if typed else ""

    @on(Confirming.Left)
    def _left(self) -> None:
        self.do_back()

    @on(Confirming.Given)
    def _meant(self, event: Confirming.Given) -> None:
        self.confirmed = event.confirmed
        self.perform("execute")
        self.confirmed = None  # refused or not, a confirmation is good for one call
        for form in self.query(PlanForm):
            form.again()

    @on(PlanForm.Other)
    async def _other_key(self, event: PlanForm.Other) -> None:
        """What is no answer is a key of this screen, as it would be on any other."""
        if not self.is_current:
            return
        bound = self._bindings.key_to_bindings.get(event.key, ())
        for binding in bound:
            await self.run_action(binding.action)
        if not bound and event.character is not None:
            for form in self.query(PlanForm):
                form.begin_reason(event.character)

    def address_text(self) -> str:
        """The plan as a command; of a preview, where it was begun."""
        if self._plan is not None:
            return f"plan {self._plan}"
        return "plans" if self._want is None else self._want.origin
