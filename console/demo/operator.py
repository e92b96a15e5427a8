"""What an operator of the demo has done before anybody looks: jobs, a plan given up, a decision by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console import VERSION
from console.demo.run import LEASE
from engine.checkpoints import ClaimRequest, RetentionPolicy, SweepPolicy
from engine.desk import FenceFilter, ReservationState
from engine.desk.actor import Actor, Mandate
from engine.desk.plans import SweepAsked, SweepPart
from engine.desk.resolve.model import Evidence, EvidenceKind, Shows
from engine.errors import EngineError
from engine.spend import Released

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.demo.stage import Subject
    from engine import Store
    from engine.desk.plans import Plan

ENVIRONMENT: Final = "demo"
MK: Final = Actor("mk", "bastion-2", f"holdwatch {VERSION}")
JO: Final = Actor("jo", "laptop", f"holdwatch {VERSION}")
KEPT: Final = 3
"""Checkpoints of a thread that the demo's sweep leaves."""


@dataclass(frozen=True, slots=True)
class Operator:
    """Two people at the demo's store, each change through the desk as a console sends it."""

    store: Store

    def act(self, subjects: Sequence[Subject]) -> None:
        """A sweep and a release carried out, a delete that was halted, a plan given up, a charge decided."""
        try:
            self._sweep()
            self._release(subjects[-1])
            self._halted(subjects[-4:-1])
            self._decided()
        except EngineError:
            return  # a store with a past of its own: the demo's operator leaves it alone

    def _sweep(self) -> None:
        policy = SweepPolicy(RetentionPolicy(max_checkpoints=KEPT))
        asked = SweepAsked(frozenset({SweepPart.THREADS}), policy)
        plan = self.store.desk.plan_sweep(asked, actor=JO, environment=ENVIRONMENT)
        self._carried_out(plan, JO, "OPS-3120 disk of the staging copy")

    def _release(self, subject: Subject) -> None:
        """A claim that a worker left behind."""
        self.store.checkpoints.claim(subject.thread_id, ClaimRequest("worker-11/5", LEASE, subject.tenant))
        plan = self.store.desk.plan_release([subject.thread_id], actor=MK, environment=ENVIRONMENT)
        self._carried_out(plan, MK, "INC-2291 worker-11 was drained, nobody renews")

    def _halted(self, subjects: Sequence[Subject]) -> None:
        """Erasure that waits for a word of the tenant's; and a first plan that was too wide."""
        desk, ids = self.store.desk, [subject.thread_id for subject in subjects]
        wide = desk.plan_delete(ids, actor=MK, environment=ENVIRONMENT)
        desk.cancel_plan(wide.plan_id, Mandate(MK, "two of them are still wanted"))
        plan = desk.plan_delete(ids[:1], actor=MK, environment=ENVIRONMENT)
        job = desk.execute(plan.plan_id, Mandate(MK, "INC-2291 tenant asked for erasure"), plan.phrase)
        desk.pause(job.job_id, Mandate(MK, "waiting for the tenant's confirmation"))

    def _decided(self) -> None:
        """The first charge whose check is due never happened, says its provider."""
        desk = self.store.desk
        due = desk.fences(FenceFilter(state=ReservationState.DUE), limit=1).rows
        if not due:
            return
        row = due[0].row
        guard = desk.guard(row.kind, row.reservation_id, row.source or None)
        assert guard is not None
        seen = Evidence(EvidenceKind.PROVIDER_CONSOLE, "req_9911", desk.now(), Shows.NOT_SPENT)
        desk.resolve(
            row.kind,
            row.reservation_id,
            guard=guard,
            answer=Released(),
            evidence=(seen,),
            mandate=Mandate(MK, "INC-2291 provider confirms there was no call"),
            source=row.source,
        )

    def _carried_out(self, plan: Plan, actor: Actor, reason: str) -> None:
        job = self.store.desk.execute(plan.plan_id, Mandate(actor, reason), plan.phrase)
        self.store.desk.runner(f"{actor.name}/4711").run(job.job_id)
