"""The words in which executors tell what became of an item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engine.clock import from_ns
from engine.desk.jobs.executor import Done
from engine.desk.jobs.model import ItemOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.desk.audit.model import ObjectKind

GONE: Final = "already gone"
SETTLED: Final = "already settled"
CHANGED: Final = "version changed"
TREE_CHANGED: Final = "tree changed: plan again"
GIVEN_UP: Final = "the job was cancelled in the middle of it; plan again for what is left"


@dataclass(frozen=True, slots=True)
class Words:
    """How the executor of one kind of object answers."""

    kind: ObjectKind

    def applied(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Done:
        """It was done: what the store held before, and what it holds instead."""
        return Done(ItemOutcome.APPLIED, self.kind, {"before": before, "after": after})

    def skipped(self, why: str, **more: Any) -> Done:
        """It was not as planned any more, and was left alone."""
        return Done(ItemOutcome.SKIPPED, self.kind, {"why": why, **more})

    def stopped(self, why: str, **more: Any) -> Done:
        """It was left alone, and nothing behind it may be done either."""
        return Done(ItemOutcome.SKIPPED, self.kind, {"why": why, **more}, stops=True)

    def failed(self, why: str, **more: Any) -> Done:
        """It went wrong, and a new plan may do what is left: marked for a retry, as errors are (console.md F10)."""
        return Done(ItemOutcome.FAILED, self.kind, {"why": why, "retryable": True, **more})

    def impossible(self, why: str, **more: Any) -> Done:
        """It went wrong, and would in the same way in every plan like this one."""
        return Done(ItemOutcome.FAILED, self.kind, {"why": why, "retryable": False, **more})


def shown_instant(ns: int) -> str:
    """Stored nanoseconds as people read them: ISO 8601 in UTC."""
    return from_ns(ns).isoformat().replace("+00:00", "Z")
