"""What the form of a resolution shows and sends (console.md F5 and 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from console.acting.model import Order
    from console.acting.records import AuditRow
    from console.money_model import ReservationStory
    from console.money_words import Address


class EvidenceKind(StrEnum):
    """Where something was seen."""

    PROVIDER_CONSOLE = "provider console"
    PROVIDER_LOG = "provider log"
    INVOICE = "invoice"
    OWN_LOG = "own log"
    PERSON = "person"
    OTHER = "other"


class Shows(StrEnum):
    """What it says of the call."""

    SPENT = "spent"
    NOT_SPENT = "not spent"
    ABSENT = "no record"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file that was looked at, by its SHA-256; it is not kept itself."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was observed outside."""

    kind: EvidenceKind
    reference: str
    observed_at: datetime
    shows: Shows
    covers_from: datetime | None = None
    file: EvidenceFile | None = None


@dataclass(frozen=True, slots=True)
class Consumed:
    """It was spent: whole, or of a day reservation `micro` of it."""

    micro: int | None = None


@dataclass(frozen=True, slots=True)
class Released:
    """It was not spent."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """Nobody knows yet: look again at `until`; `note` says why to wait."""

    until: datetime
    note: str


Answer = Consumed | Released | Deferred


NEED: Final = "need"
"""The weight of a check that keeps an answer from being given: the engine would refuse it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the form's checks: `weight` is ok, warn, or need."""

    weight: str
    text: str


def needs(checks: tuple[Check, ...]) -> tuple[str, ...]:
    """What is missing still, by the store's word."""
    return tuple(check.text for check in checks if check.weight == NEED)


@dataclass(frozen=True, slots=True)
class Resolvable:
    """A reservation as the form shows it, with the guard that its answer is written under."""

    story: ReservationStory
    guard: Mapping[str, object]
    name: str


class Came(StrEnum):
    """What an answer came to."""

    RESOLVED = "resolved"
    DEFERRED = "deferred"
    OVERTAKEN = "overtaken"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Resolution:
    """The answer to an answer: the books before and after, or who was first and how it stands now."""

    came: Came
    operation: str
    before: Mapping[str, object]
    after: Mapping[str, object]
    now: str
    first: AuditRow | None


class ResolvingGateway(Protocol):
    """The reading calls."""

    def resolvable(self, address: Address) -> Resolvable | None:
        """A reservation to be decided; None where there is none. GatewayError for a tentative row."""
        ...

    def weigh(
        self,
        address: Address,
        answer: Answer | None,
        evidence: tuple[Evidence, ...],
        corrects: str | None = None,
    ) -> tuple[Check, ...]:
        """What the operator should know of his evidence before he decides, and of the decision that he corrects."""
        ...


class ResolvingActing(Protocol):
    """The changing call."""

    def resolve(
        self,
        shown: Resolvable,
        answer: Answer,
        evidence: tuple[Evidence, ...],
        order: Order,
        corrects: str | None = None,
    ) -> Resolution:
        """Decide it, if it still is as it was shown. GatewayError `validation` for an answer that does not fit.

        `corrects` is the operation of an earlier decision about it, which this one puts right.
        """
        ...
