"""`holdwatch execute`: a plan becomes a job, and the job is run here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from console.act import asking, options, plan_text
from console.act.carrying import carry, code_of
from console.act.options import MaybeReason, PlanId, ResolverOption  # noqa: TC001 - typer reads it at run time
from console.act.plans import known
from console.act.reporting import report
from console.act.sending import order, sent
from console.act.site import site, window
from console.acting import equivalent
from console.acting.pace import said_rate
from console.acting.plans import PlanState
from console.command_line import ConfigFile, Exit, Store
from console.config.acting import MOST_RATE
from console.read import table
from console.read.options import AsJson  # noqa: TC001 - typer reads it at run time
from console.read.output import refuse

if TYPE_CHECKING:
    from console.act.site import Site
    from console.acting.jobs import JobRow
    from console.acting.plans import PlanView


def execute(
    store: Store,
    plan: PlanId,
    reason: MaybeReason = None,
    confirm: Annotated[
        str | None,
        typer.Option(metavar="PHRASE", help="The plan's phrase; on a terminal it can be typed instead."),
    ] = None,
    rate: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MOST_RATE,
            metavar="N",
            help="Items a second at most, 0 for no limit; else what [jobs] of the configuration says.",
        ),
    ] = None,
    no_run: Annotated[bool, typer.Option("--no-run", help="Leave the job to another runner.")] = False,
    resolver: ResolverOption = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Execute a plan that was stored: exactly its items, each only while it is as it was planned."""
    asked = options.resolvers(resolver)
    if reason is not None:
        options.reason_of(reason)
    with site(store, config) as found:
        view = known(found, plan)
        _check(found, view)
        asking.check_given(view.phrase, as_json=as_json, reason=reason, confirm=confirm)
        rate = said_rate(found.config) if rate is None else rate
        phrase = asking.phrase(confirm, view.phrase, lambda: plan_text.lines(view, None, rate or 0))
        why = asking.reason(reason)
        command = equivalent.executing(found.aim, plan, phrase, why, rate)
        with window(found, view.deed.value, why, command) as acting:
            given = order(view.deed.value, why, command)
            job = sent(
                found,
                given,
                lambda: acting.execute(plan, given, phrase, rate or 0),
                lambda: known(found, plan).job,
            )
            told = {"operation": given.operation, "plan": plan}
            if no_run:
                report(found, _row(found, job), Exit.OK, as_json=as_json, more=told)
            row, handed = carry(found, acting, job, found.resolvers | asked)
        row = _row(found, job) if row is None else row
        report(found, row, code_of(row, handed=handed), as_json=as_json, more=told)


def _check(found: Site, view: PlanView) -> None:
    """A plan that is over is refused before anybody is asked to confirm it; the store checks it again."""
    if view.state is PlanState.EXECUTED:
        refuse(_done(found, view))
    if view.state is PlanState.AWAITING:
        refuse(f"it waits for another person: {equivalent.approving(found.aim, str(view.id))}")
    if view.state is PlanState.BLOCKED:
        refuse(f"blocked: {view.blockers[0] if view.blockers else 'it has no item that could be changed'}")
    if view.state is not PlanState.READY:
        refuse(f"plan {view.id} is {view.state.value}; plan again")


def _done(found: Site, view: PlanView) -> str:
    """By which job, on whose word and when (console.md 3.1, row 29)."""
    first = next(iter(found.gateway.audit_of(str(view.job))), None)
    by = "" if first is None else f", by {first.actor} at {table.at(first.at)}"
    shown = equivalent.line(found.aim, ("job",), (str(view.job),), ())
    return f"plan {view.id} was executed already as job {view.job}{by}; {shown} shows it"


def _row(found: Site, job: str) -> JobRow:
    view = found.gateway.job(job)
    if view is None:
        refuse(f"there is no job {job!r}")
    return view.row
