"""What one decision knows: the reservation as it was shown, as it stands, and what the store says of the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from console import present
from console.acting import resolution_facts
from console.acting.resolving import NEED, Check, needs
from console.acting.second import second_eyes
from console.money_words import HoldState

if TYPE_CHECKING:
    from console.acting.model import Approved
    from console.acting.plans import Bounds
    from console.acting.resolution_form import Meant
    from console.acting.resolving import Resolution, Resolvable
    from console.money_words import Address
    from console.session import Session


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at the store: how it stands, and what is to be said of what was `meant` when it was asked."""

    found: Resolvable | None
    checks: tuple[Check, ...]
    meant: Meant


def look(session: Session, address: Address, meant: Meant) -> Seen:
    """Ask for both; blocks, GatewayError."""
    found = session.gateway.resolvable(address)
    if found is None:
        return Seen(None, (), meant)
    checks = session.gateway.weigh(address, meant.answer, meant.evidence, meant.corrects)
    return Seen(found, checks, meant)


@dataclass(slots=True)
class Deciding:
    """`shown` is the first answer and stays: under its guard the decision is written. `now` is the last one.

    `weighed` is what the store says of `about`, which may be typed on since. `approved` is another person's yes to the
    plan that led here.
    """

    shown: Resolvable | None = None
    now: Resolvable | None = None
    gone: bool = False
    weighed: tuple[Check, ...] = ()
    approved: Approved | None = None
    about: Meant | None = None

    def take(self, seen: Seen) -> None:
        """Learn what stands now."""
        self.now, self.weighed, self.about = seen.found, seen.checks, seen.meant
        self.gone = seen.found is None
        if self.shown is None:
            self.shown = seen.found

    @property
    def same(self) -> bool:
        """Whether it still is as it was shown: same guard, and open or settled as it was."""
        shown, now = self.shown, self.now
        if shown is None or now is None:
            return False
        settled = {each.story.row.state is HoldState.SETTLED for each in (shown, now)}
        return shown.guard == now.guard and len(settled) == 1

    @property
    def can_take_anew(self) -> bool:
        """Whether another version of it can be decided instead."""
        return not self.same and self.now is not None and self.now.story.row.state is not HoldState.SETTLED

    def take_anew(self) -> None:
        """Decide what stands now, on the operator's word."""
        self.shown = self.now

    def hindrances(self, meant: Meant, bounds: Bounds) -> tuple[str, ...]:
        """What keeps the decision from being sent, whatever the operator types."""
        if self.shown is None or self.gone:
            return ("there is no such reservation",) if self.gone else ("not read yet",)
        eyes = second_eyes(self.shown.story.row, meant.answer, bounds, self.approved)
        late = () if self.same else ("it is not as it was shown any more; see the checks",)
        looked_at = self.about is not None and self.about.grounds == meant.grounds
        waits = () if looked_at else ("what was typed is being looked at by the store",)
        return (*late, *meant.wrong, *(waits or needs(self.weighed)), *needs((eyes,)))

    def checks(self, meant: Meant, bounds: Bounds) -> tuple[Check, ...]:
        """All that is to be read before it is decided."""
        if self.shown is None:
            return (Check(NEED, "not read yet"),)
        now = None if self.now is None else self.now.story
        stands = resolution_facts.standing(now, same=self.same)
        wrong = tuple(Check(NEED, text) for text in meant.wrong)
        asked = tuple(check for check in self.weighed if not (wrong and check.weight == NEED))
        eyes = second_eyes(self.shown.story.row, meant.answer, bounds, self.approved)
        return (Check("ok" if self.same else NEED, stands), *wrong, *asked, eyes)


def told(made: Resolution, deed: str) -> str:
    """What an answer came to, for those who gave it: who was first, when, with what, and what the row is now."""
    from console.acting.decisions import decision_of

    if made.came.value in {"resolved", "deferred"}:
        return f"{made.came.value}: {deed} ({made.operation})"
    if made.first is None:
        return f"{made.came.value}: nothing was changed; {made.now}"
    first = decision_of(made.first)
    seen = "; ".join(" ".join(filter(None, (item.text, item.file))) for item in first.evidence)
    when = present.instant(first.row.at)
    what = " ".join(filter(None, (first.row.deed, first.answer, first.came)))
    return (
        f"overtaken, nothing was changed twice: {first.row.actor} was first at {when}: {what}"
        f"{f', on {seen}' if seen else ''} ; now: {made.now} ({first.row.operation})"
    )
