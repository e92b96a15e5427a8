"""Plans, jobs and audit entries that a test makes up, and a door that keeps what went through it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from console.acting.deeds import Deed
from console.acting.jobs import ItemOutcome, JobItemRow, JobQuery, JobRow, JobState, JobView
from console.acting.model import Outcome
from console.acting.plans import Apart, Bounds, PlanItem, PlanLine, PlanState, PlanView, Wish
from console.acting.records import AuditQuery, AuditRow, Verified
from console.acting.resolving import Came, Check, Deferred, Resolution, Resolvable
from tests.console.fake_moment import T0, cut

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from console.acting.model import Order
    from console.acting.resolving import Answer, Evidence
    from console.model import GatewayError, Page
    from console.money_words import Address

MINUTE = timedelta(minutes=1)
_STATES = (
    JobState.RUNNING,
    JobState.READY,
    JobState.PAUSED,
    JobState.DONE,
    JobState.INTERRUPTED,
    JobState.STOPPED,
)


def plan_view(**more: object) -> PlanView:
    """A plan to delete a tree of three threads."""
    made = PlanView(
        id="pln_9c41e2b0",
        deed=Deed.DELETE,
        environment="prod",
        phrase="DELETE 9562 ON PROD",
        state=PlanState.READY,
        items=3,
        rows=9_562,
        bytes=11_000_000,
        lines=(
            PlanLine("thread", 3, 12_288, "root + 2 below it"),
            PlanLine("event", 9_518, 7_900_000, "in steps of 500"),
            PlanLine("checkpoint", 41, 3_100_000, ""),
        ),
        blockers=(),
        warnings=("thr_W1WD was updated 6 minutes ago",),
        kept=("audit rows", "the spend ledger"),
        apart=(Apart("thr_gone", "already gone"),),
        apart_count=1,
        seconds=(12.0, 20.0),
        micro=0,
        units=0,
        params={"reach": "tree", "asked": 1},
        made_at=T0,
        as_of=T0,
        expires_at=T0 + 5 * MINUTE,
        actor="mk@bastion-2",
        hash="9c41" * 16,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def plan_item(n: int) -> PlanItem:
    """The item with this number."""
    guard = {"token": None, "checkpoint": f"ckp_{n}", "next_seq": 10 * n}
    return PlanItem(n, "thread", f"thr_{n:04}", guard, {"depth": 2 - n % 3})


def job_row(number: int, **more: object) -> JobRow:
    """A job that is further the older it is."""
    state = _STATES[number % len(_STATES)]
    done = 40 if state is not JobState.READY else 0
    made = JobRow(
        id=f"job_{number:04}",
        plan=f"pln_{number:04}",
        deed=("delete", "sweep", "reconcile", "release")[number % 4],
        environment="prod",
        state=state,
        owner="mk@bastion-2/4711" if state in {JobState.RUNNING, JobState.INTERRUPTED} else None,
        lease_until=T0 + MINUTE if state is JobState.RUNNING else None,
        done=60 if state is JobState.DONE else done,
        total=60,
        applied=done - min(done, 2),
        skipped=min(done, 1),
        failed=min(done, 1),
        rate=100 * (number % 2),
        created_at=T0 - number * MINUTE,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def job_item(n: int) -> JobItemRow:
    """What became of the item with this number."""
    outcome = (ItemOutcome.APPLIED, ItemOutcome.APPLIED, ItemOutcome.SKIPPED, ItemOutcome.FAILED)[n % 4]
    why = {ItemOutcome.SKIPPED: "version changed", ItemOutcome.FAILED: "the lock was held"}.get(outcome, "")
    detail: dict[str, object] = {"why": why} if why else {"before": {"token": n}, "after": {}}
    return JobItemRow(n, f"thr_{n:04}", outcome, f"job_0000/{n}", T0 - timedelta(seconds=n), why, detail)


def audit_row(seq: int, **more: object) -> AuditRow:
    """An entry: intents are odd, their results even."""
    body: dict[str, object] = {
        "deed": "release",
        "reason": f"INC-{seq}",
        "command": "holdwatch plan release thr_1",
    }
    made = AuditRow(
        seq=seq,
        phase="intent" if seq % 2 else "result",
        at=T0 - timedelta(seconds=1000 - seq),
        actor="mk@bastion-2" if seq % 3 else "jo@laptop",
        route="key",
        deed="release",
        object_kind="claim",
        object_id=f"thr_{(seq + 1) // 2:04}",
        reason=f"INC-{seq}",
        operation=f"op_{(seq + 1) // 2:04}",
        hash=f"{seq:064x}",
        prev_hash=f"{seq - 1:064x}",
        body=body,
    )
    return replace(made, **more)  # type: ignore[arg-type]


@dataclass(kw_only=True)
class FakeRecords:
    """The reading calls; a test puts rows into the lists."""

    plan_rows: list[PlanView] = field(default_factory=lambda: [plan_view(id=f"pln_{n}") for n in range(3)])
    planned: PlanView = field(default_factory=plan_view)
    items_planned: list[PlanItem] = field(default_factory=lambda: [plan_item(n) for n in range(1, 4)])
    job_rows: list[JobRow] = field(default_factory=lambda: [job_row(n) for n in range(6)])
    results: list[JobItemRow] = field(default_factory=lambda: [job_item(n) for n in range(1, 41)])
    entries: list[AuditRow] = field(default_factory=lambda: [audit_row(seq) for seq in range(1, 41)])
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    to_resolve: Resolvable | None = None
    doubts: tuple[Check, ...] = ()
    wishes: list[Wish] = field(default_factory=list)

    def preview(self, wish: Wish, environment: str) -> PlanView:
        """The test's plan, as a preview."""
        self.wishes.append(wish)
        return replace(
            self.planned, id=None, state=PlanState.PREVIEW, expires_at=None, environment=environment
        )

    def plans(self, after: str | None, limit: int) -> Page[PlanView]:
        """A page of the test's."""
        return cut(self.plan_rows, after, limit, T0)

    def plan(self, plan: str) -> PlanView | None:
        """One of the test's."""
        known = [self.planned, *self.plan_rows]
        return next((each for each in known if each.id == plan), None)

    def plan_items(self, plan: str, after: str | None, limit: int) -> Page[PlanItem]:
        """A page of the test's."""
        return cut(self.items_planned, after, limit, T0)

    def jobs(self, query: JobQuery, after: str | None, limit: int) -> Page[JobRow]:
        """A page of the test's."""
        wanted = [row for row in self.job_rows if query.state in {None, row.state}]
        return cut(wanted, after, limit, T0)

    def job(self, job: str) -> JobView | None:
        """One of the test's."""
        row = next((each for each in self.job_rows if each.id == job), None)
        return None if row is None else JobView(row, 12.5, timedelta(seconds=3), T0)

    def job_items(
        self, job: str, outcome: ItemOutcome | None, after: str | None, limit: int
    ) -> Page[JobItemRow]:
        """A page of the test's."""
        return cut([row for row in self.results if outcome in {None, row.outcome}], after, limit, T0)

    def audit(self, query: AuditQuery, after: str | None, limit: int) -> Page[AuditRow]:
        """A page of the test's, newest first."""
        wanted = [row for row in reversed(self.entries) if _meant(query, row)]
        return cut([row for row in wanted if self._open(row) or not query.unfinished], after, limit, T0)

    def _open(self, row: AuditRow) -> bool:
        ended = {each.operation for each in self.entries if each.phase == "result"}
        return row.phase == "intent" and row.operation not in ended

    def audit_entry(self, seq: int) -> AuditRow | None:
        """One of the test's."""
        return next((row for row in self.entries if row.seq == seq), None)

    def audit_of(self, operation: str) -> tuple[AuditRow, ...]:
        """Those of one operation."""
        return tuple(row for row in self.entries if row.operation == operation)

    def verify_audit(self, told: Callable[[int], object]) -> Verified:
        """It always holds."""
        told(len(self.entries))
        return Verified(len(self.entries), "0" * 64, None, None)

    def outcome(self, operation: str) -> Outcome | None:
        """One of the test's."""
        return self.outcomes.get(operation)

    def resolvable(self, address: Address) -> Resolvable | None:
        """The test's."""
        return self.to_resolve

    def weigh(
        self,
        address: Address,
        answer: Answer | None,
        evidence: tuple[Evidence, ...],
        corrects: str | None = None,
    ) -> tuple[Check, ...]:
        """The test's `doubts`; evidence is needed."""
        needed = not evidence and not isinstance(answer, Deferred)
        lacking = () if not needed else (Check("need", "no evidence yet: at least one item"),)
        return self.doubts or lacking or (Check("ok", "fine"),)


def _meant(query: AuditQuery, row: AuditRow) -> bool:
    if query.other_kind is not None and query.other_kind == row.object_kind:
        query = replace(query, object_kind=query.other_kind)
    asked = (
        (query.object_kind, row.object_kind),
        (query.object_id, row.object_id),
        (query.actor, row.actor),
        (query.operation, row.operation),
    )
    return all(wanted in {None, value} for wanted, value in asked)


@dataclass(kw_only=True)
class FakeActing:
    """The door: every call is kept in `calls`; `refusal` makes each of them fail with it."""

    planned: PlanView = field(default_factory=plan_view)
    refusal: GatewayError | None = None
    calls: list[tuple[object, ...]] = field(default_factory=list)
    holding: bool = False
    lacking: dict[str, tuple[str, ...]] = field(default_factory=dict)
    job: JobRow = field(default_factory=lambda: job_row(0))
    corrected: str | None = None
    resolution: Resolution = field(
        default_factory=lambda: Resolution(Came.RESOLVED, "op_1", {}, {}, "", None)
    )

    def _keep(self, *call: object) -> None:
        self.calls.append(call)
        if self.refusal is not None:
            raise self.refusal

    @property
    def changes(self) -> list[tuple[object, ...]]:
        """What would have changed the store."""
        return [call for call in self.calls if call[0] not in {"open", "close", "outcome"}]

    def open(self, order: Order) -> Mapping[str, tuple[str, ...]]:
        """Opens."""
        self._keep("open", order)
        return self.lacking

    def close(self, why: str) -> None:
        """Closes; never refused."""
        self.calls.append(("close", why))

    def record(self, order: Order, facts: Mapping[str, object]) -> None:
        """An intent."""
        self._keep("record", order, facts)

    def recorded(self, order: Order, facts: Mapping[str, object]) -> None:
        """How it ended."""
        self._keep("recorded", order, facts)

    def close_intent(self, operation: str, order: Order) -> Outcome:
        """It had no effect."""
        self._keep("close_intent", operation, order)
        return Outcome(operation, "release t", "mk@bastion-2", T0, "refused not applied", applied=False)

    def make_plan(self, wish: Wish, environment: str, bounds: Bounds) -> PlanView:
        """The test's plan."""
        self._keep("make_plan", wish, environment, bounds)
        return self.planned

    def cancel_plan(self, plan: str, order: Order) -> PlanView:
        """Cancelled."""
        self._keep("cancel_plan", plan, order)
        return replace(self.planned, state=PlanState.CANCELLED)

    def approve_plan(self, plan: str, order: Order) -> PlanView:
        """Approved."""
        self._keep("approve_plan", plan, order)
        return replace(self.planned, state=PlanState.READY, approved_by="jo@laptop")

    def execute(self, plan: str, order: Order, phrase: str, rate: int) -> str:
        """The test's job."""
        self._keep("execute", plan, order, phrase, rate)
        return self.job.id

    def run_job(
        self,
        job: str | None,
        stop: threading.Event,
        resolvers: Mapping[str, str],
        passed: Callable[[str, str], object] = lambda _job, _why: None,
    ) -> JobRow | None:
        """Done at once; while `holding`, once it is told to stop, and then handed over."""
        self._keep("run_job", job, resolvers)
        if self.holding:
            stop.wait(10.0)
            self.calls.append(("handed over", job))
            return replace(self.job, state=JobState.READY)
        return replace(self.job, state=JobState.DONE, done=self.job.total)

    def pause_job(self, job: str, order: Order) -> JobRow:
        """Paused."""
        self._keep("pause_job", job, order)
        return replace(self.job, state=JobState.PAUSED)

    def resume_job(self, job: str, order: Order) -> JobRow:
        """Ready."""
        self._keep("resume_job", job, order)
        return replace(self.job, state=JobState.READY)

    def cancel_job(self, job: str, order: Order) -> JobRow:
        """Cancelled."""
        self._keep("cancel_job", job, order)
        return replace(self.job, state=JobState.CANCELLED)

    def resolve(
        self,
        shown: Resolvable,
        answer: Answer,
        evidence: tuple[Evidence, ...],
        order: Order,
        corrects: str | None = None,
    ) -> Resolution:
        """The test's resolution; what it corrects is kept in `corrected`."""
        self._keep("resolve", shown, answer, evidence, order)
        self.corrected = corrects
        return self.resolution
