"""Who brought a job into its state, and when: said to whoever asks for the same again (report 29)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.clock import from_ns
from engine.database.statement import Statement
from engine.desk.audit.model import Deed, ObjectKind, Phase
from engine.desk.jobs.model import Job, JobState
from engine.desk.tables import audit

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LOOKED_AT: Final = 50
"""Entries of a job's own, newest first, among which the one is looked for."""
_RESULTS: Final = Statement(
    select(audit.c.actor, audit.c.at, audit.c.body)
    .where(
        audit.c.object_kind == ObjectKind.JOB.value,
        audit.c.object_id == bindparam("wanted"),
        audit.c.phase == Phase.RESULT.value,
    )
    .order_by(audit.c.seq.desc())
    .limit(_LOOKED_AT)
)
_MADE_BY: Final = {
    JobState.PAUSED: (Deed.PAUSE,),
    JobState.CANCELLED: (Deed.CANCEL,),
    JobState.READY: (Deed.RESUME,),
}


def last_word(connection: Connection, found: Job) -> str:
    """`job J is already paused, by A at T`; without the names where the audit does not hold them."""
    deeds = _MADE_BY.get(found.state, (found.deed,))
    for row in _RESULTS.all(connection, wanted=found.job_id):
        said: dict[str, Any] = json.loads(row.body)
        if said["deed"] in deeds and "refused" not in said:
            when = f"{from_ns(row.at):%Y-%m-%d %H:%M:%S}Z"
            return f"job {found.job_id!r} is already {found.state.value}, by {row.actor} at {when}"
    return f"job {found.job_id!r} is {found.state.value}"
