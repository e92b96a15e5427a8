"""What a reconcile pass is asked to look at, and who is to answer: checked when built, kept in the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.arguments import each_of_kind, member
from engine.database.columns import check_optional_id
from engine.desk.money_views import ReservationKind
from engine.desk.object_ids import parts
from engine.desk.plans.model import AnswerSource
from engine.errors import ValidationError
from engine.spend.meter.model import AfterLease
from engine.spend.meter.prefix import check_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ReconcileAsked:
    """All that is due of these kinds, DAY and METER, of every meter unless some are named; or the rows in `names`.

    A name is `day:<id>` or `meter:<prefix>:<operation>`. `resolver` says which one answers, for those who read the
    plan. `after_lease` is what the default makes of a meter's units, which no store knows: ValidationError without
    it where a default is to decide about a meter.
    """

    source: AnswerSource
    kinds: frozenset[ReservationKind] = frozenset()
    meters: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    resolver: str | None = None
    after_lease: AfterLease | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", member("source", AnswerSource, self.source))
        kinds = frozenset(member("kinds", ReservationKind, each) for each in self.kinds)
        object.__setattr__(self, "kinds", kinds)
        object.__setattr__(self, "meters", tuple(map(check_prefix, each_of_kind("meters", self.meters, str))))
        object.__setattr__(self, "names", tuple(dict.fromkeys(each_of_kind("names", self.names, str))))
        check_optional_id("resolver", self.resolver)
        if self.after_lease is not None:
            object.__setattr__(self, "after_lease", member("after_lease", AfterLease, self.after_lease))
        self._check()

    def _check(self) -> None:
        if ReservationKind.TENTATIVE in self.kinds:
            raise ValidationError("kinds", ("a tentative row is its writer's to confirm or to release",))
        if bool(self.names) == bool(self.kinds):
            raise ValidationError("names", ("give either kinds or names of rows",))
        of_meters = ReservationKind.METER in self.kinds | {parts(name)[0] for name in self.names}
        if self.source is AnswerSource.DEFAULT and of_meters and self.after_lease is None:
            raise ValidationError("after_lease", ("say what becomes of a meter's expired units",))

    def facts(self) -> Mapping[str, Any]:
        """As a JSON object; of named rows their number, as the items name them."""
        return {
            "source": self.source.value,
            "kinds": sorted(kind.value for kind in self.kinds),
            "meters": list(self.meters),
            "asked": len(self.names),
            "resolver": self.resolver,
            "after_lease": None if self.after_lease is None else self.after_lease.value,
        }
