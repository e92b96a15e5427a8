"""Threads for the registry's cases: made in one call, listed as plain ids."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from engine.checkpoints import Commit, Origin
from tests.support.builders import ck, claim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.checkpoints import Checkpointer, ThreadPage, ThreadQuery
    from tests.support.harness import Harness

SECOND = timedelta(seconds=1)
MAX_PAGES = 1000
"""More pages than any case walks."""


def put(
    checkpointer: Checkpointer,
    t: str,
    name: str = "c1",
    parent: str | None = None,
    *,
    token: int | None = None,
    tenant: str | None = None,
    origin: str | None = None,
    metadata: Mapping[str, str | None] | None = None,
    **more: Any,
) -> int:
    """Commit one checkpoint of `t`, claiming the thread first unless a token is given; the token."""
    held = claim(checkpointer, t, tenant=tenant).token if token is None else token
    made = ck(name, parent, t=t, tenant=tenant, origin=None if origin is None else Origin(origin), **more)
    checkpointer.commit(t, Commit(held, checkpoint=made, metadata=metadata or None))
    return held


def in_turn(harness: Harness, *names: str, every: timedelta = SECOND, **more: Any) -> dict[str, int]:
    """Put each thread, `every` apart, the first one now; their tokens. The claims are still live."""
    tokens = {}
    for place, name in enumerate(names):
        if place:
            harness.advance(every)
        tokens[name] = put(harness.checkpoints, name, **more)
    return tokens


def ids(page: ThreadPage) -> list[str]:
    """The ids of a page, in its order."""
    return [found.thread_id for found in page.threads]


def walk(checkpointer: Checkpointer, query: ThreadQuery) -> list[list[str]]:
    """The ids of every page of the query."""
    pages = []
    for _ in range(MAX_PAGES):
        page = checkpointer.threads(query)
        pages.append(ids(page))
        if page.next is None:
            return pages
        query = replace(query, after=page.next)
    raise AssertionError(f"more than {MAX_PAGES} pages")


def walk_incomplete(checkpointer: Checkpointer, tenant: str | None, limit: int) -> list[list[str]]:
    """The ids of every page of the owner's incomplete threads."""
    pages: list[list[str]] = []
    after = None
    for _ in range(MAX_PAGES):
        page = checkpointer.incomplete(tenant, after=after, limit=limit)
        pages.append(ids(page))
        if page.next is None:
            return pages
        after = page.next
    raise AssertionError(f"more than {MAX_PAGES} pages")
