"""The engine's errors in the operator's words; of a read that ran out of time also which locks keep readers out."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from console.model import NOT_ALLOWED, STOPPED, GatewayError

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.desk import TableLock
    from engine.errors import EngineError

OUT_OF_TIME: Final = "57014"
"""What PostgreSQL says of a statement that was cancelled, by its own time limit too."""
FORBIDDEN: Final = "42501"
"""What it says where a role lacks a right."""
_GRANTS: Final = "holdwatch grants --role ops_ro prints what looking needs, --role ops_rw what changing needs"


_METERS: Final = ("prefix", "table_prefix")
_FIELDS: Final = {
    "statuses": "status",
    "thread_id": "thread",
    "updated_since": "since",
    "expired_since": "since",
}
"""Fields of filters that the store calls otherwise."""


def told(error: EngineError, locks: Callable[[], tuple[TableLock, ...]]) -> GatewayError:
    """The same error for the console; `locks` is asked where it may be locks that the call has waited for."""
    from engine.errors import WaitCancelled

    if isinstance(error, WaitCancelled):
        return GatewayError("stopped by the operator, in the database as well", code=STOPPED, retryable=True)
    said = said_of(error)
    if getattr(error, "sqlstate", None) == OUT_OF_TIME:
        said = "; ".join((*(_lock(each) for each in _asked(locks)), said))
    if getattr(error, "sqlstate", None) == FORBIDDEN:
        return GatewayError(f"not allowed to this role: {said}; {_GRANTS}", code=NOT_ALLOWED, retryable=False)
    return GatewayError(said, code=error.code, retryable=error.retryable)


def said_of(error: EngineError) -> str:
    """What an error says, with a filter's field where it names the parameter behind that."""
    field, words = getattr(error, "field", ""), error.explain()
    known = "meter" if field in _METERS and "meter" in words else _FIELDS.get(field, field)
    return f"{known}{words.removeprefix(field)}" if field else words


def _asked(locks: Callable[[], tuple[TableLock, ...]]) -> tuple[TableLock, ...]:
    from engine.errors import EngineError

    found: tuple[TableLock, ...] = ()
    with suppress(EngineError):  # the error that is told matters more than why it came to be
        found = locks()
    return found


def _lock(lock: TableLock) -> str:
    who = f"pid {lock.pid}" + (f" ({lock.who})" if lock.who else "")
    since = "" if lock.seconds is None else f", its transaction open for {lock.seconds:.0f} s"
    does = "holds" if lock.granted else "waits for"
    return f"waiting for a lock on table {lock.table}: {who} {does} {lock.mode}{since}"
