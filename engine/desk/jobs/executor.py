"""What a kind of plan does with one item; the runner does the rest: lease, rate, results, audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from engine.desk.audit.model import ObjectKind
    from engine.desk.jobs.model import ItemOutcome
    from engine.desk.plans.model import Item


@dataclass(frozen=True, slots=True)
class Done:
    """What became of an item. `detail`: `why` where it was skipped or failed, else `before`, `after`.

    `stops`: the job cannot go on, for the store holds what the plan did not; the reason is the detail's `why`.
    """

    outcome: ItemOutcome
    object_kind: ObjectKind
    detail: Mapping[str, Any] = field(default_factory=dict)
    stops: bool = False


class Between(Protocol):
    """What an executor calls between two transactions of one item."""

    def __call__(self, rows: int = 0, meanwhile: Callable[[], object] = lambda: None) -> bool:
        """Renew the job's lease. `rows` that the last transaction took away count against the job's rate.

        `meanwhile` is called as often as the lease is renewed while the job rests: for what else has a lease.

        With `rows`, True once the job was cancelled: the item should say how far it came. JobRefused, to be let
        through: `lease.LOST` once the job is another's, and with `rows` `lease.HALTED` once it was paused or is to
        be handed over: the item is begun anew later.
        """
        ...


class Executor(Protocol):
    """Carries out the items of one job, in their order, from one thread."""

    def prepare(self, item: Item, still_ours: Between) -> Done | None:  # noqa: ARG002 - for who needs it
        """Whatever needs transactions of its own; a `Done` where there is nothing left to finish.

        It must be safe to do again: a runner that died after it starts the item anew. `still_ours` is to be called
        between two transactions. Most need nothing before.
        """
        return None

    def finish(self, connection: Connection, item: Item) -> Done:
        """The change itself, in the transaction that also stores the item's result: under its guard, or skipped."""
        ...

    def close(self) -> None:
        """Give back what is held between items (claims of a tree); also after an error. Most hold nothing."""
        return
