"""Evidence, and what a resolution came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from engine.arguments import member, of_kind, whole
from engine.clock import to_ns
from engine.database.columns import check_id
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engine.desk.audit.model import AuditEntry

MOST_EVIDENCE: Final = 20
"""Items to one resolution."""
MOST_REFERENCE: Final = 1_000
"""Characters of a reference."""
_HEX: Final = frozenset("0123456789abcdef")


class EvidenceKind(StrEnum):
    """Where it was seen."""

    PROVIDER_CONSOLE = "provider console"
    PROVIDER_LOG = "provider log"
    INVOICE = "invoice"
    OWN_LOG = "own log"
    PERSON = "person"
    OTHER = "other"


class Shows(StrEnum):
    """What it says of the call that was paid for. ABSENT is weak where the source need not know of the call."""

    SPENT = "spent"
    NOT_SPENT = "not spent"
    ABSENT = "no record"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file that was looked at: its name, its SHA-256 in hexadecimal and its bytes; the file itself is not kept."""

    name: str
    sha256: str
    size: int

    def __post_init__(self) -> None:
        check_id("file", self.name)
        if len(self.sha256) != 64 or not set(self.sha256) <= _HEX:
            raise ValidationError("sha256", ("must be 64 digits of lower-case hexadecimal",))
        if whole("size", self.size) < 0:
            raise ValidationError("size", ("must not be negative",))


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was observed outside. `covers_from`: the source holds records since then, None if unknown."""

    kind: EvidenceKind
    reference: str
    observed_at: datetime
    shows: Shows
    covers_from: datetime | None = None
    file: EvidenceFile | None = None

    def __post_init__(self) -> None:
        member("kind", EvidenceKind, self.kind)
        member("shows", Shows, self.shows)
        to_ns(self.observed_at)
        if self.covers_from is not None:
            to_ns(self.covers_from)
        text = of_kind("reference", self.reference, str)
        if not text.strip():
            raise ValidationError("reference", ("is needed: the number or place where it can be looked up",))
        if len(text) > MOST_REFERENCE:
            raise ValidationError(
                "reference", (f"is {len(text)} characters; at most {MOST_REFERENCE} are kept",)
            )

    def facts(self) -> dict[str, Any]:
        """As a JSON object."""
        held: dict[str, Any] = {
            "kind": self.kind.value,
            "reference": self.reference,
            "observed_at": self.observed_at.isoformat(),
            "shows": self.shows.value,
            "covers_from": None if self.covers_from is None else self.covers_from.isoformat(),
        }
        if self.file is not None:
            held["file"] = {"name": self.file.name, "sha256": self.file.sha256, "size": self.file.size}
        return held


@dataclass(frozen=True, slots=True)
class Approval:
    """Another person's yes to a plan: of which one, and who gave it, by name."""

    plan_id: str
    approved_by: str

    def __post_init__(self) -> None:
        check_id("plan_id", self.plan_id)
        check_id("approved_by", self.approved_by)

    def facts(self) -> dict[str, Any]:
        """As the audit keeps it."""
        return {"plan": self.plan_id, "approved_by": self.approved_by}


class ResolutionStatus(StrEnum):
    """OVERTAKEN: it had changed since it was shown, and was left alone. GONE: there is no such reservation."""

    RESOLVED = "resolved"
    DEFERRED = "deferred"
    OVERTAKEN = "overtaken"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Resolution:
    """The answer to a resolve. `before` and `after` are what the books said: the row, and its day or account.

    `first` is the audit entry of who was there before, where that was a person; `now` says how it stands instead.
    """

    status: ResolutionStatus
    operation_id: str
    object_id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    now: str = ""
    first: AuditEntry | None = None
