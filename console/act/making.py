"""From a wish to a plan that is stored, or to a preview of one; and what is printed of it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from console.act import plan_text
from console.act.site import window
from console.acting import equivalent
from console.acting.model import UNKNOWN_CODE
from console.acting.pace import said_rate
from console.acting.plan_file import document_of
from console.acting.plans import PlanState, ReconcileWish, Source
from console.filter_words import FilterError
from console.model import GatewayError
from console.read.output import print_document, print_lines, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.act.site import Site
    from console.acting.plans import Bounds, PlanView, Wish
    from console.read.documents import Document


def make(
    site: Site,
    wish: Wish,
    bounds: Bounds,
    reason: str | None,
    *,
    dry: bool,
    as_json: bool,
    more: Document | None = None,
) -> None:
    """Store a plan and print it, or only print what it would hold; `more` goes into the document.

    What would change nothing is looked at and not stored: the command ends with 1.
    """
    looked = site.gateway.preview(wish, site.environment)
    _check_resolvers(site, wish, looked)
    if dry or not looked.items:
        show(site, looked, as_json=as_json, more=more)
        if not dry:
            refuse("there is nothing to change: no plan was stored")
        return
    command = equivalent.planning(site.aim, wish)
    with window(site, _deed(wish), reason, command) as acting, _plain(site):
        view = acting.make_plan(wish, site.environment, bounds)
    show(site, view, as_json=as_json, more=more)


def _check_resolvers(site: Site, wish: Wish, looked: PlanView) -> None:
    """End the command where rows are to be asked about and nothing is named that could answer.

    A resolver that the plan names is taken for one that `execute --resolver` will be given.
    """
    if not isinstance(wish, ReconcileWish) or wish.source is not Source.RESOLVER or wish.resolver is not None:
        return
    from console.acting.names import asked_about

    asked = dict.fromkeys(asked_about(item.id) for item in looked.preview_items)
    missing = [kind for kind in asked if kind not in site.resolvers]
    if missing:
        refuse(
            f"no resolver is configured for {', '.join(missing)}: write [resolvers] {_key(missing[0])} = "
            '"module:function", or name with --resolver the one that execute will be given'
        )


def _key(kind: str) -> str:
    """As TOML writes a key."""
    return f'"{kind}"' if ":" in kind else kind


def show(site: Site, view: PlanView, *, as_json: bool, more: Document | None = None) -> None:
    """A plan, with the command that goes on from it."""
    command = following(site, view)
    if as_json:
        print_document(document_of(view) | {"next_command": command} | (more or {}))
    else:
        print_lines(plan_text.lines(view, command))


def following(site: Site, view: PlanView) -> str | None:
    """The command that comes next; None where none does."""
    if view.id is None:
        return None
    match view.state:
        case PlanState.READY:
            return equivalent.executing(site.aim, view.id, view.phrase, rate=said_rate(site.config))
        case PlanState.AWAITING:
            return equivalent.approving(site.aim, view.id)
        case PlanState.EXECUTED if view.job is not None:
            return equivalent.running(site.aim, view.job)
        case _:
            return None


def filtered(site: Site, screen: str, text: str, tenant: str | None = None) -> tuple[object, ...]:
    """All ids that a filter of a list means in the store (3.2, rows 103 and 104), at most 10,000 of them."""
    from console.filters import quoted
    from console.lists.meant import ids_of

    whole = text if tenant is None else f"{text} tenant:{quoted(tenant)}"
    try:
        ask = ids_of(screen, whole)
    except FilterError as error:
        raise typer.BadParameter(f"--filter: {error}") from error
    return tuple(ask(site.gateway))


@contextmanager
def _plain(site: Site) -> Iterator[None]:
    """A plan that may have been stored does nothing by itself: it is to be looked for, not made again."""
    try:
        yield
    except GatewayError as error:
        if error.code != UNKNOWN_CODE:
            raise
        listed = equivalent.line(site.aim, ("plans",), (), ())
        text = (
            f"UNKNOWN whether the plan was stored: {error}; {listed} shows it, and it does nothing by itself"
        )
        raise GatewayError(text, code=UNKNOWN_CODE, retryable=False) from error


def _deed(wish: Wish) -> str:
    """The audit's word for it."""
    name = type(wish).__name__.removesuffix("Wish").lower()
    return "resolve" if name == "decide" else name
