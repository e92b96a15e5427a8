"""The fleet's meter: every run of an operation holds one unit of its tenant's hourly allowance (spend.md 2B)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from engine.errors import SpendMeterUnavailable, UnsupportedStore
from engine.spend import Denied, Outcome
from engine.spend.meter import AfterLease

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engine import Store

PREFIX: Final = "demo_units"
"""Of the meter's tables: an installation's own meters are never touched."""
LEASE: Final = timedelta(seconds=15)
NOBODY: Final = "internal"
"""The account of threads without a tenant."""
ALLOWANCES: Final = {"acme": 600, "globex": 400, "initech": 240, NOBODY: 120}
"""Units an hour."""


class Units:
    """The meter, and the operator's side of it."""

    def __init__(self, store: Store) -> None:
        self.meter = store.meter(
            allowance_for=_allowance,
            period_of=_period,
            lease=LEASE,
            require_shared=False,
            table_prefix=PREFIX,
        )
        self.operator = store.meter_operator(
            PREFIX, lease=LEASE, unknown_after_lease=AfterLease.RELEASE.value
        )

    def hold(self, tenant: str | None, unit: str, now: datetime, *, fenced: bool) -> bool:
        """Hold a unit; False where the allowance is used up, or the meter cannot answer: then nothing is begun."""
        try:
            answer = self.meter.reserve(account(tenant), unit, require_fence=fenced, now=now)
        except (SpendMeterUnavailable, UnsupportedStore):
            return False
        return not isinstance(answer, Denied)

    def heartbeat(self, unit: str, now: datetime) -> None:
        """The run goes on."""
        self.meter.heartbeat(unit, now=now)

    def consume(self, unit: str, usage: Mapping[str, Any], now: datetime) -> None:
        """The run used its unit."""
        self.meter.settle(unit, Outcome.CONSUMED, usage=usage, now=now)

    def give_back(self, unit: str, now: datetime) -> None:
        """The run did not come to anything."""
        self.meter.settle(unit, Outcome.RELEASED, now=now)

    def refund(self, unit: str, now: datetime) -> None:
        """The customer got nothing for a unit that was consumed."""
        self.meter.settle(unit, Outcome.REPLACED, now=now)


def account(tenant: str | None) -> str:
    """Whose allowance pays."""
    return tenant or NOBODY


def _allowance(account_id: str, _period_label: str) -> int:
    return ALLOWANCES.get(account_id, ALLOWANCES[NOBODY])


def _period(now: datetime, _account_id: str) -> str:
    return f"{now:%Y-%m-%dT%H}"
