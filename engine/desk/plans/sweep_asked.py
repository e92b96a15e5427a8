"""What a sweep is asked to look at: checked when built, kept in the plan as its parameters."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from engine.arguments import each_of_kind, member, of_kind
from engine.checkpoints.retention import SweepPolicy
from engine.clock import span_ns, to_ns
from engine.database.columns import check_id, check_optional_id
from engine.errors import ValidationError
from engine.spend.meter.prefix import check_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class SweepPart(StrEnum):
    """The kinds of things that a sweep takes away."""

    THREADS = "threads"
    TOMBSTONES = "tombstones"
    LAPSED = "lapsed rows"
    METERS = "meters"


@dataclass(frozen=True, slots=True)
class SweepAsked:
    """THREADS and TOMBSTONES by the policy, of ids with the prefix; LAPSED of the tables named, METERS likewise.

    No table or meter named stands for all of them. METERS loses what was settled before `before`. `guard`, a
    `module:function`, is asked when the plan is executed, and what it protects by then stays; a preview tells what it
    protects now. ValidationError
    for parts that nothing was said of: a policy that keeps everything, no instant.
    """

    parts: frozenset[SweepPart]
    policy: SweepPolicy = field(default_factory=SweepPolicy)
    prefix: str = ""
    tables: tuple[str, ...] = ()
    meters: tuple[str, ...] = ()
    before: datetime | None = None
    guard: str | None = None

    def __post_init__(self) -> None:
        parts = frozenset(member("parts", SweepPart, each) for each in self.parts)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "tables", tuple(check_id("tables", each) for each in self.tables))
        object.__setattr__(self, "meters", tuple(map(check_prefix, each_of_kind("meters", self.meters, str))))
        of_kind("policy", self.policy, SweepPolicy)
        check_id("prefix", self.prefix)
        check_optional_id("guard", self.guard)
        if self.before is not None:
            to_ns(self.before)
        problems = tuple(self._problems())
        if problems:
            raise ValidationError("sweep", problems)

    def _problems(self) -> list[str]:
        keep = self.policy.retention
        limits = (keep.max_age, keep.max_checkpoints, keep.max_events)
        said = {
            SweepPart.THREADS: any(limit is not None for limit in limits),
            SweepPart.TOMBSTONES: self.policy.tombstone_age is not None,
            SweepPart.METERS: self.before is not None,
        }
        problems = [
            f"{part.value}: say what may go"
            for part, known in said.items()
            if part in self.parts and not known
        ]
        return problems if self.parts else ["name at least one part"]

    def facts(self) -> Mapping[str, Any]:
        """As a JSON object; spans and instants in nanoseconds."""
        keep = self.policy.retention
        age, buried = keep.max_age, self.policy.tombstone_age
        return {
            "parts": sorted(part.value for part in self.parts),
            "retention": asdict(keep) | {"max_age": None if age is None else span_ns(age)},
            "tombstone_age": None if buried is None else span_ns(buried),
            "prefix": self.prefix,
            "tables": list(self.tables),
            "meters": list(self.meters),
            "guard": self.guard,
            "before": None if self.before is None else to_ns(self.before),
        }
