"""Charges nobody can say the outcome of: the evidence that is kept, when to ask again, what the provider answers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from console.demo.stage import ANSWERS
from engine.spend import Consumed, Deferred, Released

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping
    from datetime import datetime

    from engine.spend import Answer

PROVIDERS: Final = ("tidal-inference", "northwind-search", "papertrail-ocr")
STATUSES: Final = ("pending", "timeout", "processing", "disputed")
SOON: Final = (4.0, 45.0)
"""Seconds until most are asked about again, at least and at most."""
LATER: Final = (20, 90)
"""Minutes for those that a person at the provider looks into."""
SLOW: Final = 0.05
"""How many of them need such a person."""


def evidence(dice: random.Random) -> Mapping[str, Any]:
    """Why nobody may decide yet: the charge, the provider's word on it, and a ticket."""
    status = dice.choice(STATUSES)
    return {
        "charge": f"ch_{dice.randrange(16**10):010x}",
        "provider": dice.choice(PROVIDERS),
        "status": status,
        "http": 504 if status == "timeout" else 202,
        "ticket": f"OPS-{dice.randint(1000, 9999)}",
        "last_word": dice.choice(ANSWERS),
    }


def again(known: Mapping[str, Any] | None, dice: random.Random) -> Mapping[str, Any]:
    """The evidence after another question about the same charge."""
    kept = known if known is not None and "charge" in known else evidence(dice)
    asked = kept.get("asked", 1)
    return {**kept, "status": dice.choice(STATUSES), "asked": asked + 1 if isinstance(asked, int) else 2}


def wait(dice: random.Random) -> timedelta:
    """How long until the provider is asked again."""
    if dice.random() < SLOW:
        return timedelta(minutes=dice.randint(*LATER))
    return timedelta(seconds=dice.uniform(*SOON))


def answer(micro: int, known: Mapping[str, Any] | None, dice: random.Random, now: datetime) -> Answer:
    """What the provider says when asked: charged (at a figure of `micro` at most), never charged, or wait."""
    word = dice.random()
    if word < 0.45:
        return Consumed(dice.randint(micro // 2, micro))
    if word < 0.6:
        return Released()
    return Deferred(now + wait(dice), again(known, dice))
