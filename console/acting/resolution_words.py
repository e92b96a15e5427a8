"""The words of the form: what each outcome does to this row, what was made of amount and next check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console import money
from console.acting.effect import most_of
from console.acting.observed import next_check, utc
from console.acting.resolution_form import Outcome
from console.acting.resolving import Consumed
from console.money_words import Kind
from console.present import Tone

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from console.acting.resolution_form import Filled, Meant
    from console.money_model import ReservationRow


def outcome_words(row: ReservationRow) -> Mapping[Outcome, str]:
    """One line for each."""
    meter = row.address.kind is Kind.METER
    held = money.words(row.micro, row.units)
    most = money.words(None if meter else most_of(row), row.units if meter else None)
    back = "" if meter or row.micro == most_of(row) else f", what its runs recorded of {held}"
    return {
        Outcome.LEAVE: "Leave deferred     nobody knows yet: look again later, with a note",
        Outcome.WHOLE: f"Consumed whole     {most}: the spend happened{back}",
        Outcome.PART: f"Consumed in part   for less than {most}; the rest is released",
        Outcome.RELEASE: f"Released           {held} given back: the spend did not happen",
    }


def until_told(filled: Filled, now: datetime) -> tuple[str, Tone]:
    """The instant behind what was typed, or what is wrong with it."""
    if not filled.until.strip():
        return "such as 30m, or 2026-05-04T16:00Z", Tone.MUTED
    try:
        return f"= {utc(next_check(filled.until, now))}", Tone.GOOD
    except ValueError as error:
        return str(error), Tone.WARN


def amount_told(row: ReservationRow, filled: Filled, meant: Meant) -> tuple[str, Tone]:
    """What is released beside it, or what is wrong with it."""
    if not filled.amount:
        return f"USD, above 0 and at most {money.usd(most_of(row))}", Tone.MUTED
    if filled.outcome is Outcome.PART and isinstance(meant.answer, Consumed) and meant.answer.micro:
        return f"USD; {money.usd((row.micro or 0) - meant.answer.micro)} given back", Tone.GOOD
    return next((each for each in meant.wrong if each.startswith("amount")), ""), Tone.WARN
