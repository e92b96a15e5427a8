"""What a meter is made with, and the checks of it in their order (spend.md 2B.0)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from engine.arguments import member, of_kind, whole
from engine.database.retries import RetryPolicy
from engine.errors import UnsupportedStore, ValidationError
from engine.spend.meter.instants import span_ms
from engine.spend.meter.model import AfterLease, MeterReservation, SchemaWarning
from engine.spend.meter.prefix import DEFAULT_PREFIX, check_prefix

if TYPE_CHECKING:
    from engine.database.backend import Capabilities

AllowanceFor: TypeAlias = Callable[[str, str], Any]
"""(account, period) to a number of units: truncated, and at least 0."""
PeriodOf: TypeAlias = Callable[[datetime, str], str]
"""(now, account) to the product's label of the period."""
Resolver: TypeAlias = Callable[[MeterReservation], object]
DEFAULT_LEASE: Final = timedelta(seconds=45)
_RETRY: Final = RetryPolicy()
MAX_ATTEMPTS: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterOptions:
    """The options of `store.meter`; a window wins over `period_of`, which is then never called.

    `resolve_unknown` may settle what expired unfenced, by Consumed or Released; any other answer leaves it to
    `unknown_after_lease`. `resolve_expired` takes the place of both and is asked about fenced rows too.
    """

    allowance_for: AllowanceFor
    period_of: PeriodOf | None = None
    window: timedelta | None = None
    lease: timedelta = DEFAULT_LEASE
    max_attempts_per_operation: int = 3
    retry: RetryPolicy = _RETRY
    resolve_unknown: Resolver | None = None
    resolve_expired: Resolver | None = None
    unknown_after_lease: str = AfterLease.RELEASE
    require_shared: bool = True
    ensure_schema: bool = True
    table_prefix: str = DEFAULT_PREFIX
    on_warning: Callable[[SchemaWarning], object] | None = None

    @property
    def window_ms(self) -> int | None:
        """Whole milliseconds of the window; None for a meter of periods."""
        return None if self.window is None else span_ms("window", self.window)


def check_options(options: MeterOptions, capabilities: Capabilities) -> MeterOptions:
    """The options themselves; UnsupportedStore or ValidationError for the first fault."""
    if options.require_shared and not capabilities.shared:
        reason = (
            f"a {capabilities.name} store is not shared between machines;"
            " pass require_shared=False where every user of the meter is on this one"
        )
        raise UnsupportedStore("meter", reason)
    check_prefix(options.table_prefix)
    if options.period_of is None and options.window is None:
        raise ValidationError("period_of", ("is missing, and so is window: give one of the two",))
    if options.window is not None:
        span_ms("window", options.window)
    _check_rest(options)
    return options


def _check_rest(options: MeterOptions) -> None:
    span_ms("lease", options.lease)
    if not 1 <= whole("max_attempts_per_operation", options.max_attempts_per_operation) <= MAX_ATTEMPTS:
        raise ValidationError("max_attempts_per_operation", (f"must lie between 1 and {MAX_ATTEMPTS}",))
    of_kind("retry", options.retry, RetryPolicy)
    check_after_lease(options.unknown_after_lease)
    for name in ("allowance_for", "period_of", "resolve_unknown", "resolve_expired", "on_warning"):
        given = getattr(options, name)
        if not callable(given) and (given is not None or name == "allowance_for"):
            raise ValidationError(name, (f"must be callable, not {type(given).__name__}",))


def check_after_lease(word: str) -> AfterLease:
    """The member; ValidationError naming the option for any other word."""
    return member("unknown_after_lease", AfterLease, word)
