"""Ids that begin with a prefix, in their own order, and a bounded stretch of them (decision 3, ruling 24).

No index holds one owner's ids: a page looks through the next 10,000 ids of the store at most, whoever owns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, bindparam, func, select, true

from engine.checkpoints.listing import MAX_DRIVEN
from engine.checkpoints.registry_model import MAX_LIMIT
from engine.checkpoints.tables import ROOT, tenant_key, thread
from engine.database.columns import check_id, check_optional_id
from engine.database.statement import Statement
from engine.errors import ValidationError
from engine.paging import check_limit

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select


def after_prefix(prefix: str) -> str | None:
    """The first text past all that begin with `prefix`, in code-point order; None when there is none."""
    kept = prefix.rstrip(chr(0x10FFFF))
    if not kept:
        return None
    last = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if last == 0xD800 else last)
