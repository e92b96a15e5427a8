"""Making a plan, or a preview while changes are off; what it is about is asked of the store where a filter says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from console.acting import equivalent, permission
from console.acting.deeds import Deed
from console.acting.names import asked_about
from console.acting.pace import said_rate
from console.acting.plans import PlanState, Source
from console.acting.records import AuditQuery

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.acting.plans import PlanItem, PlanView, Wish
    from console.acting.records import AuditRow
    from console.claims_model import ClaimStory
    from console.reading import Gateway
    from console.session import Session

TREE: Final = 50
"""Items that are shown with the plan; a list shows all of them."""


@dataclass(frozen=True, slots=True)
class Want:
    """What the operator wants planned. `wish` may ask the store what a filter means: blocking, GatewayError; `origin`
    is where he began, as an address; `way` says it shortly; `spent` is called once the plan has become a job.
    """

    deed: Deed
    wish: Callable[[Gateway], Wish]
    origin: str
    way: str
    spent: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True)
class Made:
    """A plan or preview, the first of its items, and the command that does the same; `claim` is the one that a release
    of a single one would break, `done` the entry of who executed it, `unanswered` what no configured resolver answers
    about, as far as these items tell; `rate` how many items a second its job does at most, 0 for no limit.
    """

    view: PlanView
    items: tuple[PlanItem, ...]
    command: str
    claim: ClaimStory | None = None
    done: AuditRow | None = None
    unanswered: tuple[str, ...] = ()
    rate: int = 0


def environment_of(session: Session) -> str:
    """The word that phrases name: the confirmed context's, else the database's, a file's without its end."""
    return permission.spoken(session.environment, session.identity, session.gateway.label.name)


async def make(session: Session, want: Want) -> Made:
    """Freeze it where changes are on, else look only; GatewayError."""
    acting, gateway, environment = session.acting, session.gateway, environment_of(session)
    wish = await session.calls.run(lambda: want.wish(gateway))
    if session.writable and acting is not None:
        view = await session.acts.run(lambda: acting.make_plan(wish, environment, session.bounds))
        return await session.calls.run(lambda: known(session, view))
    return await session.calls.run(lambda: _looked_at(session, wish, environment))


def _looked_at(session: Session, wish: Wish, environment: str) -> Made:
    gateway = session.gateway
    view = gateway.preview(wish, environment)
    items = view.preview_items[:TREE]
    command = equivalent.planning(equivalent.aim_of(session), wish)
    claim, unanswered = _claim(gateway, view, items), _unanswered(session, view, items)
    return Made(view, items, command, claim, None, unanswered, said_rate(session.contexts.config) or 0)


def known(session: Session, view: PlanView) -> Made:
    """A stored plan with the first of its items, and who executed it; blocks, GatewayError."""
    gateway = session.gateway
    items = gateway.plan_items(str(view.id), None, TREE).rows
    rate = said_rate(session.contexts.config)
    command = equivalent.executing(equivalent.aim_of(session), str(view.id), view.phrase, rate=rate)
    claim, done = _claim(gateway, view, items), done_by(gateway, view)
    return Made(view, items, command, claim, done, _unanswered(session, view, items), rate or 0)


def later(session: Session, made: Made, view: PlanView) -> Made:
    """The same plan as it stands later: its items are frozen and not read again; blocks, GatewayError."""
    gateway = session.gateway
    done = made.done or done_by(gateway, view)
    return replace(made, view=view, claim=_claim(gateway, view, made.items), done=done)


def _claim(gateway: Gateway, view: PlanView, items: tuple[PlanItem, ...]) -> ClaimStory | None:
    """Whose lock a release breaks (console.md 3.1, row 39)."""
    return gateway.claim(items[0].id) if view.deed is Deed.RELEASE and view.items == len(items) == 1 else None


def _unanswered(session: Session, view: PlanView, items: tuple[PlanItem, ...]) -> tuple[str, ...]:
    """Whom a pass would ask in vain: no job that runs here finds a resolver for these."""
    if view.params.get("source") != Source.RESOLVER:
        return ()
    asked = dict.fromkeys(asked_about(item.id) for item in items)
    return tuple(kind for kind in asked if kind and kind not in session.resolvers)


def done_by(gateway: Gateway, view: PlanView) -> AuditRow | None:
    """The entry of the plan's execution; blocks, GatewayError."""
    if view.state is not PlanState.EXECUTED:
        return None
    entries = gateway.audit(AuditQuery(object_kind="plan", object_id=view.id), None, TREE).rows
    return next((row for row in entries if row.deed == view.deed.value and row.phase == "result"), None)
