"""What a retention policy leaves of one thread, over plain data: 2.5 of checkpoints-operations.md with ruling 69.

Shared by the state machine's model and the simulation's journal, and written from the rules, not from the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from engine.checkpoints import RetentionPolicy


@dataclass(frozen=True)
class Landed:
    """A checkpoint as retention sees it: when it was committed, and the next event's number before that commit."""

    id: str
    run_id: str
    at: datetime
    first_seq: int


@dataclass(frozen=True)
class Kept:
    """The ids that stay, in their order, and the floor of the log; None without a log."""

    ids: list[str]
    floor: int | None


@dataclass(frozen=True)
class Numbered:
    """A log that has numbers: its floor, the next number, and when each kept event was committed."""

    floor: int
    next: int
    times: Mapping[int, datetime]


def retained(
    history: Sequence[Landed],
    log: Numbered | None,
    policy: RetentionPolicy,
    now: datetime,
    protected: Collection[str],
) -> Kept:
    """Apply `policy` to a history, oldest first. `protected` runs keep their newest checkpoint besides."""
    by_policy = _young(history, policy, now)
    if policy.max_checkpoints is not None:
        by_policy = by_policy[-policy.max_checkpoints :]
    stays = {each.id for each in by_policy} | evidence(history, protected)
    ids = [each.id for each in history if each.id in stays]
    shorter = len(by_policy) < len(history)
    return Kept(ids, None if log is None else _floor(by_policy if shorter else [], log, policy, now))


def evidence(history: Sequence[Landed], runs: Collection[str]) -> set[str]:
    """The newest checkpoint of each of the runs."""
    return set({each.run_id: each.id for each in history if each.run_id in runs}.values())


def _young(history: Sequence[Landed], policy: RetentionPolicy, now: datetime) -> Sequence[Landed]:
    """Those not older than the policy's age, and the latest."""
    if policy.max_age is None:
        return history
    return [each for each in history if each is history[-1] or each.at >= now - policy.max_age]


def _floor(kept: Sequence[Landed], log: Numbered, policy: RetentionPolicy, now: datetime) -> int:
    """The highest that any rule asks for; `kept` is empty where no checkpoint goes."""
    floors = [log.floor, *(each.first_seq for each in kept[:1])]
    if policy.max_events is not None:
        floors.append(log.next - policy.max_events)
    if policy.max_age is not None:
        young = (seq for seq, at in sorted(log.times.items()) if at >= now - policy.max_age)
        floors.append(next(young, log.next))
    return min(max(floors), log.next)
