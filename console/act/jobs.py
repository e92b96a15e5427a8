"""`holdwatch jobs run`, `pause`, `resume` and `cancel`; `holdwatch jobs STORE` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from console.act import options
from console.act.carrying import carry, code_of
from console.act.options import JobId, MaybeReason, Reason, ResolverOption  # noqa: TC001 - typer reads it at run time
from console.act.reporting import report
from console.act.sending import order, sent
from console.act.site import site, window
from console.acting import equivalent, job_moves
from console.command_line import ConfigFile, Exit, Store
from console.present import own
from console.read.options import AsJson  # noqa: TC001 - typer reads it at run time
from console.read.output import print_document, print_lines, refuse

if TYPE_CHECKING:
    from pathlib import Path

    from console.act.site import Site
    from console.acting.job_moves import Move
    from console.acting.jobs import JobRow

NOTHING_WAITS: Final = "no job waits for a runner"


def run(
    store: Store,
    job: Annotated[
        str | None,
        typer.Argument(metavar="JOB", help="Its id; else the oldest that can be run here."),
    ] = None,
    resolver: ResolverOption = None,
    reason: MaybeReason = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Carry a job out: begin it, or go on with one that was handed over or whose runner died; 1 for one that is not
    there.
    """
    asked = options.resolvers(resolver)
    why = () if reason is None else ("--reason", options.reason_of(reason))
    with site(store, config) as found:
        named = () if job is None else (_row(found, job).id,)
        with window(found, "", reason, equivalent.line(found.aim, ("jobs", "run"), named, why)) as acting:
            row, handed = carry(found, acting, job, found.resolvers | asked)
        if row is not None:
            report(found, row, code_of(row, handed=handed), as_json=as_json)
    if as_json:
        print_document({"job": None, "next_command": None})
    else:
        print_lines([own(NOTHING_WAITS)])


def pause(
    store: Store, job: JobId, reason: Reason, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Let nobody go on with a job until it is resumed; its runner finishes the item at hand."""
    _moved(job_moves.PAUSE, store, job, reason, as_json, config)


def resume(
    store: Store, job: JobId, reason: Reason, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Let a paused job be taken again."""
    _moved(job_moves.RESUME, store, job, reason, as_json, config)


def cancel(
    store: Store, job: JobId, reason: Reason, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """End a job where it stands: what was applied stays, the rest is left alone."""
    _moved(job_moves.CANCEL, store, job, reason, as_json, config)


def _moved(move: Move, store: str, job: str, reason: str, as_json: bool, config: Path | None) -> None:
    why = options.reason_of(reason)
    with site(store, config) as found:
        command = move.line(found.aim, job, why)
        with window(found, move.deed, why, command) as acting:
            given = order(move.deed, why, command)
            row = sent(found, given, lambda: move.call(acting, job, given), lambda: _row(found, job))
        report(found, row, Exit.OK, as_json=as_json, more={"operation": given.operation})


def _row(found: Site, job: str) -> JobRow:
    view = found.gateway.job(job)
    if view is None:
        refuse(f"there is no job {job!r}; {equivalent.line(found.aim, ('jobs',), (), ())} lists them")
    return view.row
