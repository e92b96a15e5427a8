"""The operator's side of a meter: no allowance, no product, one row at a time (`store.meter_operator`; ruling 45)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, Text, bindparam, true, update

from engine.arguments import member, whole
from engine.database.columns import check_id, check_number
from engine.database.retries import RetryPolicy
from engine.database.statement import Statement
from engine.spend.answers import evidence_text
from engine.spend.meter import purge, settle
from engine.spend.meter.calls import unavailable
from engine.spend.meter.instants import span_ms, to_ms
from engine.spend.meter.options import check_after_lease
from engine.spend.meter.reconcile import Authority, reconcile
from engine.spend.meter.rows import Listed, page
from engine.spend.meter.schema import MeterSchema
from engine.spend.meter.settle import Settling
from engine.spend.meter.tables import MOST_PREFIXES, RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from sqlalchemy import Connection

    from engine.clock import Clock
    from engine.database.transaction import Transactions
    from engine.spend.meter.model import MeterPage, Outcome, PurgeReport, ReconcileReport, Settlement
    from engine.spend.meter.options import Resolver
    from engine.spend.meter.tables import MeterTables

_RETRY: Final = RetryPolicy()


class MeterOperator:
    """What a person does about a meter's reservations. Each change is written under the attempt **and** the expiry
    that the person was shown (rulings 40, 66); on anything else it changes nothing and says so.

    It makes no tables: a prefix without any is SpendMeterUnavailable.
    """

    def __init__(
        self,
        transactions: Transactions,
        clock: Clock,
        prefix: str,
        *,
        lease: timedelta,
        unknown_after_lease: str,
        resolver: Resolver | None = None,
    ) -> None:
        self._tx = transactions.retrying(_RETRY)
        self._clock = clock
        self._schema = MeterSchema(self._tx, prefix, ensure=False)
        self._authority = Authority(
            span_ms("lease", lease), check_after_lease(unknown_after_lease), resolve_expired=resolver
        )

    def reconcile(self, *, now: datetime | None = None, limit: int = 100) -> ReconcileReport:
        """One pass, as the meter's own: the resolver decides, or without one the default, fenced rows left alone."""
        return reconcile(self._tx, self._schema, self._authority, self._at(now), limit)

    def settle(
        self,
        operation_id: str,
        outcome: Outcome,
        *,
        attempt: int,
        expires_at: datetime,
        usage: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Settlement:
        """Say what became of the attempt shown; STALE_ATTEMPT or STALE_EXPIRY once the row has moved on."""
        settling = Settling(
            check_id("operation_id", operation_id),
            settle.outcome_of(outcome),
            self._at(now),
            None if usage is None else evidence_text(usage),
            check_number("attempt", attempt),
            to_ms(expires_at),
        )
        with unavailable("settle"):
            return self._tx.write("settle", settle.settle, self._schema.tables(), settling)

    def defer(
        self,
        operation_id: str,
        retry_at: datetime,
        evidence: Mapping[str, Any],
        *,
        attempt: int,
        expires_at: datetime,
    ) -> bool:
        """Fence the attempt shown until `retry_at` (now: to have it asked about); False once the row has moved on."""
        values = {
            "op": check_id("operation_id", operation_id),
            "attempt": check_number("attempt", attempt),
            "shown": to_ms(expires_at),
            "until": to_ms(retry_at),
            "evidence": evidence_text(evidence),
        }
        with unavailable("defer"):
            return self._tx.write("defer", defer_shown, self._schema.fenced("defer"), values)

    def purge(self, before: datetime, *, limit: int = 1000) -> PurgeReport:
        """Forget up to `limit` reservations settled before, and as many idle accounts of rolling windows.

        The operator knows no window: `before` must be older than the longest one, or units would be used twice.
        """
        most = min(max(1, whole("limit", limit)), purge.MAX_PAGE)
        with unavailable("purge"):
            tables = self._schema.tables()
            return self._tx.write("purge", purge.purge_window, tables, to_ms(before), most)

    def list(
        self,
        which: Listed = Listed.ALL,
        *,
        after: str | None = None,
        limit: int = 100,
        now: datetime | None = None,
    ) -> MeterPage:
        """A page of reserved rows, those whose lease or next check comes first in front."""
        at = self._at(now)
        with unavailable("list"):
            return self._tx.read(
                "list", page, self._schema.current(), member("which", Listed, which), at, after, limit
            )

    def _at(self, now: datetime | None) -> int:
        return to_ms(self._clock.now() if now is None else now)


@lru_cache(maxsize=MOST_PREFIXES)
def _deferral(tables: MeterTables) -> Statement:
    row = tables.reservations
    return Statement(
        update(row)
        .where(
            row.c.operation_id == bindparam("op"),
            row.c.state == RESERVED,
            row.c.attempts == bindparam("attempt", type_=BigInteger),
            row.c.expires_at == bindparam("shown", type_=BigInteger),
        )
        .values(
            fenced=true(),
            expires_at=bindparam("until", type_=BigInteger),
            evidence_json=bindparam("evidence", type_=Text),
        )
    )


def defer_shown(connection: Connection, tables: MeterTables, values: dict[str, Any]) -> bool:
    """Fence one row that still has the attempt and the expiry (`shown`) of `values`; instants in milliseconds."""
    return _deferral(tables).count(connection, **values) > 0
