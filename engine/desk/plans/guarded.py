"""What a sweep's guard protects at the time of the preview: told beforehand, decided when it is done (ruling 54).

A guard answers a question and changes nothing (checkpoints-operations.md 2.6); it is other people's code, so it is
asked outside any transaction, and whatever it raises is a warning here: the plan stays what was found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.desk.guard_spec import load_guard
from engine.desk.plans.budget import Budget
from engine.desk.plans.draft import Said
from engine.desk.plans.model import ItemKind
from engine.errors import PlanRefused, ValidationError
from engine.spend.answers import error_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.checkpoints.retention import SweepGuard
    from engine.desk.plans.model import Item, Preview

_ASKED_ABOUT: Final = frozenset({ItemKind.RETENTION, ItemKind.TOMBSTONE})
_NAMED: Final = 3
"""Runs of a thread that are named."""


def told_by_guard(preview: Preview, name: str, budget: Budget | None = None) -> Preview:
    """The preview with a warning for every thread that the guard `module:function` speaks of now."""
    items = [item for item in preview.items if item.kind in _ASKED_ABOUT]
    if not items:
        return preview
    said = Said()
    try:
        _ask(load_guard(name), items, said, Budget() if budget is None else budget)
    except PlanRefused as late:
        said.add(f"the guard was not asked about all of it: {late.message.partition(';')[0]}")
    except ValidationError as error:
        said.add(f"the guard cannot be asked here: {error.explain()}")
    except Exception as error:  # noqa: BLE001 - somebody else's code: without its word nothing goes
        said.add(
            f"the guard raised {type(error).__name__}: {error_text(error)}; while it does, nothing goes"[:500]
        )
    warnings = (*preview.totals.warnings, *said.all("threads that the guard protects now"))
    return replace(preview, totals=replace(preview.totals, warnings=warnings))


def _ask(guard: SweepGuard, items: Sequence[Item], said: Said, budget: Budget) -> None:
    for batch in budget.batches(items):
        answer = guard([item.object_id for item in batch])
        for item in batch:
            if item.object_id in answer:
                _tell(item, sorted(map(str, answer[item.object_id])), said)


def _tell(item: Item, runs: Sequence[str], said: Said) -> None:
    """A thread that is named keeps its tombstone; one that lives keeps the newest checkpoint of each run."""
    if item.kind is ItemKind.TOMBSTONE:
        said.add(f"{item.object_id}: the guard protects it now: its tombstone would stay")
    elif runs:
        more = f" and {len(runs) - _NAMED} more" if len(runs) > _NAMED else ""
        named = f"{', '.join(runs[:_NAMED])}{more}"
        said.add(f"{item.object_id}: the guard protects it now: the newest checkpoint of {named} would stay")
