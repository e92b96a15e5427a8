"""What a run left behind, whatever ran later (checkpoints-operations.md 2.4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, func, select

from engine.arguments import each_of_kind
from engine.checkpoints.records import checkpoint_of
from engine.checkpoints.tables import checkpoint as checkpoints
from engine.database.columns import check_id
from engine.database.constructs import Each
from engine.database.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from engine.checkpoints.model import Checkpoint

NO_RUNS: Final = "[]"

_ASKED = Each(bindparam("runs")).table_valued("value").alias("asked")
_RUN = checkpoints.alias("of_run")
# One probe of the index by run for each id, then one row by its key: no other body is read.
_NEWEST_OF_RUN = (
    select(func.max(_RUN.c.place))
    .where(_RUN.c.thread_id == bindparam("id"), _RUN.c.run_id == _ASKED.c.value)
    .correlate(_ASKED)
    .scalar_subquery()
)
_NEWEST = select(_NEWEST_OF_RUN.label("place")).select_from(_ASKED).subquery("newest")
_LATEST = Statement(
    select(checkpoints).where(
        checkpoints.c.thread_id == bindparam("id"),
        checkpoints.c.place == select(func.max(_NEWEST.c.place)).scalar_subquery(),
    )
)


def asked_runs(run_ids: Iterable[str]) -> str:
    """The ids as the JSON text that the lookup takes, each once; `[]` for none."""
    return json.dumps(sorted({check_id("run_ids", run) for run in each_of_kind("run_ids", run_ids, str)}))


def latest_of_runs(connection: Connection, thread_id: str, runs: str) -> Checkpoint | None:
    """The thread's newest checkpoint, by place, that one of the `asked_runs` committed; None without one."""
    row = _LATEST.one(connection, id=check_id("thread_id", thread_id), runs=runs)
    return None if row is None else checkpoint_of(row)
