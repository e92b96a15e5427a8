"""Screens on something that the audit knows."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Audited(Protocol):
    """A screen whose object, or whose row under the cursor, may have a history."""

    def audited(self) -> str | None:
        """The audit's filter for what was done to it by hand; None where the audit knows nothing of it."""
        ...
