"""Plans: what a change would touch, frozen before it is done (console.md F1; rulings 54 and 55)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engine.desk.plans.decide import approve_plan, cancel_plan
    from engine.desk.plans.delete import preview_delete
    from engine.desk.plans.made import store_plan
    from engine.desk.plans.model import (
        AnswerSource,
        Item,
        ItemKind,
        Line,
        NotApplicable,
        Plan,
        PlanState,
        Preview,
        Reach,
        Threshold,
        Totals,
    )
    from engine.desk.plans.read import checked_for_execution, item_page, items_of, plan_detail, plans
    from engine.desk.plans.reconcile import preview_reconcile
    from engine.desk.plans.reconcile_asked import ReconcileAsked
    from engine.desk.plans.release import preview_release
    from engine.desk.plans.resolve import preview_resolve
    from engine.desk.plans.sweep import preview_sweep
    from engine.desk.plans.sweep_asked import SweepAsked, SweepPart

__all__ = [
    "AnswerSource",
    "Item",
    "ItemKind",
    "Line",
    "NotApplicable",
    "Plan",
    "PlanState",
    "Preview",
    "Reach",
    "ReconcileAsked",
    "SweepAsked",
    "SweepPart",
    "Threshold",
    "Totals",
    "approve_plan",
    "cancel_plan",
    "checked_for_execution",
    "item_page",
    "items_of",
    "plan_detail",
    "plans",
    "preview_delete",
    "preview_reconcile",
    "preview_release",
    "preview_resolve",
    "preview_sweep",
    "store_plan",
]

_HOMES: Final = {
    "engine.desk.plans.decide": (
        "approve_plan",
        "cancel_plan",
    ),
    "engine.desk.plans.delete": ("preview_delete",),
    "engine.desk.plans.made": ("store_plan",),
    "engine.desk.plans.model": (
        "AnswerSource",
        "Item",
        "ItemKind",
        "Line",
        "NotApplicable",
        "Plan",
        "PlanState",
        "Preview",
        "Reach",
        "Threshold",
        "Totals",
    ),
    "engine.desk.plans.read": (
        "checked_for_execution",
        "item_page",
        "items_of",
        "plan_detail",
        "plans",
    ),
    "engine.desk.plans.reconcile": ("preview_reconcile",),
    "engine.desk.plans.reconcile_asked": ("ReconcileAsked",),
    "engine.desk.plans.release": ("preview_release",),
    "engine.desk.plans.resolve": ("preview_resolve",),
    "engine.desk.plans.sweep": ("preview_sweep",),
    "engine.desk.plans.sweep_asked": (
        "SweepAsked",
        "SweepPart",
    ),
}
_HOME: Final = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Each name is loaded when it is first asked for: who needs one module of these starts without the others.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
