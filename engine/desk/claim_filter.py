"""Which claims to list: checked when built, answered by the store alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from engine.checkpoints.model import ANY, Tenancy, Unset, as_utc
from engine.database.columns import check_optional_id
from engine.desk.claim_views import ClaimState
from engine.errors import ValidationError

if TYPE_CHECKING:
    from datetime import datetime
    from typing import TypeVar

    Word = TypeVar("Word", bound=StrEnum)


class Stored(StrEnum):
    """What else is stored of a claimed id: a checkpoint, or none yet, so that no other list shows it."""

    CHECKPOINT = "checkpoint"
    CLAIM_ONLY = "claim_only"


@dataclass(frozen=True, slots=True)
class ClaimFilter:
    """Claims for which every given part holds; oldest expiry first, or by thread id for one holder.

    `tenant` is the one that the claim was made for. `stored` CLAIM_ONLY lists ids that have a claim and no
    checkpoint (ruling 51). Neither has an index: they are looked for among the next 10,000 claims.
    `expired_since`: the claim is over, and was not before that instant; of one holder it is looked for, too.
    """

    tenant: Tenancy = ANY
    state: ClaimState | None = None
    holder: str | None = None
    stored: Stored | None = None
    expired_since: datetime | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tenant, Unset):
            check_optional_id("tenant", self.tenant)
        check_optional_id("holder", self.holder)
        object.__setattr__(self, "state", as_word("state", self.state, ClaimState))
        object.__setattr__(self, "stored", as_word("stored", self.stored, Stored))
        object.__setattr__(self, "expired_since", as_utc("expired_since", self.expired_since))
        if self.expired_since is not None:
            if self.state is ClaimState.LIVE:
                raise ValidationError("expired_since", ("a live claim has not expired; leave the state out",))
            object.__setattr__(self, "state", ClaimState.EXPIRED)

    @property
    def searches(self) -> bool:
        """Whether claims must be looked at one by one, for want of an index on what is asked."""
        states = self.holder is not None and self.state is not None
        return states or not isinstance(self.tenant, Unset) or self.stored is not None


def as_word(field: str, given: str | None, words: type[Word]) -> Word | None:
    """One of a closed set's words, or None; ValidationError naming all of them for any other."""
    if given is None:
        return None
    try:
        return words(given)
    except ValueError as error:
        raise ValidationError(field, (f"{error}; there are {', '.join(words)}",)) from error
