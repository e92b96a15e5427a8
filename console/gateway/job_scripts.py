"""The reading calls of the commands about jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.read.documents import document, page_of

if TYPE_CHECKING:
    from typing import Any

    from console.acting.jobs import ItemOutcome, JobState
    from console.gateway.store import OpenedStore
    from console.read.documents import Document
    from engine.desk.jobs import Progress


class JobReads:
    """Jobs and what became of their items, field for field as the engine names them."""

    _store: OpenedStore

    def jobs(self, state: JobState | None, after: str | None, limit: int) -> Document:
        """Jobs, newest first; `interrupted` ones are among those that run, with a lease that is over."""
        from engine.desk import jobs

        stored = None if state is None else jobs.JobState(state.value)
        with self._store.desk() as door:
            return page_of(door.jobs(stored, after, limit))

    def job(self, job: str) -> Document | None:
        """One job and its pace; None where there is none."""
        with self._store.desk() as door:
            if door.job(job) is None:
                return None
            return _progress(door.job_progress(job))

    def job_items(self, job: str, outcome: ItemOutcome | None, after: str | None, limit: int) -> Document:
        """What became of its items, in their order."""
        from engine.desk import jobs

        wanted = None if outcome is None else jobs.ItemOutcome(outcome.value)
        with self._store.desk() as door:
            return page_of(door.job_items(job, wanted, after, limit))


def _progress(found: Progress) -> Document:
    """`per_minute` counts items of the last minute exactly enough: a document holds no float."""
    made: dict[str, Any] = {"as_of": found.as_of, **document(found.job), "done": found.done}
    return {
        **made,
        "rows_of_item": found.rows,
        "per_minute": round(found.per_second * 60),
        "left_seconds": found.left,
    }
