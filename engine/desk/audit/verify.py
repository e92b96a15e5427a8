"""Whether the audit is as it was written: every number there, every hash right, the head its last entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.database.statement import Statement
from engine.desk.audit.chain import hash_of
from engine.desk.audit.model import Verified
from engine.desk.tables import audit, audit_head

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions

PAGE: Final = 1_000
_BEFORE_ALL: Final = -(2**63)
_NEXT: Final = Statement(
    select(audit).where(audit.c.seq > bindparam("last")).order_by(audit.c.seq).limit(bindparam("most"))
)
_HEAD: Final = Statement(select(audit_head.c.seq, audit_head.c.hash))


@dataclass(slots=True)
class _Reader:
    """Where the reading has got to."""

    head: Any
    seq: int = 0
    link: str = ""
    entries: int = 0

    def fault(self, row: Any) -> str | None:
        """What is wrong with the next row; None where nothing is. `head` is the head as it was at the beginning."""
        if row.seq < 1:
            return "it is numbered before the first entry, where no chain holds it"
        if row.seq != self.seq + 1:
            return f"entry {self.seq + 1} is missing"
        if row.prev_hash != self.link:
            return "it does not follow from the entry before it"
        if hash_of(row._asdict()) != row.hash:
            return "it was changed after it was written"
        self.seq, self.link, self.entries = row.seq, row.hash, self.entries + 1
        if self.head is not None and self.head.seq == row.seq and self.head.hash != row.hash:
            return "the head is not the last entry's"
        return None

    def broken(self, seq: int, problem: str) -> Verified:
        return Verified(self.entries, self.link, seq, problem)


def verify(transactions: Transactions, told: Callable[[int], object] = lambda _entries: None) -> Verified:
    """Read the whole chain in pages of their own transactions; `told` hears how many entries were read so far.

    Entries that are added meanwhile are read too. The head that they end at should be noted elsewhere by who wants
    to prove that the end was not cut off and the head set back.
    """
    reader = _Reader(transactions.read("audit.verify", _head))
    last = _BEFORE_ALL
    while True:
        rows = transactions.read("audit.verify", _page, last)
        for row in rows:
            fault = reader.fault(row)
            if fault is not None:
                return reader.broken(row.seq, fault)
        told(reader.entries)
        last = reader.seq
        if len(rows) < PAGE:
            break
    return _ended(reader, transactions.read("audit.verify", _head))


def _ended(reader: _Reader, now: Any) -> Verified:
    """Every entry moves the head in its own transaction, so the head `now` is nowhere behind what was read."""
    if reader.head is None or now is None:
        return reader.broken(reader.seq, "the head's row is gone")
    if reader.seq < reader.head.seq:
        lost = f"the log ends at entry {reader.seq}, its head says {reader.head.seq}"
        return reader.broken(reader.head.seq, lost)
    if now.seq < reader.seq:
        return reader.broken(
            now.seq + 1, f"the head says {now.seq}: it was set back, or this was added beside it"
        )
    if now.seq == reader.seq and now.hash != reader.link:
        return reader.broken(now.seq, "the head is not the last entry's")
    return Verified(reader.entries, reader.link)


def _head(connection: Connection) -> Any:
    return _HEAD.one(connection)


def _page(connection: Connection, last: int) -> list[Any]:
    return _NEXT.all(connection, last=last, most=PAGE)
