"""What keeps an answer from being written, and what the operator should know before he writes it (console.md F5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from engine.arguments import whole
from engine.clock import span_ns, to_ns
from engine.desk.money_views import ReservationKind
from engine.desk.resolve.model import MOST_EVIDENCE, Shows
from engine.errors import ValidationError
from engine.spend.answers import Consumed, Deferred, Released

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.desk.money_views import ReservationDetail
    from engine.desk.resolve.model import Evidence
    from engine.spend.answers import Answer


SKEW: Final = timedelta(minutes=1)
"""By which an observer's clock may be ahead of the store's."""


class Weight(StrEnum):
    """OK and WARN are for reading; NEED is missing still, and keeps the answer from being written."""

    OK = "ok"
    WARN = "warn"
    NEED = "need"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the form's checks."""

    weight: Weight
    text: str


def check_answer(kind: ReservationKind, most: int, answer: Answer) -> None:
    """ValidationError unless the answer fits a reservation of `most` micro-dollars or units.

    A meter settles whole; a day row may be consumed at a figure above zero and at most what is held.
    """
    match answer:
        case Released() | Consumed(None):
            return
        case Consumed(figure) if kind is ReservationKind.METER:
            if whole("figure", figure) != most:
                raise ValidationError(
                    "figure", ("a meter settles whole: leave the figure out, or release it",)
                )
        case Consumed(figure):
            if not 0 < whole("figure", figure) <= most:
                raise ValidationError("figure", (f"must be above 0 and at most {most} micro-dollars",))
        case Deferred(retry_at, _):
            to_ns(retry_at)
        case _:
            raise ValidationError("answer", (f"must be Consumed, Released or Deferred, not {answer!r:.60}",))


def check_grounds(answer: Answer, evidence: Sequence[Evidence], reason: str | None) -> None:
    """ValidationError for a decision without evidence or without a reason; to leave it deferred needs neither."""
    if len(evidence) > MOST_EVIDENCE:
        raise ValidationError("evidence", (f"at most {MOST_EVIDENCE} items are kept with one decision",))
    if isinstance(answer, Deferred):
        return
    if not evidence:
        raise ValidationError("evidence", ("at least one item is needed: what was seen outside, and where",))
    if reason is None or not reason.strip():
        raise ValidationError("reason", ("is needed: say why, for those who read the audit later",))


def check_seen(evidence: Sequence[Evidence], now: int) -> None:
    """ValidationError for evidence that nobody can have seen yet by the store's `now` (ns), a minute of skew allowed;
    and for a source that is said to begin later than it was looked at.
    """
    wrong = [f"{number} {text}" for number, item in enumerate(evidence, 1) for text in _impossible(item, now)]
    if wrong:
        raise ValidationError("evidence", tuple(wrong))


def _impossible(item: Evidence, now: int) -> list[str]:
    found = []
    if to_ns(item.observed_at) > now + span_ns(SKEW):
        found.append("was observed in the future, by the store's clock: say when it was seen")
    if item.covers_from is not None and item.covers_from > item.observed_at:
        found.append("covers from later than it was observed: say since when the source had records then")
    return found


def weigh(
    detail: ReservationDetail, answer: Answer | None, evidence: Sequence[Evidence]
) -> tuple[Check, ...]:
    """What the operator is told of his evidence before he decides; nothing here keeps him from it but NEED."""
    lacking = not evidence and not isinstance(answer, Deferred)
    found = [Check(Weight.NEED, "no evidence yet: at least one item")] if lacking else []
    at = to_ns(detail.as_of)
    for number, item in enumerate(evidence, 1):
        found += [Check(Weight.NEED, f"evidence {number} {text}") for text in _impossible(item, at)]
        found += [Check(Weight.WARN, f"evidence {number} {text}") for text in _doubts(detail, item)]
        found += [Check(Weight.WARN, f"evidence {number} {text}") for text in _contradictions(answer, item)]
    if evidence and not found:
        found.append(Check(Weight.OK, "the evidence is newer than the call, and says what you say"))
    return tuple(found)


def _doubts(detail: ReservationDetail, item: Evidence) -> list[str]:
    row, doubts = detail.row, []
    if detail.as_of < item.observed_at <= detail.as_of + SKEW:
        doubts.append("was observed in the future, by the store's clock")
    if row.created_at is not None and item.observed_at < row.created_at:
        doubts.append("is older than the reservation")
    elif row.expires_at is not None and item.observed_at < min(row.expires_at, detail.as_of):
        doubts.append("was seen while the call could still be under way")
    if item.shows is Shows.ABSENT and not _covers(detail, item):
        doubts.append("says there is no record, from a source not known to reach back so far: weak")
    return doubts


def _covers(detail: ReservationDetail, item: Evidence) -> bool:
    made = detail.row.created_at
    return item.covers_from is not None and made is not None and item.covers_from <= made


def _contradictions(answer: Answer | None, item: Evidence) -> list[str]:
    match answer, item.shows:
        case Released(), Shows.SPENT:
            return ["says that it was spent"]
        case Consumed(), Shows.NOT_SPENT | Shows.ABSENT:
            return ["says that it was not spent"]
        case ((Released() | Consumed()), Shows.UNCLEAR):
            return ["leaves open whether it was spent"]
        case _:
            return []
