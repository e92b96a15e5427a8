"""What has to be asked before a plan is made: who decides in a pass, which policy a sweep goes by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.acting import targets
from console.acting.deeds import Deed
from console.acting.offers import Entry
from console.acting.planning import Want
from console.acting.plans import ReconcileWish, Source
from console.config.acting import AfterLease
from console.money_words import Kind
from console.present import several
from console.screens.menu import MenuScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from console.acting.plans import SweepWish
    from console.lists.meant import Asked
    from console.money_words import Address
    from console.reading import Gateway
    from console.screens.page import Page
    from console.session import Session


@dataclass(frozen=True, slots=True)
class Rows:
    """These reservations."""

    addresses: tuple[Address, ...]

    @property
    def said(self) -> str:
        """Which, shortly."""
        return self.addresses[0].id if len(self.addresses) == 1 else f"{len(self.addresses):,} marked"

    @property
    def counted(self) -> str:
        """How many."""
        return several(len(self.addresses), "row")


@dataclass(frozen=True, slots=True)
class Meant:
    """All that a filter means."""

    asked: Asked
    said: str
    rows: str = ""

    @property
    def counted(self) -> str:
        """How many, where that is known."""
        return f"all {self.rows} of {self.said}" if self.rows else f"all of {self.said}"


@dataclass(frozen=True, slots=True)
class Due:
    """All that is due, of days and of every meter."""

    said: str = "all that is due"

    @property
    def counted(self) -> str:
        """It is counted by the plan."""
        return self.said


About = Rows | Meant | Due
_SETTLED: Final[dict[str, tuple[Source, bool | None]]] = {
    "a": (Source.ASK, None),
    "s": (Source.RESOLVER, None),
    "d": (Source.DEFAULT, None),
    "r": (Source.DEFAULT, False),
    "c": (Source.DEFAULT, True),
}
"""What each letter says: who decides, and whether a meter's expired units count as consumed."""


def begin(page: Page, want: Want) -> None:
    """Open the screen of the plan, which makes it."""
    from console.screens.plan import PlanScreen

    page.app.push_screen(PlanScreen(page.session, want))


def reconcile(page: Page, about: About, origin: str, spent: Callable[[], object] = lambda: None) -> None:
    """Ask who decides, then plan a pass; `spent` is called once it has become a job."""
    session = page.session
    entries = sources(session, meters=not isinstance(about, Rows) or targets.has_meters(about.addresses))

    def chosen(letter: str | None) -> None:
        if letter is not None:
            wish = _reconciling(session, about, *_SETTLED[letter])
            begin(page, Want(Deed.RECONCILE, wish, origin, about.said, spent))

    page.app.push_screen(MenuScreen(f"reconcile {about.counted}: who decides", entries), chosen)


def sources(session: Session, *, meters: bool) -> tuple[Entry, ...]:
    """Who may decide, mildest first; `meters`: the fate of a meter's units has to be said as well."""
    named = "; ".join(_named(session))
    none = "" if named else "the configuration names none: [resolvers] day = 'module:function'"
    asks = Entry("a", "ask", "you are led row by row through the form, on evidence")
    resolver = Entry("s", "resolver", named, none)
    if not meters:
        return asks, resolver, Entry("d", "default", "what is unfenced and over; fenced rows stay")
    configured = session.contexts.config.after_lease
    usual = None if configured is None else configured.value
    released = _default("go back", usual=usual is AfterLease.RELEASE)
    consumed = _default("count as spent", usual=usual is AfterLease.CONSUME)
    return (
        asks,
        resolver,
        Entry("r", "default, units released", released),
        Entry("c", "default, units consumed", consumed),
    )


def _named(session: Session) -> Iterator[str]:
    """Each resolver once, with what it answers about."""
    for path in dict.fromkeys(session.resolvers.values()):
        kinds = [kind for kind, named in session.resolvers.items() if named == path]
        yield f"{path} is asked about {', '.join(kinds)}"


def _default(fate: str, *, usual: bool) -> str:
    configured = ", as configured" if usual else ""
    return f"nobody is asked: a meter's expired units {fate}{configured}; fenced rows stay"


def _reconciling(
    session: Session, about: About, source: Source, consume: bool | None
) -> Callable[[Gateway], ReconcileWish]:
    resolver = ", ".join(dict.fromkeys(session.resolvers.values())) if source is Source.RESOLVER else None

    def wish(gateway: Gateway) -> ReconcileWish:
        if isinstance(about, Due):
            return ReconcileWish(
                source, frozenset({Kind.DAY, Kind.METER}), resolver=resolver, consume=consume
            )
        found = about.addresses if isinstance(about, Rows) else _addresses(about.asked, gateway)
        rows = tuple(each for each in found if each.kind is not Kind.TENTATIVE)
        if not rows:
            raise targets.NotAboutError(
                "reconcile: nothing here but tentative rows, which their writer decides"
            )
        return ReconcileWish(source, addresses=rows, resolver=resolver, consume=consume)

    return wish


def _addresses(asked: Asked, gateway: Gateway) -> tuple[Address, ...]:
    return tuple(each for each in asked(gateway) if not isinstance(each, str))


def sweep(page: Page, origin: str) -> None:
    """Ask for the policy, then plan a sweep by it."""
    from console.screens.sweep import SweepScreen

    def chosen(wish: SweepWish | None) -> None:
        if wish is not None:
            begin(page, Want(Deed.SWEEP, lambda _gateway: wish, origin, "Retention"))

    page.app.push_screen(SweepScreen(), chosen)
