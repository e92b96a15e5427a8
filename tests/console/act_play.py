"""Stores for the changing commands, by the clock that the commands read, and what the audit says afterwards."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from console.acting.records import AuditQuery
from console.gateway import EngineGateway
from engine import open_store
from engine.checkpoints import Commit
from engine.spend import Deferred
from tests.support.builders import ck, claim, ev

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.acting.records import AuditRow
    from engine import Store
    from tests.support.commands import Command
    from tests.support.harness import Harness

TTL = timedelta(hours=1)


@contextmanager
def real(harness: Harness) -> Iterator[Store]:
    """The harness's store, by the clock of this machine or of its server."""
    store = open_store(harness.url, ensure_schema=False, wakeups=False, pool_size=1)
    try:
        yield store
    finally:
        store.close()


def threads(harness: Harness, *names: str, tenant: str | None = None) -> None:
    """Threads of two checkpoints that nobody holds."""
    with real(harness) as store:
        for name in names:
            held = claim(store, name, tenant=tenant, ttl=TTL)
            first = ck(f"{name}-c0", t=name, tenant=tenant)
            store.checkpoints.commit(name, Commit(held.token, checkpoint=first, events=[ev("begun")]))
            chain_last(store, name, held.token, tenant)
            store.checkpoints.release(name, held.token)


def chain_last(store: Store, name: str, token: int, tenant: str | None) -> None:
    """The second checkpoint, over the first."""
    last = ck(f"{name}-c1", f"{name}-c0", t=name, tenant=tenant)
    store.checkpoints.commit(name, Commit(token, checkpoint=last, events=[ev("went on")]))


def claims(harness: Harness, *names: str) -> None:
    """Claims that are held for an hour, on ids without a checkpoint."""
    with real(harness) as store:
        for name in names:
            claim(store, name, "worker-1", ttl=TTL)


def fenced(harness: Harness, micro: int = 300_000) -> str:
    """A day reservation that no default may decide, due since its check; its id."""
    now = datetime.now(UTC)
    with real(harness) as store:
        made = store.days.reserve(
            kind="call",
            micro=micro,
            at=now - timedelta(minutes=2),
            expires=now - timedelta(minutes=1),
            cap_micro=10**9,
            require_fence=True,
            thread_id="thr-1",
        )
        store.days.defer(made, now - timedelta(seconds=30), {"asked": "provider"})
    return made


def consumed(_question: object) -> Any:
    """A resolver that says that all was spent."""
    from engine.spend import Consumed

    return Consumed()


def unsure(_question: object) -> Any:
    """A resolver that does not know yet."""
    return Deferred(datetime.now(UTC) + timedelta(hours=1), {"says": "later"})


@contextmanager
def looking(harness: Harness) -> Iterator[EngineGateway]:
    """The reading side, to compare with."""
    gateway = EngineGateway(harness.url)
    try:
        yield gateway
    finally:
        gateway.close()


def audited(harness: Harness, object_kind: str | None = None, object_id: str | None = None) -> list[AuditRow]:
    """Entries, oldest first."""
    with looking(harness) as gateway:
        return list(reversed(gateway.audit(AuditQuery(object_kind, object_id), None, 200).rows))


def planned(holdwatch: Command, *words: str) -> Any:
    """A plan that a command stored, as its document."""
    said = holdwatch(*words, "--json")
    assert (said.code, said.err) == (0, ""), said
    return said.document


def executed(holdwatch: Command, url: str, plan: Any, *more: str) -> Any:
    """What executing a plan by the command came to."""
    return holdwatch(
        "execute", url, plan["id"], "--reason", "INC-1", "--confirm", plan["phrase"], "--json", *more
    )
