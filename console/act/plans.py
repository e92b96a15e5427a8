"""`holdwatch plans`, and `plan show`, `approve` and `cancel`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from console.act import documents, options, plan_text
from console.act.making import show as show_plan
from console.act.options import PlanId, Reason  # noqa: TC001 - typer reads it at run time
from console.act.sending import order, sent
from console.act.site import site, window
from console.acting import equivalent
from console.acting.plan_file import document_of
from console.command_line import ConfigFile, Store  # noqa: TC001 - typer reads it at run time
from console.read.documents import document
from console.read.options import After, AsJson, Limit  # noqa: TC001 - typer reads it at run time
from console.read.output import refuse, show_page

if TYPE_CHECKING:
    from console.act.site import Site
    from console.acting.plans import PlanView


def plans(
    store: Store, limit: Limit = 50, after: After = None, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """List stored plans, newest first."""
    with site(store, config) as found:
        page = documents.page(found.gateway.plans(after, limit), document_of)
        show_page(plan_text.PLANS, page, as_json)


def show(
    store: Store,
    plan: PlanId,
    items: Annotated[
        bool, typer.Option("--items", help="Its items instead, in the order of their turn.")
    ] = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show a stored plan as it stands now, or a page of its items."""
    with site(store, config) as found:
        view = known(found, plan)
        if not items:
            show_plan(found, view, as_json=as_json)
            return
        page = documents.page(found.gateway.plan_items(plan, after, limit), document)
        show_page(plan_text.ITEMS, page, as_json)


def approve(
    store: Store, plan: PlanId, reason: Reason, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Approve a plan that another person made and that waits for it."""
    why = options.reason_of(reason)
    with site(store, config) as found:
        command = equivalent.approving(found.aim, plan, why)
        with window(found, "approve", why, command) as acting:
            given = order("approve", why, command)
            view = sent(found, given, lambda: acting.approve_plan(plan, given), lambda: known(found, plan))
        show_plan(found, view, as_json=as_json)


def cancel(
    store: Store, plan: PlanId, reason: Reason, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Give a plan up: it can no longer be executed."""
    why = options.reason_of(reason)
    with site(store, config) as found:
        command = equivalent.giving_up(found.aim, plan, why)
        with window(found, "cancel plan", why, command) as acting:
            given = order("cancel plan", why, command)
            view = sent(found, given, lambda: acting.cancel_plan(plan, given), lambda: known(found, plan))
        show_plan(found, view, as_json=as_json)


def known(found: Site, plan: str) -> PlanView:
    """A stored plan; the command ends with 1 where there is none."""
    view = found.gateway.plan(plan)
    if view is None:
        refuse(f"there is no plan {plan!r}; {equivalent.line(found.aim, ('plans',), (), ())} lists them")
    return view
