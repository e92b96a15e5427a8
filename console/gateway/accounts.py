"""The accounts of every meter as one list: meter by meter, each by account and period."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from console.model import GatewayError

if TYPE_CHECKING:
    from engine import desk


def accounts_of_all(door: desk.Desk, after: str | None, limit: int) -> desk.Page[desk.AccountRow]:
    """At most `limit` accounts behind the cursor, which names the meter before the one it stands in.

    GatewayError for a cursor of another list; GatewayError or the engine's own where the store does not answer.
    """
    from engine import desk

    behind, within = _cursor(after)
    rows: list[desk.AccountRow] = []
    prefixes, more = door.prefixes(behind or "")
    last = prefixes[-1] if prefixes else None
    as_of = None
    for prefix in prefixes:
        page = door.accounts(prefix, within, limit - len(rows))
        rows += page.rows
        as_of = page.as_of
        if page.next is not None:
            return desk.Page(tuple(rows), json.dumps([behind, page.next]), as_of)
        behind, within = prefix, None
        if len(rows) == limit:
            break
    following = more if behind == last else behind
    return desk.Page(
        tuple(rows), None if following is None else json.dumps([following, None]), as_of or door.now()
    )


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
