"""A planned decision by hand: its answer stands in the plan, and is written under the guard that was shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.desk.jobs.executor import Executor
from engine.desk.jobs.executors.settling import lock_shown
from engine.desk.resolve.kept import answer_of
from engine.desk.resolve.resolve import write_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from engine.desk.jobs.executor import Done
    from engine.desk.plans.model import Item


class DecidedExecutor(Executor):
    """One reservation, one answer; `params` are the plan's."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._answer = answer_of(params["answer"])
        self._grounds = {name: params[name] for name in ("evidence", "corrects") if name in params}

    def finish(self, connection: Connection, item: Item) -> Done:
        """See `Executor`; the audit keeps the evidence beside what was done."""
        done = write_answer(connection, lock_shown(connection, item), self._answer)
        return replace(done, detail={**done.detail, **self._grounds})
