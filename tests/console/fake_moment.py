"""The moment at which every made-up store stands, and how its lists are cut into pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from console.model import Page, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

T0 = datetime(2026, 5, 4, 14, 3, 22, tzinfo=UTC)


def cut(rows: Sequence[Row], after: str | None, limit: int, as_of: datetime) -> Page[Row]:
    """A page, from a cursor that is a row's number."""
    start = int(after or 0)
    following = str(start + limit) if start + limit < len(rows) else None
    return Page(tuple(rows[start : start + limit]), following, as_of)
