"""Reservations of every kind and state, written straight into their tables, and their lists in plain Python."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, insert, select

from engine.clock import span_ns, to_ns
from engine.desk import FenceFilter, ReservationFilter, ReservationKind, ReservationState
from engine.reserved.convention import convention_columns, convention_indexes
from engine.spend.day.tables import reservation, run, spend_day
from engine.spend.meter.prefix import DEFAULT_PREFIX
from engine.spend.meter.tables import bare_tables, meter_tables
from tests.support.builders import T0

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables
    from tests.support.harness import Harness

K, S = ReservationKind, ReservationState
NOW = to_ns(T0)
SECOND = span_ns(timedelta(seconds=1))
MILLION = 1_000_000
BARE = "other"
"""A meter whose tables have no fence columns."""
LATER = timedelta(seconds=5)
"""How far the clock is moved once the rows are there: what is due before then is due."""
SPOTS = Table("spots", MetaData(), Column("spot", Text, primary_key=True), *convention_columns())
PAIRS = Table(
    "pairs",
    MetaData(),
    Column("room", BigInteger, primary_key=True, autoincrement=False),
    Column("seat", Text, primary_key=True),
    *convention_columns(),
)
LOOSE = Table("loose", MetaData(), Column("name", Text), *convention_columns())
for _table in (SPOTS, PAIRS, LOOSE):
    convention_indexes("desk", _table)


def from_rows(number: int) -> timedelta:
    """The time after T0 at which row `number` is due."""
    return timedelta(seconds=number)


def day_values(number: int, **more: Any) -> dict[str, Any]:
    """A plain day reservation that is due `number` seconds after T0."""
    at = NOW + number * SECOND
    row = dict.fromkeys(column.key for column in reservation.c)
    row |= {"id": f"day-{number:05}", "day": "2026-10-09", "kind": "call", "micro": 100 + number}
    row |= {"created_at": NOW, "expires_at": at, "due_at": at, "require_fence": False, "deferrals": 0}
    return row | more


def operation_values(number: int, **more: Any) -> dict[str, Any]:
    """An operation with one run begun, held by nobody."""
    row = day_values(number, kind="session", operation_id=f"operation-{number}", recorded_micro=7, runs=1)
    return row | {"id": f"ops-{number:05}"} | more


def meter_values(number: int, **more: Any) -> dict[str, Any]:
    """A reserved unit whose lease ends `number` seconds after T0."""
    base = NOW // MILLION
    row: dict[str, Any] = {"operation_id": f"unit-{number:05}", "account_id": f"account-{number % 3}"}
    row |= {"period": "2026-10", "units": 1 + number % 2, "state": "reserved", "outcome": None, "attempts": 1}
    row |= {"reserved_at": base, "expires_at": base + 1000 * number, "settled_at": None, "usage_json": None}
    return row | more


def tentative_values(number: int, **more: Any) -> dict[str, Any]:
    """The convention's part of a row that lapses `number` seconds after T0."""
    row = {"txn_id": f"txn-{number % 4}", "state": "reserved", "reserve_deadline": NOW + number * SECOND}
    return row | more


def make_meter(connection: Connection, prefix: str, *, fences: bool = True) -> MeterTables:
    """The tables of a meter, as it or another program makes them."""
    tables = meter_tables(prefix) if fences else bare_tables(prefix)
    tables.meter.metadata.create_all(connection)
    return tables


def make_tables(connection: Connection) -> None:
    """The three tables that keep the convention."""
    for table in (SPOTS, PAIRS, LOOSE):
        table.metadata.create_all(connection)


def fill_money(harness: Harness) -> None:
    """Every kind in every state, several due at the same instant, and the clock `LATER` than some of them."""
    with harness.raw() as connection:
        _fill_days(connection)
        for prefix in (DEFAULT_PREFIX, BARE):
            _fill_meter(connection, prefix)
        make_tables(connection)
        tentative = [tentative_values(number) for number in range(0, 12, 3)]
        connection.execute(insert(SPOTS), [{"spot": f"s{n}"} | row for n, row in enumerate(tentative)])
        connection.execute(
            insert(PAIRS), [{"room": 9 + n, "seat": f"s{n}"} | row for n, row in enumerate(tentative)]
        )
        connection.execute(insert(LOOSE), [{"name": "no key"} | row for row in tentative])
        over = {"state": "committed", "reserve_deadline": None}
        connection.execute(insert(SPOTS), [{"spot": "confirmed", "txn_id": "txn-1"} | over])
        connection.execute(insert(SPOTS), [{"spot": "plain", "txn_id": None} | over])
    harness.advance(LATER)


def _fill_days(connection: Connection) -> None:
    deferred = {"require_fence": True, "deferrals": 2, "evidence": '{"charge":"ch_1"}'}
    settled = {"settled_at": NOW, "settled_micro": 5}
    held = {"lease_run": 1, "lease_until": NOW + 60 * SECOND, "due_at": NOW + 60 * SECOND}
    rows = []
    for number, fate in itertools.product(range(0, 12, 2), range(4)):
        more: dict[str, Any] = ({}, {"require_fence": True}, deferred, settled)[fate]
        more = more | {"thread_id": f"thread-{number % 3}" if fate % 2 else None}
        more |= {"kind": ("call", "session")[number % 4 // 2], "next_check_at": None}
        if fate == 2:
            more["next_check_at"] = NOW + number * SECOND
        rows.append(day_values(number, **more) | {"id": f"day-{number}-{fate}"})
    rows += [operation_values(1, **held), operation_values(3), operation_values(9, day="2026-10-08")]
    connection.execute(insert(reservation), rows)
    runs = [{"reservation_id": "ops-00001", "run": n, "bound_micro": 9, "began_at": NOW} for n in (1, 2)]
    connection.execute(insert(run), [each | {"settled_micro": None, "ended_at": None} for each in runs])
    connection.execute(insert(spend_day), _totals(rows))


def _totals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        total = found.setdefault(row["day"], {"day": row["day"], "reserved_micro": 0, "settled_micro": 0})
        is_open = row["settled_at"] is None
        total["reserved_micro" if is_open else "settled_micro"] += row[
            "micro" if is_open else "settled_micro"
        ]
    return list(found.values())


def _fill_meter(connection: Connection, prefix: str) -> None:
    tables = make_meter(connection, prefix, fences=prefix != BARE)
    rows = []
    for number, fate in itertools.product(range(0, 12, 3), range(4)):
        over = {"state": "released", "outcome": "released", "settled_at": NOW // MILLION + number * 500}
        more: dict[str, Any] = over if fate == 3 else {}
        if prefix != BARE:
            evidence = '{"ticket":7}' if fate == 2 else None
            more = more | {"fenced": fate in {1, 2}, "evidence_json": evidence}
        rows.append(meter_values(number, **more) | {"operation_id": f"unit-{number}-{fate}"})
    connection.execute(insert(tables.reservations), rows)
    accounts = [
        {
            "account_id": f"account-{n}",
            "period": period,
            "allowance": 9,
            "used": 1,
            "reserved": 3,
            "updated_at": 5,
        }
        for n in range(3)
        for period in ("2026-09", "2026-10", "window")
    ]
    connection.execute(insert(tables.meter), accounts)


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored reservation, in the words of the lists."""

    kind: ReservationKind
    source: str
    id: str
    at: int
    order: Any
    state: ReservationState
    owner: str
    fenced: bool
    deferred: bool
    row: Any

    @property
    def address(self) -> tuple[str, str, str]:
        """What lists name it by."""
        return (self.kind.value, self.source, self.id)


def kept(harness: Harness) -> list[Kept]:
    """Every stored reservation."""
    now = to_ns(harness.now())
    schema = "public." if harness.kind == "postgresql" else ""
    with harness.raw() as connection:
        found = [_of_day(row, now) for row in connection.execute(select(reservation))]
        for prefix, tables in ((DEFAULT_PREFIX, meter_tables()), (BARE, bare_tables(BARE))):
            rows = connection.execute(select(tables.reservations))
            found += [_of_meter(prefix, row, now) for row in rows]
        for table in (SPOTS, PAIRS):
            held = connection.execute(select(table).where(table.c.state == "reserved"))
            found += [_of_table(f"{schema}{table.name}", row, now) for row in held]
    return found


def _of_day(row: Any, now: int) -> Kept:
    state = S.SETTLED if row.settled_at is not None else _word(row.due_at <= now, row.require_fence)
    deferred = row.deferrals > 0
    return Kept(K.DAY, "", row.id, row.due_at, (row.id,), state, row.kind, row.require_fence, deferred, row)


def _of_meter(prefix: str, row: Any, now: int) -> Kept:
    fenced, deferred = getattr(row, "fenced", False), getattr(row, "evidence_json", None) is not None
    held = row.state == "reserved"
    at = (row.expires_at if held else row.settled_at) * MILLION
    state = _word(at <= now, fenced) if held else S.SETTLED
    of = (state, row.account_id, fenced, deferred, row)
    return Kept(K.METER, prefix, row.operation_id, at, (row.operation_id,), *of)


def _of_table(name: str, row: Any, now: int) -> Kept:
    key = tuple(row)[: len(row) - 3]
    shown = key[0] if len(key) == 1 else json.dumps([str(part) for part in key])
    state = _word(row.reserve_deadline <= now, fenced=False)
    return Kept(K.TENTATIVE, name, shown, row.reserve_deadline, key, state, row.txn_id, False, False, row)


def _word(due: bool, fenced: bool) -> ReservationState:
    if fenced:
        return S.DUE if due else S.FENCED
    return S.EXPIRED if due else S.OPEN


def expected(found: list[Kept], wanted: ReservationFilter, now: datetime) -> list[tuple[str, str, str]]:
    """The addresses that a filter lists, in order."""
    settled = wanted.state is S.SETTLED
    rows = [each for each in found if _matches(each, wanted, to_ns(now))]
    rows.sort(key=lambda each: (each.kind.value, each.source, each.order), reverse=settled)
    rows.sort(key=lambda each: (-each.at if settled else each.at, each.kind.value, each.source))
    return [each.address for each in rows]


def _matches(each: Kept, wanted: ReservationFilter, now: int) -> bool:
    row = each.row
    return (
        (each.state is not S.SETTLED if wanted.state is None else each.state is wanted.state)
        and (wanted.kind is None or each.kind is wanted.kind)
        and (wanted.owner is None or each.owner == wanted.owner)
        and (wanted.day is None or row.day == wanted.day)
        and (wanted.thread_id is None or row.thread_id == wanted.thread_id)
        and (not wanted.leased or (row.lease_until is not None and row.lease_until > now))
        and (wanted.prefix is None or each.source == wanted.prefix)
        and (wanted.table is None or each.source.removeprefix("public.") == wanted.table)
    )


def fences_expected(found: list[Kept], wanted: FenceFilter) -> list[tuple[str, str, str]]:
    """The same for fences."""
    rows = [
        each
        for each in found
        if each.fenced
        and (each.state in {S.FENCED, S.DUE} if wanted.state is None else each.state is wanted.state)
        and (wanted.kind is None or each.kind is wanted.kind)
        and (wanted.owner is None or each.owner == wanted.owner)
        and (wanted.thread_id is None or each.row.thread_id == wanted.thread_id)
        and (wanted.deferred is None or each.deferred == wanted.deferred)
        and (wanted.prefix is None or each.source == wanted.prefix)
    ]
    rows.sort(key=lambda each: (each.at, each.kind.value, each.source, each.order))
    return [each.address for each in rows]
