"""Made-up claims: each belongs to a row that somebody holds."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from console.claims_model import (
    ClaimQuery,
    ClaimRow,
    ClaimState,
    ClaimStory,
    ClaimTotals,
    HolderRow,
    Stored,
    Verdict,
)
from console.model import Counted, Page, Refusals, Unset
from tests.console.fake_moment import T0, cut

if TYPE_CHECKING:
    from datetime import datetime

    from console.model import ThreadRow


def claim_row(row: ThreadRow) -> ClaimRow:
    """The claim on a row that is held."""
    assert row.holder is not None
    assert row.lease_left is not None
    assert row.token is not None
    live = row.lease_left > timedelta(0)
    silent = timedelta(seconds=row.token % 19) if live else timedelta(seconds=192) + row.lease_left * -1
    dead = not live and row.token % 4 > 0
    return ClaimRow(
        thread=row.id,
        holder=row.holder,
        tenant=row.tenant,
        token=row.token,
        granted_at=T0 - timedelta(minutes=9),
        renewed_at=T0 - silent,
        renewals=row.token % 40,
        expires_at=T0 + row.lease_left,
        left=row.lease_left,
        live=live,
        thread_state=row.state,
        silent=silent,
        seen_at=T0 - silent,
        verdict=Verdict.SAFE if dead else Verdict.ALIVE,
        reason="the lease ended 3 min ago and nothing was heard of the holder for 30 s"
        if dead
        else "the lease runs for another 20 s",
        refused=row.token % 3 if dead else 0,
    )


def claim_story(row: ClaimRow) -> ClaimStory:
    """The same with what the list leaves out."""
    refusals = (
        Refusals(row.refused, row.token - 1, "commit", T0 - timedelta(seconds=50)) if row.refused else None
    )
    return ClaimStory(row, refusals, "ckp_0017", "run_3", 4_711)


class FakeClaims:
    """The calls about claims, over the rows of the fake gateway and some ids that are claimed and nothing else."""

    rows: list[ThreadRow]
    as_of: datetime

    @abstractmethod
    def _asked(self, what: str) -> None:
        """Note a call; fail if the fake is down."""

    def _all(self) -> list[ClaimRow]:
        held = [claim_row(row) for row in self.rows if row.holder is not None]
        bare = [replace(row, thread=f"new-{row.thread}", thread_state=None) for row in held[:3]]
        return sorted([*held, *bare], key=lambda row: (row.expires_at, row.thread))

    def claims(self, query: ClaimQuery, after: str | None, limit: int) -> Page[ClaimRow]:
        """Those that match, first expiry first."""
        self._asked("claims")
        return cut([row for row in self._all() if holds(row, query)], after, limit, self.as_of)

    def count_claims(self, query: ClaimQuery) -> Counted:
        """How many match."""
        self._asked("count claims")
        return Counted(sum(holds(row, query) for row in self._all()), more=False)

    def claim_totals(self) -> ClaimTotals:
        """Live ones, and those that are over."""
        self._asked("totals")
        live = sum(row.live for row in self._all())
        return ClaimTotals(Counted(live, more=False), Counted(len(self._all()) - live, more=False))

    def claim(self, thread: str) -> ClaimStory | None:
        """One of them."""
        self._asked("claim")
        return next((claim_story(row) for row in self._all() if row.thread == thread), None)

    def holders(self, after: str | None, limit: int) -> Page[HolderRow]:
        """By name."""
        self._asked("holders")
        live = Counter(row.holder for row in self._all() if row.live)
        expired = Counter(row.holder for row in self._all() if not row.live)
        found = [
            HolderRow(
                name,
                live[name],
                expired[name],
                False,
                T0 - timedelta(seconds=192),
                T0 - timedelta(seconds=4),
                timedelta(seconds=4),
            )
            for name in sorted(live | expired)
        ]
        return cut(found, after, limit, self.as_of)


def holds(row: ClaimRow, query: ClaimQuery) -> bool:
    """What the store would answer."""
    return (
        (query.state is None or row.live is (query.state is ClaimState.LIVE))
        and (isinstance(query.tenant, Unset) or row.tenant == query.tenant)
        and (query.holder is None or row.holder == query.holder)
        and (query.since is None or timedelta(0) <= -row.left <= query.since)
        and (query.stored is None or (row.thread_state is None) is (query.stored is Stored.CLAIM_ONLY))
    )
