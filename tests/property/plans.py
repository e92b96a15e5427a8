"""What a step of the state machine wants to do, before it is known what the thread holds: choices, not values.

A plan says "the current token" or "the parent that fits"; `resolve` looks into the model and makes the real argument. So
Hypothesis can shrink a run without its later steps losing their sense.
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
METADATA = ({"title": "x"}, {"title": None}, {"title": "y", "": "", "gone": None}, {})
NEVER_ISSUED = 1000
UNKNOWN = "never stored"


class Token(StrEnum):
    """Which token a call presents."""

    CURRENT = "current"
    EARLIER = "earlier"
    OF_ANOTHER = "of another thread"
    NOT_YET = "not yet issued"
    ZERO = "zero"


class Parent(StrEnum):
    """Which checkpoint a new one claims to follow."""

    LATEST = "latest"
    OLDER = "older"
    NONE = "none"
    UNKNOWN = "unknown"


class Name(StrEnum):
    """Which id a new checkpoint has."""

    FREE = "free"
    TAKEN = "taken"


@dataclass(frozen=True)
class CheckpointPlan:
    """A checkpoint to append."""

    name: Name
    parent: Parent
    status: CheckpointStatus
    run_id: str
    tenant: str | None
    origin: str | None


@dataclass(frozen=True)
class CommitPlan:
    """A commit. A write of `writes` is True when it names the right checkpoint."""

    token: Token
    checkpoint: CheckpointPlan | None
    writes: tuple[bool, ...]
    events: int
    effects: tuple[tuple[str, Any], ...]
    metadata: dict[str, str | None] | None
    fence: tuple[str, Token] | None
    retract_turn: bool

    def resolve(self, model: Model, t: str) -> Commit:
        """The commit itself, as things stand."""
        new = None if self.checkpoint is None else _checkpoint(self.checkpoint, model, t)
        target = model.thread(t).latest_id if new is None else new.id
        return Commit(
            token=token_of(self.token, model, t),
            checkpoint=new,
            writes=[_write(n, target if right else UNKNOWN) for n, right in enumerate(self.writes)],
            events=[_event(n, target) for n in range(self.events)],
            effects=[EffectDraft(key, value) for key, value in self.effects],
            metadata=self.metadata,
            fence=fence_of(self.fence, model),
            retract_turn=self.retract_turn,
        )


def token_of(choice: Token, model: Model, t: str) -> int:
    """The token a choice stands for; the current one of an unclaimed thread is the last it had."""
    issued = model.issued.get(t, [])
    current = model.thread(t).token
    if choice is Token.ZERO:
        return 0
    if choice is Token.NOT_YET:
        return model.last_token + NEVER_ISSUED
    if choice is Token.OF_ANOTHER:
        return next((model.thread(o).token or 0 for o in THREADS if o != t and model.thread(o).token), 0)
    if choice is Token.EARLIER:
        earlier = [token for token in issued if token != current]
        return earlier[-1] if earlier else 0
    return current if current is not None else (issued[-1] if issued else 0)


def fence_of(choice: tuple[str, Token] | None, model: Model) -> Fence | None:
    """The fence a choice stands for."""
    return None if choice is None else Fence(choice[0], token_of(choice[1], model, choice[0]))


def _checkpoint(plan: CheckpointPlan, model: Model, t: str) -> Checkpoint:
    known = [each.id for each in model.thread(t).history]
    free = [each for each in CHECKPOINT_IDS if each not in known]
    fresh = free[0] if free else f"c{len(known)}"
    parents = {
        Parent.LATEST: model.thread(t).latest_id,
        Parent.OLDER: known[0] if known else UNKNOWN,
        Parent.NONE: None,
        Parent.UNKNOWN: UNKNOWN,
    }
    return Checkpoint(
        id=known[0] if plan.name is Name.TAKEN and known else fresh,
        thread_id=t,
        run_id=plan.run_id,
        status=plan.status,
        snapshot={"superstep": len(known), "text": "ünï\x00code"},
        parent=parents[plan.parent],
        created_at=T0 if plan.origin is None else None,
        tenant=plan.tenant,
        fencing_token=model.thread(t).token,
        origin=None if plan.origin is None else Origin(plan.origin),
    )


def _write(n: int, checkpoint_id: str | None) -> PendingWrite:
    return PendingWrite(checkpoint_id or UNKNOWN, f"task {n}", "node", {"operations": [n]})


def _event(n: int, checkpoint_id: str | None) -> EventDraft:
    return EventDraft("custom", {"n": n}, "run", checkpoint_id, None if n else "task", None, T0)


def _mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([usual] * 3 * len(others) + list(others))


TOKENS = _mostly(Token.CURRENT, Token.EARLIER, Token.OF_ANOTHER, Token.NOT_YET, Token.ZERO)
FENCES = st.none() | st.tuples(st.sampled_from(THREADS), TOKENS)
STATUSES = _mostly(CheckpointStatus.RUNNING, *CheckpointStatus)
CHECKPOINTS = st.builds(
    CheckpointPlan,
    name=_mostly(Name.FREE, Name.TAKEN),
    parent=_mostly(Parent.LATEST, Parent.OLDER, Parent.NONE, Parent.UNKNOWN),
    status=STATUSES,
    run_id=st.sampled_from(HOLDERS),
    tenant=st.sampled_from(TENANTS),
    origin=_mostly(None, *THREADS),
)
COMMITS = st.builds(
    CommitPlan,
    token=TOKENS,
    checkpoint=st.none() | CHECKPOINTS,
    writes=st.lists(_mostly(True, False), max_size=3).map(tuple),
    events=st.integers(0, 3),
    effects=st.lists(st.tuples(st.sampled_from(EFFECT_KEYS), st.sampled_from(EFFECT_VALUES)), max_size=2).map(
        tuple
    ),
    metadata=st.none() | st.sampled_from(METADATA),
    fence=FENCES,
    retract_turn=_mostly(False, True),
)
# What a healthy worker does at every step; the one-statement form of PostgreSQL takes all but the first of a thread.
STEPS = st.builds(
    CommitPlan,
    token=st.just(Token.CURRENT),
    checkpoint=st.none()
    | st.builds(
        CheckpointPlan,
        name=_mostly(Name.FREE, Name.TAKEN),
        parent=_mostly(Parent.LATEST, Parent.OLDER),
        status=st.just(CheckpointStatus.RUNNING) | st.just(CheckpointStatus.COMPLETED),
        run_id=st.sampled_from(HOLDERS),
        tenant=st.sampled_from(TENANTS),
        origin=st.none(),
    ),
    writes=st.lists(_mostly(True, False), max_size=2).map(tuple),
    events=st.integers(0, 3),
    effects=st.just(()),
    metadata=st.none(),
    fence=st.none(),
    retract_turn=st.just(False),
)
