"""Jobs newest first, and the results of one in the order of its items: keyset pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, Integer, bindparam, select, tuple_

from engine.arguments import member
from engine.clock import from_ns
from engine.database.columns import Identifier
from engine.database.statement import Statement
from engine.desk.jobs.model import ItemOutcome, JobItem, JobState
from engine.desk.jobs.rows import JOBS, job_known, job_of
from engine.desk.moment import moment
from engine.desk.tables import job, job_item, plan_item
from engine.desk.views import MAX_PAGE, Page
from engine.paging import MAX_NUMBER, check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from engine.desk.jobs.model import Job

_MOST: Final = bindparam("most", type_=Integer)
_BEFORE: Final = tuple_(bindparam("created", type_=BigInteger), bindparam("id", type_=Identifier))
_BY_TIME: Final = (
    JOBS.where(tuple_(job.c.created_at, job.c.job_id) < _BEFORE)
    .order_by(job.c.created_at.desc(), job.c.job_id.desc())
    .limit(_MOST)
)
_JOBS: Final = Statement(_BY_TIME)
_JOBS_IN: Final = Statement(_BY_TIME.where(job.c.state == bindparam("wanted_state")))
_ITEMS_OF: Final[Select[Any]] = (
    select(*job_item.c, plan_item.c.object_id)
    .join_from(
        job_item, plan_item, (plan_item.c.n == job_item.c.n) & (plan_item.c.plan_id == bindparam("of_plan"))
    )
    .where(job_item.c.job_id == bindparam("of_job"), job_item.c.n > bindparam("behind", type_=Integer))
    .order_by(job_item.c.n)
    .limit(_MOST)
)
_ITEMS: Final = Statement(_ITEMS_OF)
_ITEMS_WITH: Final = Statement(_ITEMS_OF.where(job_item.c.outcome == bindparam("wanted_outcome")))


def jobs(connection: Connection, state: JobState | None, after: str | None, limit: int) -> Page[Job]:
    """At most `limit` (1 to 200) jobs, newest first; of one state where one is named."""
    check_limit(limit, MAX_PAGE)
    created, job_id = (MAX_NUMBER, "") if after is None else decode_cursor(after, int, str)
    values = {"created": created, "id": job_id, "most": limit + 1}
    now = moment(connection)
    if state is None:
        found = _JOBS.all(connection, **values)
    else:
        found = _JOBS_IN.all(connection, **values, wanted_state=member("state", JobState, state).value)
    last = found[limit - 1] if len(found) > limit else None
    following = None if last is None else encode_cursor(last.created_at, last.job_id)
    return Page(tuple(map(job_of, found[:limit])), following, from_ns(now))


def job_items(
    connection: Connection, job_id: str, outcome: ItemOutcome | None, after: str | None, limit: int
) -> Page[JobItem]:
    """At most `limit` (1 to 200) results of one job by number; of one outcome where one is named.

    JobRefused where there is no such job.
    """
    check_limit(limit, MAX_PAGE)
    (behind,) = (0,) if after is None else decode_cursor(after, int)
    found_job = job_known(connection, job_id)
    values = {"of_job": job_id, "of_plan": found_job.plan_id, "behind": behind, "most": limit + 1}
    now = moment(connection)
    if outcome is None:
        found = _ITEMS.all(connection, **values)
    else:
        wanted = member("outcome", ItemOutcome, outcome).value
        found = _ITEMS_WITH.all(connection, **values, wanted_outcome=wanted)
    following = encode_cursor(found[limit - 1].n) if len(found) > limit else None
    return Page(tuple(map(_item_of, found[:limit])), following, from_ns(now))


def _item_of(row: Any) -> JobItem:
    detail = {} if row.detail is None else json.loads(row.detail)
    outcome = ItemOutcome(row.outcome)
    return JobItem(row.n, row.object_id, outcome, row.operation_id, from_ns(row.at), detail)
