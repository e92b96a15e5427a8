"""One job: how far it is and how fast, what became of its items, and in the end its report (console.md F10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from console import audit_filters, completion, job_facts, job_filters, vocabularies
from console.acting.job_report import report_of
from console.acting.jobs import ItemOutcome
from console.acting.names import object_of
from console.actions import Place, bindings
from console.lists import questions
from console.model import GatewayError
from console.present import Cell, Tone, middle, own, safe, width
from console.refresh import Poll
from console.screens.job_verbs import JobVerbs
from console.styles import beside
from console.widgets.pane import Pane
from console.widgets.prompt import Purpose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.acting.job_report import Report
    from console.acting.jobs import JobItemRow, JobRow, JobView
    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.lists.view import Question
    from console.session import Session

_ROOMY: Final = 100
_WHOLE_ID: Final = 60
_SHORT_ID: Final = 24
"""Cells of a job's id above its list, on a screen of so many cells and on a narrower one."""
_CYCLE: Final = ("", *(f"outcome:{outcome.value}" for outcome in ItemOutcome))


class JobScreen(JobVerbs):
    """Its head above - its report once it is over -, its items below."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.JOB,
        Place.CARRIED,
        Place.TOLD,
        Place.MARKED,
        Place.FILTERED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "jobs"
    PANE: ClassVar[str] = "-four-lines"
    FIELDS: ClassVar[tuple[str, ...]] = job_filters.ITEM_FIELDS

    def __init__(self, session: Session, job: str, text: str = "") -> None:
        self.job = job
        self._first_filter = text
        self._view: JobView | None = None
        self._report: Report | None = None
        self._gone = False
        super().__init__(session)
        self.filter = text
        self._question = self.question(text)
        self._views = Poll(
            session.calls,
            self._ask_view,
            self._take_view,
            changed=lambda _: None,
            monotonic=session.monotonic,
        )

    def question(self, text: str) -> Question[Any]:
        """Its items; raises FilterError."""
        return questions.of_job(self.job, text)

    def compose_body(self) -> Iterable[Widget]:
        """The head, then the list and its pane."""
        head = Pane(id="head", classes="-raised -fixed")
        head.can_focus = False
        yield head
        yield from super().compose_body()

    def polls(self) -> tuple[Poll[Any], ...]:
        """The items, how many, and the job itself."""
        return (*super().polls(), self._views)

    # The head

    def _ask_view(self) -> tuple[JobView | None, Report | None]:
        view = self.session.gateway.job(self.job)
        return view, None if view is None else self._report_of(view)

    def _report_of(self, view: JobView) -> Report | None:
        """Read once: what is over does not change any more."""
        same = self._view is not None and self._view.row == view.row
        return self._report if same and self._report is not None else report_of(self.session.gateway, view)

    def _take_view(self, told: tuple[JobView | None, Report | None]) -> None:
        view, self._report = told
        self._gone = view is None
        self._view = view or self._view
        self._show_head()
        self.update_lines()

    def _show_head(self) -> None:
        view, found, scene = self._view, self._report, self.scene()
        if view is None or scene is None:
            return
        here = cast("HoldwatchApp", self.app).running.job == self.job
        pane = self.query_one("#head", Pane)
        if found is None:
            pane.show(lambda room: job_facts.head(view, scene, room, here=here))
        else:
            pane.show(lambda room: job_facts.report(view, found, room))

    def tick(self) -> None:
        """Leases and spans go on."""
        self._show_head()
        super().tick()

    def crumbs(self) -> tuple[Line, Line]:
        """Which job, then what every list says."""
        left, right = super().crumbs()
        gone = Cell(own("  GONE  " if self._gone else "  "), Tone.GONE)
        room = _WHOLE_ID if self.size.width >= _ROOMY else _SHORT_ID
        way = (Cell(own(" Jobs > "), Tone.MUTED), Cell(middle(safe(self.job), room), Tone.HEAD), gone)
        return self._fitting(way, left[1:], right), right

    def _fitting(self, way: Line, more: Line, right: Line) -> Line:
        """The way whole; of what every list says behind it as much as has room."""
        used = sum(width(cell.text) for cell in (*way, *right))
        kept: list[Cell] = []
        for cell in more:
            used += width(cell.text)
            if used > self.size.width:
                break
            kept.append(cell)
        return (*way, *kept)

    # Verbs

    def audited(self) -> str:
        """What was done by hand to this job, and what it came to."""
        return audit_filters.of_job(self.job)

    def meant_job(self) -> JobRow | None:
        """This one, as it was read last."""
        return None if self._view is None else self._view.row

    def do_outcomes(self) -> None:
        here = _CYCLE.index(self.filter) if self.filter in _CYCLE else 0
        self.narrow(_CYCLE[(here + 1) % len(_CYCLE)])

    def do_filter(self) -> None:
        known = vocabularies.of_screen("job").with_values(self.held_values())
        self.open_prompt(Purpose.FILTER, self.filter, completion.of_filter(known))

    def do_about(self) -> None:
        row = self.main_widget().target_row
        if row is None:
            self.say(own("no item under the cursor"), Tone.WARN)
        else:
            self.run_worker(self._open_object(row), group="about", exclusive=True, exit_on_error=False)

    async def _open_object(self, row: JobItemRow) -> None:
        """The audit says what kind of object an item was about."""
        gateway = self.session.gateway
        try:
            entries = await self.session.calls.run(lambda: gateway.audit_of(row.operation))
        except GatewayError as error:
            self.say(safe(f"what it was: {error}", 600), Tone.WARN)
            return
        command = None if not entries else object_of(entries[-1].object_kind, entries[-1].object_id)
        if command is None:
            self.say(own(f"{safe(row.id)}: nothing here shows what this item was about"), Tone.WARN)
        else:
            cast("HoldwatchApp", self.app).carry_out(command)

    def address_text(self) -> str:
        """The job as a command, with the filter of its items."""
        return f"job {self.job} {self.filter}".strip()
