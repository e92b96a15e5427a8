"""Giving connections back for good when a store is closed while others still use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from sqlalchemy import Engine


def dispose(engine: Engine) -> None:
    """Close the pooled connections now, and those in use when they are given back."""
    event.listen(engine.pool, "checkin", _close)
    engine.dispose()


def _close(_driver: Any, record: Any) -> None:
    record.invalidate()
