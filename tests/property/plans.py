"""What a step of the state machine wants to do, before it is known what the thread holds.

A commit is planned right, with at most two faults in it that are named; `resolve` looks into the model and
makes the real arguments. So most calls do something, and a run can be shrunk without its later steps losing
their sense.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    Commit,
    EffectDraft,
    EventDraft,
    Fence,
    Origin,
    PendingWrite,
)
from tests.support.builders import T0

if TYPE_CHECKING:
    from tests.property.model import Model

THREADS = ("one", "", "zwei/'; ü")
TENANTS = (None, "", "acme")
HOLDERS = ("run-1", "run-2", "")
CHECKPOINT_IDS = ("c0", "c1", "c2", "c3", "c4", "c5")
EFFECT_KEYS = ("mail", "")
EFFECT_VALUES: tuple[Any, ...] = (None, "sent", {"a": 1, "b": [2]}, {"b": [2], "a": 1})
METADATA: tuple[dict[str, str | None], ...] = (
    {"title": "x"},
    {"title": None},
    {"title": "y", "": "", "gone": None},
    {},
)
NEVER_ISSUED = 1000
UNKNOWN = "never stored"


class Token(StrEnum):
    """Which token a call presents. The current one of an unclaimed thread is the last it had."""

    CURRENT = "current"
    EARLIER = "earlier"
    OF_ANOTHER = "of another thread"
    NOT_YET = "not yet issued"
    ZERO = "zero"


class Fault(StrEnum):
    """What is wrong with a commit."""

    EARLIER_TOKEN = "the token is an earlier one"
    OTHER_TOKEN = "the token is another thread's"
    FUTURE_TOKEN = "the token was never issued"
    STALE_FENCE = "the fence has an earlier token"
    OLD_PARENT = "the checkpoint follows the oldest one"
    NO_PARENT = "the checkpoint follows none"
    UNKNOWN_PARENT = "the checkpoint follows one that is not there"
    TAKEN_ID = "the checkpoint's id is in the history"
    MISDIRECTED = "the last write names another checkpoint"
    LOST_CHECKPOINT = "the checkpoint is left out, and what needs it is not"
    TWICE = "an effect stands in it twice"


_TOKENS = {
    Fault.EARLIER_TOKEN: Token.EARLIER,
    Fault.OTHER_TOKEN: Token.OF_ANOTHER,
    Fault.FUTURE_TOKEN: Token.NOT_YET,
}


@dataclass(frozen=True)
class CheckpointPlan:
    """A checkpoint to append."""

    status: CheckpointStatus
    run_id: str
    tenant: str | None
    origin: str | None
    retract_turn: bool


@dataclass(frozen=True)
class CommitPlan:
    """A commit: how much of everything, and what is wrong with it."""

    checkpoint: CheckpointPlan | None
    writes: int
    events: int
    effects: tuple[tuple[str, Any], ...]
    metadata: dict[str, str | None] | None
    fence: str | None
    faults: frozenset[Fault]

    def resolve(self, model: Model, t: str) -> Commit:
        """The commit itself, as things stand."""
        left_out = self.checkpoint is None or Fault.LOST_CHECKPOINT in self.faults
        new = None if self.checkpoint is None or left_out else self._checkpoint(self.checkpoint, model, t)
        target = (model.thread(t).latest_id if new is None else new.id) or UNKNOWN
        choice = next((_TOKENS[fault] for fault in _TOKENS if fault in self.faults), Token.CURRENT)
        return Commit(
            token=token_of(choice, model, t),
            checkpoint=new,
            writes=self._writes(target, model.thread(t).latest_id or new),
            events=[
                EventDraft("custom", {"n": n}, "run", target, f"{n}", None, T0) for n in range(self.events)
            ],
            effects=[EffectDraft(*each) for each in self.effects * (2 if Fault.TWICE in self.faults else 1)],
            metadata=self.metadata,
            fence=self._fence(model),
            retract_turn=self.checkpoint is not None and self.checkpoint.retract_turn,
        )

    def _fence(self, model: Model) -> Fence | None:
        if self.fence is None or (
            model.thread(self.fence).lease is None and Fault.STALE_FENCE not in self.faults
        ):
            return None
        choice = Token.EARLIER if Fault.STALE_FENCE in self.faults else Token.CURRENT
        return Fence(self.fence, token_of(choice, model, self.fence))

    def _writes(self, target: str, possible: object) -> list[PendingWrite]:
        """No writes, unless meant as a fault, where there is no checkpoint to write for."""
        wrong = Fault.MISDIRECTED in self.faults
        count = max(self.writes, wrong) if possible is not None or wrong else 0
        last = UNKNOWN if wrong else target
        names = [target] * (count - 1) + [last] if count else []
        return [PendingWrite(name, f"task {n}", "node", {"operations": [n]}) for n, name in enumerate(names)]

    def _checkpoint(self, plan: CheckpointPlan, model: Model, t: str) -> Checkpoint:
        known = [each.id for each in model.thread(t).history]
        free = [each for each in CHECKPOINT_IDS if each not in known]
        return Checkpoint(
            id=known[0] if Fault.TAKEN_ID in self.faults and known else (free or [f"c{len(known)}"])[0],
            thread_id=t,
            run_id=plan.run_id,
            status=plan.status,
            snapshot={"superstep": len(known), "text": "ünï\x00code"},
            parent=self._parent(known),
            created_at=T0 if plan.origin is None else None,
            tenant=plan.tenant,
            fencing_token=model.thread(t).token,
            origin=None if plan.origin is None else Origin(plan.origin),
        )

    def _parent(self, known: list[str]) -> str | None:
        if Fault.OLD_PARENT in self.faults:
            return known[0] if known else UNKNOWN
        if Fault.UNKNOWN_PARENT in self.faults:
            return UNKNOWN
        return None if Fault.NO_PARENT in self.faults or not known else known[-1]


def token_of(choice: Token, model: Model, t: str) -> int:
    """The token a choice stands for."""
    issued = model.issued.get(t, [])
    current = model.thread(t).token
    if choice is Token.ZERO:
        return 0
    if choice is Token.NOT_YET:
        return model.last_token + NEVER_ISSUED
    if choice is Token.OF_ANOTHER:
        return next((model.thread(o).token or 0 for o in THREADS if o != t and model.thread(o).token), 0)
    if choice is Token.EARLIER:
        return next((token for token in reversed(issued) if token != current), 0)
    return current if current is not None else (issued[-1] if issued else 0)


def _mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """The usual choice as often as all the others together."""
    return st.sampled_from([usual] * len(others) + list(others))


TOKENS = _mostly(Token.CURRENT, Token.EARLIER, Token.OF_ANOTHER, Token.NOT_YET, Token.ZERO)
FENCES = _mostly(None, None, *THREADS)
FAULTS = st.sampled_from([()] * 2 * len(Fault) + [(fault,) for fault in Fault]) | st.tuples(
    st.sampled_from(Fault), st.sampled_from(Fault)
)
CHECKPOINTS = st.builds(
    CheckpointPlan,
    status=_mostly(CheckpointStatus.RUNNING, *(each for each in CheckpointStatus)),
    run_id=st.sampled_from(HOLDERS),
    tenant=st.sampled_from(TENANTS),
    origin=_mostly(None, None, *THREADS),
    retract_turn=_mostly(False, False, True),
)
EFFECTS = st.lists(
    st.tuples(st.sampled_from(EFFECT_KEYS), st.sampled_from(EFFECT_VALUES)),
    max_size=2,
    unique_by=lambda each: each[0],
).map(tuple)
FIRST = CommitPlan(
    checkpoint=CheckpointPlan(CheckpointStatus.RUNNING, HOLDERS[0], None, None, retract_turn=False),
    writes=2,
    events=2,
    effects=(),
    metadata=None,
    fence=None,
    faults=frozenset(),
)
"""What makes a thread one that the short form of a commit can take on."""
COMMITS = st.builds(
    CommitPlan,
    checkpoint=st.none() | CHECKPOINTS,
    writes=st.integers(0, 3),
    events=st.integers(0, 3),
    effects=EFFECTS,
    metadata=st.none() | st.sampled_from(METADATA),
    fence=FENCES,
    faults=FAULTS.map(frozenset),
)
# What a worker mostly does: all of it but a thread's first commit may take the short form.
STEPS = st.builds(
    CommitPlan,
    checkpoint=st.none()
    | st.builds(
        CheckpointPlan,
        status=_mostly(CheckpointStatus.RUNNING, CheckpointStatus.COMPLETED),
        run_id=st.sampled_from(HOLDERS),
        tenant=st.sampled_from(TENANTS),
        origin=st.none(),
        retract_turn=st.just(False),
    ),
    writes=st.integers(0, 2),
    events=st.integers(0, 3),
    effects=st.just(()),
    metadata=st.none(),
    fence=st.none(),
    faults=_mostly((), (), *((fault,) for fault in Fault)).map(frozenset),
)
