"""The operator's door to changes: previews, plans, jobs, resolutions (console.md F1, F5, F10; api.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine.desk.audit_desk import AuditDesk
from engine.desk.plans.model import Reach, Threshold

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from engine.desk.actor import Actor, Mandate
    from engine.desk.jobs import ItemOutcome, Job, JobItem, JobState, Progress, Runner
    from engine.desk.money_views import ReservationKind
    from engine.desk.plans import Item, Plan, Preview, ReconcileAsked, SweepAsked
    from engine.desk.resolve.model import Approval, Evidence, Resolution
    from engine.desk.views import Page
    from engine.spend.answers import Answer

NEVER: Final = Threshold()
"""No plan waits for a second pair of eyes."""


class ActingDesk(AuditDesk):
    """The part of the desk that changes a store. What plans, jobs and executors need is loaded by the first call."""

    # Previews: read only, not stored, without an id

    def preview_delete(
        self, thread_ids: Iterable[str], *, environment: str, reach: Reach = Reach.TREE
    ) -> Preview:
        """What a delete of these threads would take, each guarded as it was seen; PlanRefused when it is too wide."""
        from engine.desk.plans import preview_delete

        return self._whole("desk.preview_delete", preview_delete, environment, thread_ids, reach)

    def preview_release(self, thread_ids: Iterable[str], *, environment: str) -> Preview:
        """The claims on these threads, each with its token and expiry (ruling 53)."""
        from engine.desk.plans import preview_release

        return self._whole("desk.preview_release", preview_release, environment, thread_ids)

    def preview_reconcile(self, asked: ReconcileAsked, *, environment: str) -> Preview:
        """What is due, and what would become of it."""
        from engine.desk.plans import preview_reconcile

        return self._whole("desk.preview_reconcile", preview_reconcile, environment, asked)

    def preview_sweep(self, asked: SweepAsked, *, environment: str) -> Preview:
        """What the policy would take now: the dry run, with what its guard says of it now."""
        from engine.desk.plans import preview_sweep
        from engine.desk.plans.guarded import told_by_guard

        found = self._whole("desk.preview_sweep", preview_sweep, environment, asked)
        return found if asked.guard is None else told_by_guard(found, asked.guard)

    def preview_resolve(
        self,
        kind: ReservationKind,
        reservation_id: str,
        *,
        guard: Mapping[str, Any],
        answer: Answer,
        evidence: Sequence[Evidence],
        reason: str,
        environment: str,
        source: str = "",
        corrects: str | None = None,
    ) -> Preview:
        """What a decision by hand would come to."""
        from engine.desk.plans import preview_resolve
        from engine.desk.resolve.guards import item_of
        from engine.desk.resolve.resolve import Decision

        item = item_of(kind, reservation_id, source, guard)
        decision = Decision(answer, tuple(evidence), corrects)
        return self._whole("desk.preview_resolve", preview_resolve, environment, item, decision, reason)

    # Plans: the same, frozen in the store for five minutes

    def plan_delete(
        self,
        thread_ids: Iterable[str],
        *,
        actor: Actor,
        environment: str,
        reach: Reach = Reach.TREE,
        threshold: Threshold = NEVER,
    ) -> Plan:
        """`preview_delete`, kept: the plan that `execute` takes."""
        preview = self.preview_delete(thread_ids, environment=environment, reach=reach)
        return self._kept(preview, actor, threshold)

    def plan_release(
        self, thread_ids: Iterable[str], *, actor: Actor, environment: str, threshold: Threshold = NEVER
    ) -> Plan:
        """`preview_release`, kept."""
        return self._kept(self.preview_release(thread_ids, environment=environment), actor, threshold)

    def plan_reconcile(
        self, asked: ReconcileAsked, *, actor: Actor, environment: str, threshold: Threshold = NEVER
    ) -> Plan:
        """`preview_reconcile`, kept."""
        return self._kept(self.preview_reconcile(asked, environment=environment), actor, threshold)

    def plan_sweep(
        self, asked: SweepAsked, *, actor: Actor, environment: str, threshold: Threshold = NEVER
    ) -> Plan:
        """`preview_sweep`, kept."""
        return self._kept(self.preview_sweep(asked, environment=environment), actor, threshold)

    def plan_resolve(
        self,
        kind: ReservationKind,
        reservation_id: str,
        *,
        guard: Mapping[str, Any],
        answer: Answer,
        evidence: Sequence[Evidence],
        reason: str,
        actor: Actor,
        environment: str,
        threshold: Threshold = NEVER,
        source: str = "",
        corrects: str | None = None,
    ) -> Plan:
        """A decision by hand that is not carried out yet: above the threshold another person approves it first.

        A deferral, which frees and charges nothing, waits for nobody.
        """
        from engine.spend.answers import Deferred

        preview = self.preview_resolve(
            kind,
            reservation_id,
            guard=guard,
            answer=answer,
            evidence=evidence,
            reason=reason,
            environment=environment,
            source=source,
            corrects=corrects,
        )
        return self._kept(preview, actor, NEVER if isinstance(answer, Deferred) else threshold)

    def _kept(self, preview: Preview, actor: Actor, threshold: Threshold) -> Plan:
        from engine.desk.plans import store_plan

        return self._tx.write("desk.plan", store_plan, preview, actor, threshold)

    def plans(self, after: str | None = None, limit: int = 100) -> Page[Plan]:
        """One keyset page of at most 200 plans, newest first."""
        from engine.desk.plans import plans

        return self._whole("desk.plans", plans, after, limit)

    def plan(self, plan_id: str) -> Plan | None:
        """One plan as it stands now."""
        from engine.desk.plans import plan_detail

        return self._whole("desk.plan", plan_detail, plan_id)

    def plan_items(self, plan_id: str, after: str | None = None, limit: int = 100) -> Page[Item]:
        """One page of its items, in the order in which they will be changed."""
        from engine.desk.plans import item_page

        return self._whole("desk.plan_items", item_page, plan_id, after, limit)

    def cancel_plan(self, plan_id: str, mandate: Mandate) -> Plan:
        """Give a plan up; its header stays."""
        from engine.desk.plans import cancel_plan

        return cancel_plan(self._tx, plan_id, mandate)

    def approve_plan(self, plan_id: str, mandate: Mandate) -> Plan:
        """The second pair of eyes: another person's yes to a plan that waits for it."""
        from engine.desk.plans import approve_plan

        return approve_plan(self._tx, plan_id, mandate)

    # Jobs

    def execute(self, plan_id: str, mandate: Mandate, confirmation: str, *, rate: int = 0) -> Job:
        """Make the plan a job, READY to be run; `confirmation` is its phrase, `rate` items a second (0: no limit)."""
        from engine.desk.jobs import execute

        return execute(self._tx, plan_id, mandate, confirmation, rate=rate)

    def runner(
        self,
        owner: str,
        resolvers: Mapping[str, Callable[[Any], Answer]] | None = None,
        *,
        stop: threading.Event | None = None,
    ) -> Runner:
        """What carries jobs out, from one thread; `resolvers` are named `day` and `meter:PREFIX`."""
        from engine.desk.jobs import Runner, executors_for

        return Runner(self._tx, executors_for(self._tx, resolvers or {}), owner, stop=stop)

    def jobs(self, state: JobState | None = None, after: str | None = None, limit: int = 100) -> Page[Job]:
        """One keyset page of at most 200 jobs, newest first."""
        from engine.desk.jobs import jobs

        return self._whole("desk.jobs", jobs, state, after, limit)

    def job(self, job_id: str) -> Job | None:
        """One job as it stands now."""
        from engine.desk.jobs import job_detail

        return self._whole("desk.job", job_detail, job_id)

    def job_progress(self, job_id: str) -> Progress:
        """How far it is, how fast it goes, how long it takes yet; JobRefused where there is none."""
        from engine.desk.jobs import progress

        return self._whole("desk.job_progress", progress, job_id)

    def job_items(
        self, job_id: str, outcome: ItemOutcome | None = None, after: str | None = None, limit: int = 100
    ) -> Page[JobItem]:
        """One page of what became of its items, in their order."""
        from engine.desk.jobs import job_items

        return self._whole("desk.job_items", job_items, job_id, outcome, after, limit)

    def pause(self, job_id: str, mandate: Mandate) -> Job:
        """Let nobody go on with it until it is resumed."""
        from engine.desk.jobs import pause

        return pause(self._tx, job_id, mandate)

    def resume(self, job_id: str, mandate: Mandate) -> Job:
        """Let it be taken again."""
        from engine.desk.jobs import resume

        return resume(self._tx, job_id, mandate)

    def cancel(self, job_id: str, mandate: Mandate) -> Job:
        """End it where it stands; what was applied stays."""
        from engine.desk.jobs import cancel

        return cancel(self._tx, job_id, mandate)

    # By hand

    def guard(
        self, kind: ReservationKind | str, reservation_id: str, source: str | None = None
    ) -> Mapping[str, Any] | None:
        """What an answer about a reservation is written under, as it stands now; None when there is no such one."""
        return self._whole("desk.guard", _guard, kind, reservation_id, source)

    def resolve(
        self,
        kind: ReservationKind,
        reservation_id: str,
        *,
        guard: Mapping[str, Any],
        answer: Answer,
        evidence: Sequence[Evidence],
        mandate: Mandate,
        source: str = "",
        corrects: str | None = None,
        approval: Approval | None = None,
    ) -> Resolution:
        """Decide one reservation under the guard that was shown; OVERTAKEN says who was first, and with what.

        `corrects` is the operation of an earlier decision about it that this one puts right; `approval`, which the
        audit keeps, is another person's yes to the plan that led to it.
        """
        from engine.desk.resolve.guards import item_of
        from engine.desk.resolve.resolve import Decision, resolve

        item = item_of(kind, reservation_id, source, guard)
        return resolve(self._tx, item, Decision(answer, tuple(evidence), corrects, approval), mandate)


def _guard(
    connection: Connection, kind: ReservationKind | str, reservation_id: str, source: str | None
) -> Mapping[str, Any] | None:
    from engine.desk.money_detail import reservation_detail
    from engine.desk.resolve.guards import guard_of

    found = reservation_detail(connection, kind, reservation_id, source)
    return None if found is None else guard_of(found)
