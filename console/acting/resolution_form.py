"""From what stands in the form to an answer and its evidence, or to what is still wrong with it (console.md F5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from console.acting.amounts import part_of
from console.acting.effect import most_of
from console.acting.observed import next_check
from console.acting.resolving import Consumed, Deferred, Evidence, EvidenceKind, Released, Shows
from console.money_words import HoldState, Kind

if TYPE_CHECKING:
    from datetime import datetime

    from console.acting.resolving import Answer, EvidenceFile
    from console.money_model import ReservationRow

MOST_ITEMS: Final = 20
"""Items of evidence that the store keeps with one decision."""
NO_CHECK: Final = "give a next check, e.g. 15m"


class Outcome(StrEnum):
    """What the operator may say, mildest first: what frees nothing stands before what frees all (row 36)."""

    LEAVE = "l"
    WHOLE = "c"
    PART = "p"
    RELEASE = "v"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of evidence as it stands in the form: instants and file are read already, or `wrong` says what is."""

    kind: EvidenceKind
    reference: str
    shows: Shows
    observed_at: datetime | None = None
    covers_from: datetime | None = None
    file: EvidenceFile | None = None
    wrong: str = ""
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Filled:
    """What stands in the form."""

    outcome: Outcome | None = None
    amount: str = ""
    until: str = ""
    note: str = ""
    items: tuple[Item, ...] = ()
    corrects: str = ""


@dataclass(frozen=True, slots=True)
class Meant:
    """What it comes to; `wrong` is what keeps it from being sent, in the order of the form.

    `corrects` is the operation of an earlier decision that this one puts right, None where it corrects none.
    """

    answer: Answer | None
    evidence: tuple[Evidence, ...]
    wrong: tuple[str, ...]
    corrects: str | None = None

    @property
    def grounds(self) -> tuple[object, ...]:
        """What the store weighs of it: what kind of answer, on which evidence; a span that is awaited moves on."""
        return type(self.answer), self.evidence, self.corrects


def offered(row: ReservationRow, outcome: Outcome) -> str:
    """Why an outcome cannot be chosen for a row; empty where it can."""
    if row.state is HoldState.SETTLED:
        return "it is settled"
    if outcome is Outcome.PART and row.address.kind is Kind.METER:
        return "a meter settles whole"
    if outcome is Outcome.PART and most_of(row) <= 1:
        return "there is no smaller part of it"
    return ""


def meant(row: ReservationRow, filled: Filled, now: datetime) -> Meant:
    """Read the form; `now` is the store's time."""
    wrong: list[str] = []
    answer = _answer(row, filled, now, wrong)
    evidence = _evidence(filled.items, wrong)
    if not evidence and answer is not None and not isinstance(answer, Deferred):
        wrong.append("at least one item of evidence is needed")
    return Meant(answer, evidence, tuple(wrong), filled.corrects.strip() or None)


def _answer(row: ReservationRow, filled: Filled, now: datetime, wrong: list[str]) -> Answer | None:
    if row.state is HoldState.SETTLED:
        wrong.append("it is settled already: there is nothing to decide")
        return None
    if filled.outcome is None:
        wrong.append("choose an outcome")
        return None
    refused = offered(row, filled.outcome)
    if refused:
        wrong.append(refused)
        return None
    try:
        return _given(row, filled, now)
    except ValueError as error:
        wrong.append(str(error))
        return None


def _given(row: ReservationRow, filled: Filled, now: datetime) -> Answer:
    match filled.outcome:
        case Outcome.WHOLE:
            return Consumed()
        case Outcome.PART:
            return Consumed(_part(row, filled.amount))
        case Outcome.RELEASE:
            return Released()
        case _:
            return _deferred(filled, now)


def _part(row: ReservationRow, amount: str) -> int:
    try:
        return part_of(amount, most_of(row))
    except ValueError as error:
        raise ValueError(f"amount: {error}") from None


def _deferred(filled: Filled, now: datetime) -> Deferred:
    if not filled.until.strip():
        raise ValueError(NO_CHECK)
    try:
        until = next_check(filled.until, now)
    except ValueError as error:
        raise ValueError(f"next check: {error}") from None
    if not filled.note.strip():
        raise ValueError("note: is needed; say what is being waited for")
    return Deferred(until, filled.note.strip())


def _evidence(items: tuple[Item, ...], wrong: list[str]) -> tuple[Evidence, ...]:
    found: list[Evidence] = []
    for number, item in enumerate(items, 1):
        if item.blank:
            continue
        fault = _fault(item)
        if fault or item.observed_at is None:
            wrong.append(f"evidence {number}: {fault}")
            continue
        found.append(
            Evidence(
                item.kind,
                item.reference.strip(),
                item.observed_at,
                item.shows,
                item.covers_from,
                item.file,
            )
        )
    return tuple(found)


def _fault(item: Item) -> str:
    if not item.reference.strip():
        return "reference is needed: where it can be looked up"
    if item.wrong:
        return item.wrong
    return "" if item.observed_at is not None else "observed at is needed, such as 5m ago"
