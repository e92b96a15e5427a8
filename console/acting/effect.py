"""What an answer does to the books: before and after, in whole micro-dollars or units (console.md F5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.acting.amounts import dollars
from console.acting.resolving import Consumed, Deferred, Released
from console.money_words import Kind

if TYPE_CHECKING:
    from console.acting.resolving import Answer
    from console.money_model import ReservationRow, ReservationStory


@dataclass(frozen=True, slots=True)
class Books:
    """What is held and what is spent, of a day in micro-dollars or of an account in units."""

    reserved: int
    spent: int

    @property
    def committed(self) -> int:
        """Both together: what an admission compares with its limit."""
        return self.reserved + self.spent


@dataclass(frozen=True, slots=True)
class Effect:
    """The books as they stand and as they will."""

    before: Books
    after: Books


def most_of(row: ReservationRow) -> int:
    """What may be consumed of it: of an operation what its runs recorded, else all that is held (ruling 67)."""
    if row.address.kind is Kind.METER:
        return row.units or 0
    return (row.micro or 0) if row.recorded is None else row.recorded


def effect_of(story: ReservationStory, answer: Answer | None) -> Effect | None:
    """None where the books are not there to be shown, or nothing has been chosen."""
    before = _books(story)
    if before is None or answer is None:
        return None
    held = (story.row.units if story.row.address.kind is Kind.METER else story.row.micro) or 0
    match answer:
        case Deferred():
            return Effect(before, before)
        case Released():
            spent = 0
        case Consumed(None):
            spent = most_of(story.row)
        case Consumed(int() as figure):
            spent = min(figure, most_of(story.row))
    return Effect(before, Books(before.reserved - held, before.spent + min(spent, held)))


def _books(story: ReservationStory) -> Books | None:
    if story.day is not None:
        return Books(story.day.reserved, story.day.settled)
    if story.account is not None:
        return Books(story.account.reserved, story.account.used)
    return None


def phrase_of(row: ReservationRow, answer: Answer) -> str:
    """What is typed to mean it: the deed and the amount (console.md 5.3)."""
    match answer:
        case Deferred():
            return "DEFER"
        case Released():
            return f"RELEASE {_amount(row, row.micro or 0)}"
        case Consumed(figure):
            return f"CONSUME {_amount(row, most_of(row) if figure is None else figure)}"


def _amount(row: ReservationRow, micro: int) -> str:
    if row.address.kind is Kind.METER:
        return f"{row.units or 0} UNIT{'' if row.units == 1 else 'S'}"
    return dollars(micro)
