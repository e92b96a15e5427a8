"""A job as one operation: its intent stands from its making to its end, its result tells what became of it all."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.database.statement import Statement
from engine.desk import operations
from engine.desk.actor import Actor, Mandate, Route
from engine.desk.audit.model import ObjectKind, Phase, Told
from engine.desk.jobs.rows import job_known
from engine.desk.plans.read import hash_stored
from engine.desk.tables import audit
from engine.errors import StoreFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from engine.desk.jobs.model import Job

_INTENT: Final = Statement(
    select(audit.c.body).where(audit.c.operation_id == bindparam("op"), audit.c.phase == Phase.INTENT.value)
)


def mandate_of(connection: Connection, job_id: str) -> Mandate:
    """On whose word a job runs: who executed its plan, and why. The operation is the job's id."""
    row: Any = _INTENT.one(connection, op=job_id)
    if row is None:
        raise StoreFailure("job", f"the audit holds no intent of job {job_id!r}; verify the audit")
    said = json.loads(row.body)
    return Mandate(Actor.of(said["actor"]), said["reason"], Route.JOB, said["command"], job_id)


def is_sealed(connection: Connection, taken: Job) -> bool:
    """Whether the plan is stored as it was confirmed: its seal, its number of items and its id stand in the audit."""
    row: Any = _INTENT.one(connection, op=taken.job_id)
    if row is None:
        return True  # `mandate_of` tells that the audit was changed
    said = json.loads(row.body)
    stored = (hash_stored(connection, taken.plan_id), taken.plan_id, taken.total)
    return stored == (said["hash"], said["plan"], said["items"])


def of_item(mandate: Mandate, n: int) -> Mandate:
    """The same word for one item; the id can be told without asking the store."""
    return replace(mandate, operation_id=item_operation(mandate.operation_id, n))


def item_operation(job_id: str, n: int) -> str:
    """The operation id of a job's item."""
    return f"{job_id}:{n}"


def told_of(found: Job, facts: Mapping[str, Any]) -> Told:
    """What the audit says of a job as a whole."""
    return Told(found.deed, ObjectKind.JOB, found.job_id, {"plan": found.plan_id, **facts})


def conclude_whole(connection: Connection, job_id: str, why: str | None = None) -> None:
    """The result of the job's own operation, from its row as this transaction leaves it; `why` it was stopped."""
    found = job_known(connection, job_id)
    counts: dict[str, Any] = {
        "state": found.state.value,
        "total": found.total,
        "applied": found.applied,
        "skipped": found.skipped,
        "failed": found.failed,
    }
    if why is not None:
        counts["why"] = why
    operations.conclude(connection, mandate_of(connection, job_id), told_of(found, counts), counts)
