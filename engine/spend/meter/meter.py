"""The spend meter's facade (`store.meter`, api.md; spend.md 2B)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from engine.arguments import of_kind, whole
from engine.database.columns import check_id, check_number
from engine.errors import StoreFailure
from engine.spend.answers import evidence_text
from engine.spend.meter import heartbeat, hot, product, purge, reserve, settle, snapshot
from engine.spend.meter.calls import unavailable
from engine.spend.meter.counters import counters
from engine.spend.meter.instants import span_ms, to_ms
from engine.spend.meter.model import Denied, Outcome, Settlement, SettlementStatus
from engine.spend.meter.options import MeterOptions, check_after_lease, check_options
from engine.spend.meter.reconcile import Authority, reconcile
from engine.spend.meter.reconciler import Reconciler
from engine.spend.meter.reserve import NoRoom, Request
from engine.spend.meter.schema import MeterSchema
from engine.spend.meter.settle import Settling

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from engine.clock import Clock
    from engine.database.transaction import Transactions
    from engine.spend.meter.model import MeterSnapshot, PurgeReport, ReconcileReport, Reserved
    from engine.spend.meter.tables import MeterTables

EVERY: Final = timedelta(seconds=15)
"""How often the background reconciler runs."""


class SpendMeter:
    """Units per account, bounded per period or rolling window. Safe to share between threads.

    `now` is the store's clock unless given. SpendMeterUnavailable: the meter cannot answer; spend nothing.
    """

    def __init__(self, transactions: Transactions, clock: Clock, options: MeterOptions) -> None:
        self._options = check_options(options, transactions.backend.capabilities)
        self._tx = transactions.retrying(options.retry)
        self._clock = clock
        self._lease = span_ms("lease", options.lease)
        self._window = options.window_ms
        self._schema = MeterSchema(
            self._tx, options.table_prefix, ensure=options.ensure_schema, on_warning=options.on_warning
        )
        self._authority = Authority(
            self._lease,
            check_after_lease(options.unknown_after_lease),
            options.resolve_unknown,
            options.resolve_expired,
        )
        one_statement = transactions.backend.capabilities.one_statement_commit
        self._hot_reserve = one_statement and self._window is None
        self._single = self._tx.single_write if one_statement else self._tx.write
        self._hot_settle = one_statement
        self._reconciler = Reconciler(self.reconcile)

    def reserve(
        self,
        account_id: str,
        operation_id: str,
        *,
        units: float = 1,
        require_fence: bool = False,
        now: datetime | None = None,
    ) -> Reserved | Denied:
        """Hold units (cut to whole ones, at least 1) for an operation, for one lease (2B.3).

        With `require_fence` no default ever settles them; UnsupportedStore on tables without fences.
        """
        request = self._request(
            account_id, operation_id, units, of_kind("require_fence", require_fence, bool), now
        )
        with unavailable("reserve"):
            tables = self._schema.fenced("reserve") if require_fence else self._schema.tables()
            remaining = self._reserve_at_once(tables, request) if self._hot_reserve else None
            if remaining is not None:
                return request.reserved(1, remaining)
            try:
                return self._tx.write("reserve", reserve.reserve, tables, request)
            except NoRoom as full:
                return full.denial

    def _request(
        self, account_id: str, operation_id: str, units: object, fenced: bool, now: datetime | None
    ) -> Request:
        check_id("account_id", account_id)
        check_id("operation_id", operation_id)
        at = self._at(now)
        wanted = product.whole_units("units", units, least=1)
        period = product.period_of(self._options, "reserve", account_id, at)
        return Request(
            operation_id,
            account_id,
            period,
            wanted,
            product.allowance_of(self._options, "reserve", account_id, period),
            fenced,
            at,
            at + self._lease,
            self._options.max_attempts_per_operation,
            self._window,
        )

    def _reserve_at_once(self, tables: MeterTables, request: Request) -> int | None:
        try:
            return self._tx.single_write("reserve", hot.reserve, tables, request)
        except StoreFailure as failure:
            if failure.sqlstate != hot.ROOM_LOST:
                raise
            return None

    def heartbeat(
        self, operation_id: str, *, attempt: int | None = None, now: datetime | None = None
    ) -> None:
        """Move the lease's end to one lease from now; with `attempt` only that attempt's (2B.4)."""
        check_id("operation_id", operation_id)
        until = self._at(now) + self._lease
        with unavailable("heartbeat"):
            tables = self._schema.tables()
            self._single(
                "heartbeat", heartbeat.renew, tables, operation_id, _optional("attempt", attempt), until
            )

    def settle(
        self,
        operation_id: str,
        outcome: Outcome,
        *,
        usage: Mapping[str, Any] | None = None,
        attempt: int | None = None,
        now: datetime | None = None,
    ) -> Settlement:
        """Say what became of an operation, however late; with `attempt` only of that attempt (2B.5).

        `usage` is a JSON object kept beside it. An ALREADY_SETTLED answer to a consumption whose reservation was
        given up meanwhile is logged as a warning: those units are counted by nobody.
        """
        settling = Settling(
            check_id("operation_id", operation_id),
            settle.outcome_of(outcome),
            self._at(now),
            None if usage is None else evidence_text(usage),
            _optional("attempt", attempt),
        )
        with unavailable("settle"):
            tables = self._schema.tables()
            if self._hot_settle and self._tx.single_write("settle", hot.settle, tables, settling):
                return Settlement(SettlementStatus.SETTLED, settling.state)
            return self._tx.write("settle", settle.settle, tables, settling)

    def reconcile(self, *, now: datetime | None = None, limit: int = 100) -> ReconcileReport:
        """One pass over the oldest expired reservations of every account (4); call again for more."""
        return reconcile(self._tx, self._schema, self._authority, self._at(now), limit)

    def snapshot(self, account_id: str, *, now: datetime | None = None) -> MeterSnapshot:
        """What the account has used and reserved in the current period or window (2B.7)."""
        check_id("account_id", account_id)
        at = self._at(now)
        period = product.period_of(self._options, "snapshot", account_id, at)
        allowance = product.allowance_of(self._options, "snapshot", account_id, period)
        since = None if self._window is None else at - self._window
        with unavailable("snapshot"):
            tables = self._schema.tables()
            return self._tx.snapshot(
                "snapshot", snapshot.snapshot, tables, account_id, period, allowance, since
            )

    def set_allowance(self, account_id: str, allowance: float, *, now: datetime | None = None) -> None:
        """Set the current period's allowance until the next reservation brings the product's own (2B.8)."""
        check_id("account_id", account_id)
        at = self._at(now)
        units = product.whole_units("allowance", allowance, least=0)
        period = product.period_of(self._options, "set_allowance", account_id, at)
        with unavailable("set_allowance"):
            rows = counters(self._schema.tables())
            self._single("set_allowance", rows.allow, account_id, period, units, at)

    def purge(self, before: datetime, *, limit: int = 1000) -> PurgeReport:
        """Forget up to `limit` reservations settled before, and with a window idle accounts too (2B.9).

        Repeat while a count comes back equal to the limit. A window meter must keep what its window counts:
        `before` no later than now less the window.
        """
        most = min(max(1, whole("limit", limit)), purge.MAX_PAGE)
        verb = purge.purge_reservations if self._window is None else purge.purge_window
        with unavailable("purge"):
            return self._tx.write("purge", verb, self._schema.tables(), to_ms(before), most)

    def ensure_schema(self) -> None:
        """Make the tables and indexes that are missing, once per meter (2B.2); every call does so first."""
        with unavailable("ensure_schema"):
            self._schema.ensure()

    def start_reconciler(
        self, interval: timedelta = EVERY, on_error: Callable[[Exception], object] | None = None
    ) -> None:
        """Run a pass at every interval, in the background; a second start changes nothing."""
        self._reconciler.start(span_ms("interval", interval) / 1000, on_error)

    def stop_reconciler(self) -> None:
        """End the background passes."""
        self._reconciler.stop()

    def _at(self, now: datetime | None) -> int:
        return to_ms(self._clock.now() if now is None else now)


def _optional(field: str, number: int | None) -> int | None:
    return None if number is None else check_number(field, number)
