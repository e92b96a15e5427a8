"""Text that would harm a terminal, in every column that an agent can write, through the engine's public API.

`PIECES` are valid ids; `body` puts all of them, and numbers that floats round, into one JSON value.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest
from sqlalchemy import text

from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    EffectDraft,
    EventDraft,
    Origin,
    PendingWrite,
)
from engine.desk.actor import Actor, Mandate
from engine.errors import StaleClaim
from engine.reserved import convention_columns_ddl
from engine.spend import Deferred
from engine.spend.day import OperationAdmission

if TYPE_CHECKING:
    from engine.store import Store
    from tests.support.harness import Harness

STOLEN: Final = "ZXZpbA=="
"""What the pieces try to put into the clipboard."""
PIECES: Final = (
    "\x1b[2J\x1b[1;1H\x1b[31mcsi",
    f"\x1b]52;c;{STOLEN}\x07clipboard",
    "\x1b]0;owned\x07\x1bP$q\x1b\\\x1b_x\x1b\\title",
    f"\x9b31m\x9d52;c;{STOLEN}\x9cc1\x90\x85",
    "\x07\x08\x0b\x0c\x0e\x0f\r\n\t\x7fc0",
    "[/]close",
    "[red]tag[/red][@click=app.quit]q[/]",
    "[[open [/ [bold",
    "\u202egnp.exe\u2066x\u2069\u200f\u061cbidi",
    "e" + "\u0301" * 60 + "combining",
    "👩‍👩‍👧‍👦🇩🇪👍🏽\U0001f3f4\U000e0067emoji",
    "漢字\uff21\u1100\u1161wide",
    "a\u200b\u200d\ufeff\u2060\u180ezero",
    "\ue000\U0010fffd\ufdd0\u0378\u2028\u2029private",
    "9007199254740993",
    "';--\"\\\\%s{}$(id)`id`",
    "long" + "x" * 480,
)
EXACT: Final = 9_007_199_254_740_993
"""One more than the integers that a double tells apart."""
LONG_LINE: Final = "\x1b[31m" + "x" * 10_000_000
TOKENS: Final = timedelta(hours=1)
MOST: Final = 2**53 - 1
MICRO: Final = 419_430_400_000_001
"""Dollars to the last millionth, of which every piece holds as many without passing the most."""
HOSTILE_TABLE: Final = "evil\x1b]52;c;[red]"


def body(*more: Any) -> dict[str, Any]:
    """All pieces as keys and as values, and the numbers."""
    words: dict[str, Any] = {piece: {"nested": [piece]} for piece in PIECES}
    return {"exact": EXACT, "sum": 0.1 + 0.2, "huge": 10**60, "tiny": 5e-324, "more": list(more)} | words


def fill(harness: Harness) -> None:
    """A thread for each piece, and everything else that lists show; some of it over, some due."""
    store = harness.store
    for number, piece in enumerate(PIECES):
        _thread(store, number, piece)
    _money(harness)
    _table(harness)
    harness.advance(timedelta(seconds=2))
    for number, piece in enumerate(PIECES):
        if number % 3 == 2:
            _refused(store, piece)
    _deleted(store)
    _acted(store)


def thread_of(piece: str) -> str:
    """The thread that is called so."""
    return piece


def _thread(store: Store, number: int, piece: str) -> None:
    threads, thread = store.checkpoints, thread_of(piece)
    ttl = timedelta(seconds=1) if number % 3 else timedelta(hours=1)
    token = threads.claim(thread, ClaimRequest(piece, ttl, piece)).token
    origin = Origin(thread_of(PIECES[0])) if number else None
    checkpoint = Checkpoint(
        piece, thread, piece, list(CheckpointStatus)[number % 4], body(), tenant=piece, origin=origin
    )
    threads.commit(
        thread,
        Commit(
            token,
            checkpoint,
            writes=[PendingWrite(piece, piece, piece, body())],
            events=[EventDraft(each, body(), each, each, each, each) for each in _kinds(piece)],
            effects=[EffectDraft(piece, body())],
            metadata={piece[:60]: piece, "title": piece},
        ),
    )
    if number == 1:
        threads.commit(thread, Commit(token, events=[EventDraft("line", {"text": LONG_LINE}, piece)]))
    _wish(store, number, piece)


def _kinds(piece: str) -> tuple[str, ...]:
    return PIECES if piece == PIECES[0] else (piece,)


def _wish(store: Store, number: int, piece: str) -> None:
    store.queue.enqueue(thread_of(piece), body(), tenant=piece)
    if number % 2:
        return
    leased = store.queue.lease(piece, timedelta(hours=1))
    assert leased is not None
    store.queue.record_run(leased.id, leased.lease_token, piece)
    if number % 4 == 0:
        store.queue.kill(leased.id, leased.lease_token, f"{piece}\n{LONG_LINE[:5_000] if number else piece}")


def _money(harness: Harness) -> None:
    store, now = harness.store, harness.now()
    later = now + TOKENS
    meter = store.meter(
        allowance_for=lambda *_: MOST,
        period_of=lambda _now, account: account,
        lease=timedelta(seconds=1),
        resolve_expired=lambda _: Deferred(later, evidence()),
        require_shared=False,
    )
    for piece in PIECES:
        made = store.days.reserve(
            kind=piece, micro=MICRO, at=now, expires=now + timedelta(seconds=1), cap_micro=MOST,
            require_fence=True, thread_id=thread_of(piece),
        )  # fmt: skip
        assert store.days.defer(made, later, evidence())
        admission = OperationAdmission(
            piece, kind=piece, micro=1000, run_micro=300, at=now, expires=later, lease_until=later,
            cap_micro=MOST, max_runs=3, thread_id=thread_of(piece),
        )  # fmt: skip
        store.days.admit_operation(admission)
        meter.reserve(piece, piece, require_fence=True, now=now)
    meter.reconcile(now=now + timedelta(seconds=2))


def evidence() -> dict[str, Any]:
    """As `body`, within what evidence may hold."""
    return {"exact": EXACT, "sum": 0.1 + 0.2} | {piece[:100]: piece[:100] for piece in PIECES}


def _table(harness: Harness) -> None:
    """Another program's table, named and keyed as it likes."""
    quoted = '"' + HOSTILE_TABLE.replace('"', '""') + '"'
    deadline = 1
    with harness.raw() as connection:
        connection.exec_driver_sql(
            f"CREATE TABLE {quoted} (k TEXT PRIMARY KEY, {convention_columns_ddl(harness.kind)})"
        )
        for piece in PIECES:
            connection.exec_driver_sql(
                f"INSERT INTO {quoted} (k, txn_id, state, reserve_deadline) VALUES (?, ?, 'reserved', ?)",
                (piece, piece, deadline),
            )


def _refused(store: Store, piece: str) -> None:
    """Somebody else takes the thread, and the first holder comes too late."""
    claim = store.checkpoints.claim(thread_of(piece), ClaimRequest(piece + "2", timedelta(hours=1), piece))
    late = Commit(claim.token - 1, events=[EventDraft("late", {}, piece)])
    with pytest.raises(StaleClaim):
        store.checkpoints.commit(thread_of(piece), late)


def _deleted(store: Store) -> None:
    for piece in PIECES:
        thread = f"{piece[:400]}+"
        token = store.checkpoints.claim(thread, ClaimRequest(piece, TOKENS)).token
        store.checkpoints.commit(
            thread, Commit(token, Checkpoint("c", thread, piece, CheckpointStatus.RUNNING, {}))
        )
        store.checkpoints.delete_thread(thread, token)


def _acted(store: Store) -> None:
    """What operators did, and how they and their machines are called: plans, a job of each kind of end, the audit."""
    for number, piece in enumerate(PIECES):
        thread = f"{piece[:400]}!"
        store.checkpoints.claim(thread, ClaimRequest(piece, TOKENS, piece))
        actor = Actor(piece[:60], piece[:60], piece[:60], piece[:60])
        plan = store.desk.plan_release([thread, f"{piece[:400]}?"], actor=actor, environment=piece[:60])
        if number % 3 == 0:
            store.desk.cancel_plan(plan.plan_id, _mandate(actor, piece))
            continue
        job = store.desk.execute(plan.plan_id, _mandate(actor, piece), plan.phrase)
        if number % 3 == 1:
            store.desk.runner(piece).run(job.job_id)
        else:
            store.desk.pause(job.job_id, _mandate(actor, piece))


def _mandate(actor: Actor, piece: str) -> Mandate:
    return Mandate(actor, piece, command=f"holdwatch plan release {piece}")


def break_encoding(harness: Harness) -> None:
    """Lone surrogates, which the engine refuses, as another program may have left them in JSON text."""
    with harness.raw() as connection:
        found = connection.execute(text("SELECT max(position) FROM event WHERE kind <> 'line'")).scalar_one()
        broken = r'{"half": "\ud800 and \udfff", "\udc00": 1}'
        connection.execute(
            text("UPDATE event SET payload = :broken WHERE position = :found"),
            {"broken": broken, "found": found},
        )
