"""What can be done to a row, mildest first, and why not where it cannot (console.md 3.1, rows 31 and 36)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.acting.deeds import Deed
from console.claims_model import ClaimRow, Verdict
from console.model import ThreadRow, ThreadState
from console.money_model import FenceRow, ReservationRow
from console.money_words import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

FILTERED = " (filter)"
"""Stands behind what is about all that the filter means."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One choice: the letter that takes it, what it is called, what it does, and why it cannot be taken now."""

    key: str
    label: str
    tells: str
    why_not: str = ""


def of_row(row: object, narrowed: str | None) -> Sequence[Entry]:
    """The menu for a row; `narrowed` is the list's filter, empty where it has none, None where there is no list."""
    match row:
        case ThreadRow():
            mild, harsh = _release(row), _delete(row)
        case ClaimRow():
            mild = Entry("L", Deed.RELEASE.value, _claim_said(row))
            harsh = Entry("D", Deed.DELETE.value, "", "open its thread: enter, then D there")
        case ReservationRow():
            return (*_of_money(row), *_money_over(narrowed))
        case FenceRow():
            return (*_of_money(row.row), *_money_over(narrowed))
        case _:
            return ()
    if narrowed is None:
        return mild, harsh
    return (
        mild,
        harsh,
        _over("l", Deed.RELEASE, "the claims of all", narrowed),
        _over("d", Deed.DELETE, "all threads", narrowed),
    )


def _over(key: str, deed: Deed, all_of: str, narrowed: str) -> Entry:
    why = "" if narrowed else "this list has no filter, and there is no `all`; / sets one"
    return Entry(key, f"{deed.value}{FILTERED}", f"{all_of} that {narrowed!r} means" if narrowed else "", why)


def _money_over(narrowed: str | None) -> tuple[Entry, ...]:
    return () if narrowed is None else (_over("r", Deed.RECONCILE, "all", narrowed),)


def _release(row: ThreadRow) -> Entry:
    said = "" if row.holder is None else f"from {row.holder}, token {row.token}; the thread stays"
    return Entry("L", Deed.RELEASE.value, said, "nobody holds it" if row.holder is None else "")


def _claim_said(row: ClaimRow) -> str:
    warned = "" if row.verdict is Verdict.SAFE else "; its holder may be alive"
    return f"from {row.holder}, token {row.token}; the thread stays{warned}"


def _delete(row: ThreadRow) -> Entry:
    live = row.state is ThreadState.RUNNING
    why = f"{row.holder} is at work on it: L releases its claim first" if live else ""
    return Entry("D", Deed.DELETE.value, "with all below it; a tombstone stays", why)


def _of_money(row: ReservationRow) -> Sequence[Entry]:
    tentative = row.address.kind is Kind.TENTATIVE
    why = "a tentative row is its writer's to confirm or to release" if tentative else ""
    return (
        Entry("e", "resolve by hand", "leave it for later, consume it, or release it: on evidence", why),
        Entry("R", Deed.RECONCILE.value, "by the default, or by a resolver: plan first", why),
    )
