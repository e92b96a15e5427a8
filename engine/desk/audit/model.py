"""Entries of the audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from engine.database.columns import MAX_ID_BYTES, check_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Phase(StrEnum):
    """INTENT is committed by itself before a change, RESULT in the same transaction as the change."""

    INTENT = "intent"
    RESULT = "result"


class Deed(StrEnum):
    """What was done; the word that plans, jobs, operations and audit entries share (console.md 3.1, row 35)."""

    DELETE = "delete"
    SWEEP = "sweep"
    RECONCILE = "reconcile"
    RELEASE = "release"
    RESOLVE = "resolve"
    APPROVE = "approve"
    CANCEL_PLAN = "cancel plan"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    CLOSE = "close intent"
    WINDOW = "read-write window"
    CUSTOM = "custom command"


class ObjectKind(StrEnum):
    """What it was done to. A reservation's id is made by `object_ids.reservation_name`."""

    THREAD = "thread"
    CLAIM = "claim"
    RESERVATION = "reservation"
    TABLE = "table"
    METER = "meter"
    PLAN = "plan"
    JOB = "job"
    OPERATION = "operation"
    STORE = "store"


MOST_NAME: Final = MAX_ID_BYTES + 128
"""Bytes of an object's name: an id, and before it `day:`, or `meter:` and the prefix of one."""


def check_object_id(object_id: str) -> str:
    """The name itself; ValidationError as of `check_id`."""
    return check_id("object_id", object_id, MOST_NAME)


@dataclass(frozen=True, slots=True)
class Told:
    """What an entry says besides who and when; `facts` is a JSON object: before, after, evidence, plan hash."""

    deed: Deed
    object_kind: ObjectKind
    object_id: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One stored entry. `body` is its JSON object; `hash` covers every other field and the hash before it."""

    seq: int
    operation_id: str
    phase: Phase
    at: datetime
    actor: str
    route: str
    object_kind: str
    object_id: str
    body: Mapping[str, Any]
    hash: str
    prev_hash: str


@dataclass(frozen=True, slots=True)
class Verified:
    """How far the chain holds: `entries` were read; `broken_at` is the first that does not fit, `problem` why."""

    entries: int
    head: str
    broken_at: int | None = None
    problem: str | None = None
