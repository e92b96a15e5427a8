"""The statements of a tail: a page after a position, and the newest positions (ruling 23, ruling 58)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, false, func, literal_column, or_, select

from engine.checkpoints.model import ANY, Tenancy, Unset
from engine.checkpoints.tables import NO_TENANT, event, tenant_key, thread
from engine.database.columns import check_id, check_optional_id
from engine.database.snapshot import boundary, oldest_running
from engine.database.statement import Statement
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection
    from sqlalchemy.sql.elements import BindParameter, ColumnElement

WINDOW: Final = 5_000
"""Positions that one filtered query looks at (ruling 58)."""
MAX_KINDS: Final = 50

_POSITION = event.c.position
_COLUMNS = tuple(column for column in event.c if column.key != "position")
_AFTER = bindparam("after", type_=_POSITION.type)
_MOST: BindParameter[int] = bindparam("most")
_SNAPSHOT = (oldest_running().label("oldest"), boundary().label("boundary"))

_NEWEST = Statement(select(_POSITION.label("at"), *_SNAPSHOT).order_by(_POSITION.desc()).limit(_MOST))
_EVERY = Statement(
    select(_POSITION.label("at"), *_COLUMNS, *_SNAPSHOT)
    .where(_POSITION > _AFTER)
    .order_by(_POSITION)
    .limit(_MOST)
)


@dataclass(frozen=True, slots=True)
class TailFilter:
    """Which events a tail delivers; `kinds` None is every kind. No checkpoint yet means no tenant."""

    tenant: Tenancy = ANY
    kinds: frozenset[str] | None = None

    @classmethod
    def of(cls, tenant: Tenancy, kinds: Iterable[str] | None) -> TailFilter:
        """Checked: ids that can be stored, and at most `MAX_KINDS` kinds."""
        if isinstance(kinds, str):
            raise ValidationError("kinds", ("is one string; give a collection of kinds",))
        wanted = None if kinds is None else frozenset(check_id("kinds", kind) for kind in kinds)
        if wanted is not None and len(wanted) > MAX_KINDS:
            raise ValidationError("kinds", (f"has {len(wanted)} kinds; at most {MAX_KINDS} are allowed",))
        if not isinstance(tenant, Unset):
            check_optional_id("tenant", tenant)
        return cls(tenant, wanted)

    @property
    def searches(self) -> bool:
        """Whether anything is left out, so that positions must be searched."""
        return self.tenant is not ANY or self.kinds is not None

    def statement(self) -> Statement:
        """A page after `after`: `at`, the event's columns (NULL where it does not match), the snapshot."""
        return _searching(self) if self.searches else _EVERY


def newest(connection: Connection, most: int) -> list[Any]:
    """The newest positions as `at`, descending, with the snapshot."""
    return _NEWEST.all(connection, most=most)


def _searching(wanted: TailFilter) -> Statement:
    """The next `WINDOW` positions, of which the first `most` that match bring their events.

    The window's size is a literal and the tenant a look-up per row, so that the planner knows it for a
    small one.
    """
    tenant = select(thread.c.tenant_key).where(thread.c.thread_id == event.c.thread_id).scalar_subquery()
    looked = (
        select(_POSITION, event.c.kind, tenant.label("tenant_key"))
        .where(_POSITION > _AFTER)
        .order_by(_POSITION)
        .limit(literal_column(str(WINDOW)))
        .cte("looked")
    )
    found = (
        select(looked.c.position)
        .where(_matches(wanted, looked.c))
        .order_by(looked.c.position)
        .limit(_MOST)
        .cte("found")
    )
    rows = looked.outerjoin(found, found.c.position == looked.c.position).outerjoin(
        event, found.c.position == _POSITION
    )
    return Statement(
        select(looked.c.position.label("at"), *_COLUMNS, *_SNAPSHOT)
        .select_from(rows)
        .order_by(looked.c.position)
    )


def _matches(wanted: TailFilter, row: Any) -> ColumnElement[bool]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.kinds is not None:
        conditions.append(or_(false(), *(row.kind == kind for kind in sorted(wanted.kinds))))
    if not isinstance(wanted.tenant, Unset):
        conditions.append(func.coalesce(row.tenant_key, NO_TENANT) == tenant_key(wanted.tenant))
    return and_(*conditions)
