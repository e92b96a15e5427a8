"""The calls of `console.acting.jobs` over a store of the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.gateway import rows
from console.gateway.acting_base import ActingBase
from console.model import GatewayError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from console.acting.jobs import ItemOutcome, JobItemRow, JobQuery, JobRow, JobView
    from console.acting.model import Order
    from console.gateway.store import OpenedStore
    from console.model import Page
    from engine.desk.jobs import Job, JobItem


class JobsReading:
    """Reads jobs and what became of their items."""

    _store: OpenedStore

    def jobs(self, query: JobQuery, after: str | None, limit: int) -> Page[JobRow]:
        """Jobs, newest first."""
        from engine.desk import jobs

        state = None if query.state is None else jobs.JobState(query.state.value)
        with self._store.desk() as door:
            return rows.page(door.jobs(state, after, limit), job_row)

    def job(self, job: str) -> JobView | None:
        """One job, and its pace."""
        from console.acting.jobs import JobView

        with self._store.desk() as door:
            if door.job(job) is None:
                return None
            found = door.job_progress(job)
        return JobView(job_row(found.job), found.per_second, found.left, found.as_of, found.rows)

    def job_items(
        self, job: str, outcome: ItemOutcome | None, after: str | None, limit: int
    ) -> Page[JobItemRow]:
        """What became of its items, in their order."""
        from engine.desk import jobs

        wanted = None if outcome is None else jobs.ItemOutcome(outcome.value)
        with self._store.desk() as door:
            return rows.page(door.job_items(job, wanted, after, limit), job_item)


class JobsChanging(ActingBase):
    """Carries jobs out, and stops them."""

    def run_job(
        self,
        job: str | None,
        stop: threading.Event,
        resolvers: Mapping[str, str],
        passed: Callable[[str, str], object] = lambda _job, _why: None,
    ) -> JobRow | None:
        """Carry one job out, or the oldest that can be run here, until it ends or `stop` is set."""
        found = {name: _loaded(path) for name, path in resolvers.items()}
        with self.beside() as door:
            runner = door.runner(self.owner, found, stop=stop)
            done = runner.run_next() if job is None else runner.run(job)
            for each in runner.passed:
                passed(each.job_id, each.error.explain())
        return None if done is None else job_row(done)

    def pause_job(self, job: str, order: Order) -> JobRow:
        """Let nobody go on with it."""
        with self.door() as door:
            return job_row(door.pause(job, self.mandate(order)))

    def resume_job(self, job: str, order: Order) -> JobRow:
        """Let it be taken again."""
        with self.door() as door:
            return job_row(door.resume(job, self.mandate(order)))

    def cancel_job(self, job: str, order: Order) -> JobRow:
        """End it where it stands."""
        with self.door() as door:
            return job_row(door.cancel(job, self.mandate(order)))


def _loaded(path: str) -> Callable[[Any], Any]:
    """The function that `module:function` names; GatewayError where there is none."""
    from engine.desk.guard_spec import load_function
    from engine.errors import ValidationError

    try:
        found: Callable[[Any], Any] = load_function("resolver", path)
    except ValidationError as error:
        raise GatewayError(error.explain(), code=error.code, retryable=False) from error
    return found


def job_row(found: Job) -> JobRow:
    """One job."""
    from console.acting.jobs import JobRow, JobState

    return JobRow(
        id=found.job_id,
        plan=found.plan_id,
        deed=found.deed.value,
        environment=found.environment,
        state=JobState.INTERRUPTED if found.interrupted else JobState(found.state.value),
        owner=found.owner,
        lease_until=found.lease_until,
        done=found.next_n - 1,
        total=found.total,
        applied=found.applied,
        skipped=found.skipped,
        failed=found.failed,
        rate=found.rate,
        created_at=found.created_at,
    )


def job_item(found: JobItem) -> JobItemRow:
    """What became of one item."""
    from console.acting.jobs import ItemOutcome, JobItemRow

    detail = dict(found.detail)
    return JobItemRow(
        n=found.n,
        id=found.object_id,
        outcome=ItemOutcome(found.outcome.value),
        operation=found.operation_id,
        at=found.at,
        why=str(detail.get("why", "")),
        detail=detail,
    )
