"""`holdwatch resolve`: what became of one reservation, decided by hand and with evidence (console.md F5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from console import addresses
from console.act import asking, options, resolve_text
from console.act.evidence import evidence_of
from console.act.making import make
from console.act.options import MaybeReason  # noqa: TC001 - typer reads it at run time
from console.act.sending import order, sent
from console.act.site import site, window
from console.acting import equivalent, permission
from console.acting.amounts import part_of
from console.acting.effect import most_of, phrase_of
from console.acting.observed import next_check
from console.acting.plans import DecideWish
from console.acting.resolving import Came, Consumed, Deferred, Evidence, Released, needs
from console.command_line import ConfigFile, Exit, Store
from console.money_words import Kind
from console.read.options import AsJson  # noqa: TC001 - typer reads it at run time
from console.read.output import print_document, print_lines, refuse

if TYPE_CHECKING:
    from datetime import datetime

    from console.act.site import Site
    from console.acting.model import Order
    from console.acting.resolving import Answer, Check, Resolution, Resolvable
    from console.money_model import ReservationRow
    from console.money_words import Address
    from console.read.documents import Document


@dataclass(frozen=True, slots=True)
class _Asked:
    """The answer as the options give it, before the reservation is known."""

    consumed: bool
    amount: str | None
    released: bool
    until: str | None
    note: str | None
    evidence: tuple[str, ...]
    corrects: str | None = None

    def __post_init__(self) -> None:
        if self.consumed + self.released + (self.until is not None) != 1:
            raise typer.BadParameter("give one of --consumed, --released, --defer-until")
        if self.amount is not None and not self.consumed:
            raise typer.BadParameter("--amount belongs to --consumed")
        if (self.note is not None) != (self.until is not None) or (
            self.note is not None and not self.note.strip()
        ):
            raise typer.BadParameter("--defer-until and --note belong together: say what is being waited for")
        if not self.evidence and self.until is None:
            raise typer.BadParameter("--evidence must be given: what was seen outside, and where")
        if self.corrects is not None and not self.corrects.strip():
            raise typer.BadParameter("--corrects must name an operation")

    def answer(self, row: ReservationRow, now: datetime) -> Answer:
        """For one reservation, at the store's time."""
        if self.until is not None:
            until = self.until
            return Deferred(
                options.value("--defer-until", lambda: next_check(until, now)), str(self.note).strip()
            )
        if self.released:
            return Released()
        if self.amount is None:
            return Consumed()
        if row.address.kind is Kind.METER:
            raise typer.BadParameter("--amount: a meter settles whole; leave it out")
        return Consumed(options.value("--amount", lambda: part_of(str(self.amount), most_of(row))))


def resolve(
    store: Store,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="day or meter.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A meter's prefix, or - for the day store.")
    ],
    reservation_id: Annotated[str, typer.Argument(metavar="ID", help="Its id; a meter's operation.")],
    consumed: Annotated[bool, typer.Option("--consumed", help="It was spent.")] = False,
    amount: Annotated[
        str | None,
        typer.Option(metavar="USD", help="So much of a day reservation was; the rest is released."),
    ] = None,
    released: Annotated[bool, typer.Option("--released", help="It was not spent.")] = False,
    defer_until: Annotated[
        str | None, typer.Option(metavar="TIME|SPAN", help="Nobody knows yet: when to look again.")
    ] = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="What is being waited for.")] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELDS",
            help="kind=...,ref=...,observed=...,shows=...[,covers=...][,file=PATH]; may be given again.",
        ),
    ] = None,
    corrects: Annotated[
        str | None,
        typer.Option(metavar="OPERATION", help="An earlier decision about it, which this one puts right."),
    ] = None,
    reason: MaybeReason = None,
    confirm: Annotated[
        str | None,
        typer.Option(metavar="PHRASE", help='Such as "RELEASE 0.300000"; on a terminal it can be typed.'),
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Decide a reservation by hand: at least one item of evidence and a reason, unless it is only deferred."""
    asked = _Asked(consumed, amount, released, defer_until, note, tuple(evidence or ()), corrects)
    address = _address(kind, source, reservation_id)
    reason = note if reason is None else reason  # to defer it, the note is why
    if reason is not None:
        options.reason_of(reason)
    with site(store, config) as found:
        _decide(found, _shown(found, address), asked, reason, confirm, as_json=as_json)


def _decide(
    found: Site, shown: Resolvable, asked: _Asked, reason: str | None, confirm: str | None, *, as_json: bool
) -> None:
    """Confirmed, sent, and told."""
    row, now = shown.story.row, shown.story.as_of
    answer, items = asked.answer(row, now), _evidence(asked.evidence, now)
    phrase = phrase_of(row, answer)
    checks = found.gateway.weigh(row.address, answer, items, asked.corrects)
    _check_evidence(checks)
    asking.check_given(phrase, as_json=as_json, reason=reason, confirm=confirm)
    if confirm is not None:  # whoever types it is shown all of them before
        resolve_text.doubts(checks)
    asking.phrase(confirm, phrase, lambda: resolve_text.before(shown, answer, checks))
    why = asking.reason(reason)
    command = equivalent.resolving(found.aim, row.address, answer, items, phrase, why, asked.corrects)
    told = resolve_text.checks_of(checks)
    _check_alone(found, DecideWish(shown, answer, items, why, asked.corrects), told, as_json=as_json)
    with window(found, "resolve", why, command) as acting:
        given = order("resolve", why, command)
        made = sent(
            found,
            given,
            lambda: acting.resolve(shown, answer, items, given, asked.corrects),
            lambda: _landed(found, given),
        )
    _end(made, shown, told, as_json=as_json)


def _address(kind: str, source: str, reservation_id: str) -> Address:
    try:
        address = addresses.made(_kind(kind), source, reservation_id)
    except addresses.AddressError as error:
        raise typer.BadParameter(str(error)) from error
    if address.kind is Kind.TENTATIVE:
        raise typer.BadParameter("a tentative row is its writer's to confirm or to release")
    return address


def _kind(text: str) -> Kind:
    for kind in Kind:
        if text.lower() == kind.value:
            return kind
    raise typer.BadParameter(f"KIND: no {text!r:.80}; there are {Kind.DAY}, {Kind.METER}")


def _evidence(given: tuple[str, ...], now: datetime) -> tuple[Evidence, ...]:
    try:
        return tuple(evidence_of(text, now) for text in given)
    except ValueError as error:
        raise typer.BadParameter(f"--evidence: {error}") from error


def _check_evidence(checks: tuple[Check, ...]) -> None:
    """End the command where the store would refuse the answer for it."""
    lacking = needs(checks)
    if lacking:
        refuse(f"{'; '.join(lacking)}; nothing was changed")


def _shown(found: Site, address: Address) -> Resolvable:
    shown = found.gateway.resolvable(address)
    if shown is None:
        refuse(f"there is no {addresses.address_of(address)}; holdwatch reservations lists them")
    return shown


def _check_alone(found: Site, wish: DecideWish, told: Document, *, as_json: bool) -> None:
    """Above the configured amounts one person alone decides nothing: a plan is stored, and another approves it."""
    bounds = permission.bounds_of(found.config)
    if not permission.decision_above(bounds, wish.shown.story.row, wish.answer):
        return
    make(found, wish, bounds, wish.reason, dry=False, as_json=as_json, more=told)
    refuse(
        "nothing was decided yet: it is above what one person may decide, and waits for another's approval"
    )


def _landed(found: Site, given: Order) -> Resolution | None:
    """The decision as the audit has it."""
    result = next((row for row in found.gateway.audit_of(given.operation) if row.phase == "result"), None)
    if result is None:
        return None
    return resolve_text.known(result)


def _end(made: Resolution, shown: Resolvable, told: Document, *, as_json: bool) -> None:
    if as_json:
        print_document(resolve_text.document_of(made, shown) | told)
    else:
        print_lines(resolve_text.after(made))
    if made.came not in {Came.RESOLVED, Came.DEFERRED}:
        raise typer.Exit(Exit.REFUSED)
