"""The accounts of every meter as one list: meter by meter, each by account and period."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from console.model import GatewayError

if TYPE_CHECKING:
    from engine import desk

MOST_METERS: Final = 64
"""Meters that one page goes through; the next page goes on behind them."""


def accounts_of_all(door: desk.Desk, after: str | None, limit: int) -> desk.Page[desk.AccountRow]:
    """At most `limit` accounts behind the cursor, which names the meter before the one it stands in.

    GatewayError for a cursor of another list; GatewayError or the engine's own where the store does not answer.
    """
    from engine import desk

    behind, within = _cursor(after)
    rows: list[desk.AccountRow] = []
    for _ in range(MOST_METERS):
        meters = door.meters(behind, 1)
        if not meters.rows and meters.next is None:
            return desk.Page(tuple(rows), None, meters.as_of)
        for meter in meters.rows:
            page = door.accounts(meter.prefix, within, limit - len(rows))
            rows += page.rows
            if page.next is not None:
                return desk.Page(tuple(rows), json.dumps([behind, page.next]), page.as_of)
        if meters.next is None:
            break
        behind, within = meters.next, None
        if len(rows) == limit:
            break
    following = None if meters.next is None else json.dumps([meters.next, None])
    return desk.Page(tuple(rows), following, meters.as_of)


def _cursor(after: str | None) -> tuple[str | None, str | None]:
    if after is None:
        return None, None
    try:
        found: Any = json.loads(after)
    except ValueError:
        found = None
    words = (
        isinstance(found, list)
        and len(found) == 2
        and all(each is None or isinstance(each, str) for each in found)
    )
    if not words:
        raise GatewayError(
            "after: is not a cursor of this listing; start again without one",
            code="validation",
            retryable=False,
        )
    return found[0], found[1]
