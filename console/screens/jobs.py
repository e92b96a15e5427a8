"""The jobs of the store, and behind tab the stored plans (console.md 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from console import job_filters
from console.acting.jobs import JobRow
from console.actions import Place, bindings
from console.lists import questions
from console.present import Tone, own
from console.screens.job_verbs import JobVerbs

if TYPE_CHECKING:
    from textual.binding import BindingType

    from console.lists.view import Question


class JobsScreen(JobVerbs):
    """Two lists, of which tab shows the other one."""

    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.JOBS,
        Place.CARRIED,
        Place.TOLD,
        Place.MARKED,
        Place.FILTERED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "jobs"
    PANE: ClassVar[str] = "-six-lines"
    FIELDS: ClassVar[tuple[str, ...]] = job_filters.JOB_FIELDS

    def question(self, text: str) -> Question[Any]:
        """Jobs or plans; raises FilterError."""
        return questions.of_jobs(text)

    def do_other_jobs(self) -> None:
        self.narrow("" if self.filter == job_filters.PLANS else job_filters.PLANS)

    def meant_job(self) -> JobRow | None:
        """The row under the cursor, where that is a job's."""
        row = self.main_widget().target_row
        if row is not None and not isinstance(row, JobRow):
            self.say(own("this is a plan: Enter opens it, and there it is executed or given up"), Tone.WARN)
        return row if isinstance(row, JobRow) else None

    @property
    def job_in_view(self) -> JobRow | None:
        """As `meant_job`; of a plan nothing is said."""
        row = self.main_widget().target_row
        return row if isinstance(row, JobRow) else None

    def _meant(self) -> JobRow | None:
        return self.meant_job() if self.main_widget().target_row is not None else super()._meant()
