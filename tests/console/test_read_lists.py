"""`holdwatch threads`, `thread`, `incomplete`, `children`, `tombstones`, `claims` and `queue` on real stores."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from console.cli import Exit
from engine import open_store
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
from engine.desk import ClaimFilter, ThreadFilter
from engine.errors import StaleClaim
from tests.support.commands import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine import Store
    from tests.support.harness import Harness

LEASE = timedelta(minutes=5)
HOSTILE = "evil\x1b]52;c;eA==\x07[/]\u202e"
BIG = 9_007_199_254_740_993


@pytest.fixture
def store(harness: Harness) -> Iterator[Store]:
    """A writer with the clock that the command has."""
    with open_store(harness.url) as opened:
        yield opened


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def work(
    store: Store,
    thread: str,
    *,
    tenant: str | None = None,
    parent: str | None = None,
    ttl: timedelta = LEASE,
    status: CheckpointStatus = CheckpointStatus.RUNNING,
) -> int:
    """One agent's step on a thread, under a claim that it keeps; the token."""
    claim = store.checkpoints.claim(thread, ClaimRequest(f"w-{thread}", ttl, tenant))
    checkpoint = Checkpoint(
        id=f"ck-{thread}",
        thread_id=thread,
        run_id=f"w-{thread}",
        status=status,
        snapshot={"n": BIG},
        tenant=tenant,
        origin=None if parent is None else Origin(parent),
    )
    store.checkpoints.commit(
        thread,
        Commit(
            claim.token,
            checkpoint,
            writes=(PendingWrite(checkpoint.id, "task", "node", {"w": BIG}),),
            events=(EventDraft("step", {"n": BIG}, f"w-{thread}"),),
            effects=(EffectDraft("mail", {"sent": True}),),
            metadata={"kind": "chat"},
        ),
    )
    return claim.token


def pages(holdwatch: Command, *arguments: str) -> list[Any]:
    """The rows of every page of two, put together."""
    rows: list[Any] = []
    after: list[str] = []
    for _ in range(100):
        page = holdwatch.json(*arguments, "--limit", "2", *after)
        assert page["as_of"].endswith("Z")
        rows += page["rows"]
        if page["next"] is None:
            return rows
        after = ["--after", page["next"]]
    raise AssertionError("the pages do not end")


def test_threads_are_paged_as_the_desk_lists_them(store: Store, harness: Harness, holdwatch: Command) -> None:
    for name in ("a", "b", "c", HOSTILE, "e"):
        work(store, name, tenant="acme" if name in "ab" else None)
    rows = pages(holdwatch, "threads", harness.url)
    desk = {row.thread_id: row for row in store.desk.threads(ThreadFilter()).rows}
    assert [row["thread_id"] for row in rows] == list(desk)
    for row in rows:
        kept = desk[row["thread_id"]]
        assert (row["status"], row["token"], row["tenant"]) == ("running", kept.token, kept.tenant)
        assert datetime.fromisoformat(row["updated_at"]) == kept.updated_at
        assert row["updated_at"].endswith("Z")
        assert 0 < row["lease_left_seconds"] <= LEASE.total_seconds()
    assert holdwatch.json("threads", harness.url, "--count") == {"count": 5, "more": False}


FILTERS: list[tuple[list[str], list[str]]] = [
    (["--tenant", "acme"], ["b", "a"]),
    (["--no-tenant"], ["c"]),
    (["--all-tenants"], ["child", "c", "b", "a"]),
    (["--status", "suspended"], ["b"]),
    (["--status", "SUSPENDED", "--status", "running", "--tenant", "acme"], ["b", "a"]),
    (["--prefix", "c"], ["c", "child"]),
    (["--holder", "w-c"], ["c"]),
    (["--since", "1h", "--tenant", "acme"], ["b", "a"]),
    (["--metadata", "kind=chat", "--tenant", "acme"], ["b", "a"]),
    (["--metadata", "kind=task"], []),
]


@pytest.mark.parametrize(("options", "ids"), FILTERS)
def test_threads_are_filtered_by_the_store(
    store: Store, harness: Harness, holdwatch: Command, options: list[str], ids: list[str]
) -> None:
    work(store, "a", tenant="acme")
    work(store, "b", tenant="acme", status=CheckpointStatus.SUSPENDED)
    work(store, "c")
    work(store, "child", parent="a", tenant="acme")
    found = holdwatch.json("threads", harness.url, *options)
    assert [row["thread_id"] for row in found["rows"]] == ids
    assert holdwatch("threads", harness.url, *options, "--count").lines == [str(len(ids))]


def test_a_table_is_aligned_and_harmless(store: Store, harness: Harness, holdwatch: Command) -> None:
    work(store, HOSTILE, tenant="acme")
    work(store, "short")
    said = holdwatch("threads", harness.url)
    assert (said.code, said.err) == (Exit.OK, "")
    heading, first, second, last = said.lines
    place = heading.index("STATUS")
    assert first[place:].startswith("running")
    assert second[place:].startswith("running")
    assert second.startswith("evil<U+001B>]52;c;eA==<U+0007>[/]<U+202E>  ")
    assert last.startswith("-- 2 rows as of ")
    assert not set(said.out) & set("\x1b\x07\u202e")
    assert "more with --after" in holdwatch("threads", harness.url, "--limit", "1").lines[-1]
    assert holdwatch("incomplete", harness.url).lines[0] == "no rows"


def test_a_thread_is_shown_whole(store: Store, harness: Harness, holdwatch: Command) -> None:
    token = work(store, "t", tenant="acme", ttl=timedelta(microseconds=1))
    work(store, "child", parent="t", tenant="acme")
    entry = store.queue.enqueue("t", {"ask": BIG})
    store.checkpoints.claim("t", ClaimRequest("second", LEASE, "acme"))
    with pytest.raises(StaleClaim):
        store.checkpoints.commit("t", Commit(token))
    found = holdwatch.json("thread", harness.url, "t")
    assert (found["row"]["thread_id"], found["parent"], found["metadata"]) == ("t", None, {"kind": "chat"})
    assert (found["claim"]["holder"], found["claim"]["live"]) == ("second", True)
    assert (found["refusal"]["count"], found["refusal"]["last_token"]) == (1, token)
    assert [row["checkpoint_id"] for row in found["checkpoints"]] == ["ck-t"]
    assert [row["body"] for row in found["writes"]] == [{"w": BIG}]
    assert [row["value"] for row in found["effects"]] == [{"sent": True}]
    assert [row["thread_id"] for row in found["children"]["rows"]] == ["child"]
    assert [(row["entry_id"], row["input"]) for row in found["queue"]["rows"]] == [(entry, {"ask": BIG})]
    said = holdwatch("thread", harness.url, "t", "--tenant", "acme")
    assert said.code == Exit.OK
    for word in ("CHECKPOINTS", "PENDING WRITES", "EFFECTS", "CHILDREN", "QUEUE", "late writers"):
        assert word in said.out
    assert holdwatch.json("thread", harness.url, "child")["parent"] == "t"


def test_a_thread_of_another_tenant_is_not_shown(store: Store, harness: Harness, holdwatch: Command) -> None:
    work(store, "t", tenant="acme")
    store.queue.enqueue("t", {}, tenant="acme")
    (entry,) = store.queue.entries()
    commands = (
        ["thread", harness.url, "t"],
        ["children", harness.url, "t"],
        ["claims", harness.url, "--thread", "t"],
        ["queue", harness.url, "--entry", entry.id],
    )
    for command in commands:
        for options in (["--tenant", "beta"], ["--no-tenant"]):
            said = holdwatch(*command, *options)
            assert (said.code, said.out) == (Exit.REFUSED, ""), command
            assert "--all-tenants" in said.err
        for options in (["--tenant", "acme"], ["--all-tenants"], []):
            assert holdwatch(*command, *options, "--json").code == Exit.OK, command


def test_what_is_not_there_is_said(store: Store, harness: Harness, holdwatch: Command) -> None:
    for command in (["thread", harness.url, "no"], ["claims", harness.url, "--thread", "no"],
                    ["queue", harness.url, "--entry", "no"]):  # fmt: skip
        for options in ([], ["--json"]):
            said = holdwatch(*command, *options)
            assert (said.code, said.out) == (Exit.REFUSED, "")
            assert said.err.startswith("holdwatch: ")


def test_a_question_that_the_store_refuses(store: Store, harness: Harness, holdwatch: Command) -> None:
    for options in (["--after", "nowhere"], ["--tenant", "x" * 600], ["--metadata", f"{'k' * 80}=v"]):
        said = holdwatch("threads", harness.url, *options)
        assert (said.code, said.out) == (Exit.REFUSED, ""), options


USAGE: list[list[str]] = [
    ["threads", "{}", "--limit", "0"],
    ["threads", "{}", "--limit", "201"],
    ["threads", "{}", "--tenant", "a", "--no-tenant"],
    ["threads", "{}", "--no-tenant", "--all-tenants"],
    ["threads", "{}", "--status", "dreaming"],
    ["threads", "{}", "--since", "soon"],
    ["threads", "{}", "--metadata", "kind"],
    ["threads", "{}", "--odd"],
    ["thread", "{}"],
    ["children", "{}"],
    ["claims", "{}", "--state", "odd"],
    ["claims", "{}", "--holders", "--totals"],
    ["claims", "{}", "--totals", "--state", "live"],
    ["queue", "{}", "--state", "odd"],
    ["queue", "{}", "--entry", "e", "--depth"],
    ["queue", "{}", "--depth", "--thread", "t"],
]


@pytest.mark.parametrize("arguments", USAGE)
def test_usage_errors(sqlite_harness: Harness, holdwatch: Command, arguments: list[str]) -> None:
    said = holdwatch(*(sqlite_harness.url if word == "{}" else word for word in arguments))
    assert (said.code, said.out) == (Exit.USAGE, "")


def test_a_store_that_fails(harness: Harness, holdwatch: Command, tmp_path: Any) -> None:
    empty = harness.fresh_url()
    for command in (["threads"], ["claims"], ["queue"], ["incomplete"], ["events"], ["tombstones"]):
        assert holdwatch(command[0], empty).code == Exit.STORE_FAILURE
    assert holdwatch("threads", str(tmp_path / "none.db")).code == Exit.STORE_FAILURE


def test_the_half_done_and_children_and_the_deleted(
    store: Store, harness: Harness, holdwatch: Command
) -> None:
    for name in ("one", "two", "three"):
        work(store, name, ttl=timedelta(microseconds=1), tenant="acme")
    for name in ("z", "a"):
        work(store, name, parent="one", tenant="acme")
    token = work(store, "gone")
    store.checkpoints.delete_thread("gone", token)
    idle = [row["thread_id"] for row in pages(holdwatch, "incomplete", harness.url, "--tenant", "acme")]
    assert idle == ["one", "two", "three"]
    assert pages(holdwatch, "incomplete", harness.url, "--no-tenant") == []
    children = pages(holdwatch, "children", harness.url, "one", "--tenant", "acme")
    assert [row["thread_id"] for row in children] == ["z", "a"]
    (tomb,) = pages(holdwatch, "tombstones", harness.url)
    assert (tomb["thread_id"], tomb["continues_at"], tomb["reused"]) == ("gone", 3, False)
    assert "NUMBERING CONTINUES AT" in holdwatch("tombstones", harness.url).lines[0]


def test_claims_are_listed_with_their_verdict(store: Store, harness: Harness, holdwatch: Command) -> None:
    work(store, "live", tenant="acme")
    work(store, "over", ttl=timedelta(microseconds=1))
    store.checkpoints.claim("alone", ClaimRequest("w-alone", LEASE, "acme"))
    rows = pages(holdwatch, "claims", harness.url)
    assert [row["thread_id"] for row in rows] == [row.thread_id for row in store.desk.claims().rows]
    assert {row["thread_id"]: (row["live"], row["status"]) for row in rows} == {
        "over": (False, "idle"),
        "live": (True, "running"),
        "alone": (True, None),
    }
    assert {row["verdict"] for row in rows} == {"holder_may_be_alive"}
    for options, ids in (
        (["--state", "expired"], ["over"]),
        (["--tenant", "acme", "--state", "live"], ["live", "alone"]),
        (["--no-tenant"], ["over"]),
        (["--claim-only"], ["alone"]),
        (["--holder", "w-live"], ["live"]),
    ):
        found = holdwatch.json("claims", harness.url, *options)
        assert [row["thread_id"] for row in found["rows"]] == ids
    totals = holdwatch.json("claims", harness.url, "--totals")
    assert (totals["live"], totals["expired"]) == (
        {"count": 2, "more": False},
        {"count": 1, "more": False},
    )
    holders = pages(holdwatch, "claims", harness.url, "--holders")
    assert [(row["holder"], row["live"], row["expired"]) for row in holders] == [
        ("w-alone", 1, 0),
        ("w-live", 1, 0),
        ("w-over", 0, 1),
    ]
    assert len(store.desk.claims(ClaimFilter(holder="w-live")).rows) == 1
    assert holdwatch("claims", harness.url, "--totals").lines[:2] == ["live     2", "expired  1"]


def test_one_claim_is_explained(store: Store, harness: Harness, holdwatch: Command) -> None:
    token = work(store, "t", tenant="acme")
    found = holdwatch.json("claims", harness.url, "--thread", "t")
    assert (found["row"]["token"], found["next_token"], found["refusal"]) == (token, token + 1, None)
    assert datetime.fromisoformat(found["row"]["expires_at"]) > datetime.now(UTC)
    said = holdwatch("claims", harness.url, "--thread", "t")
    assert "verdict       holder_may_be_alive" in said.lines
    assert any(line.startswith("next token    at least") for line in said.lines)


def test_the_queue_is_listed_and_measured(store: Store, harness: Harness, holdwatch: Command) -> None:
    queue = store.queue
    first = queue.enqueue("t", {"n": BIG}, tenant="acme")
    entry = queue.lease("w", LEASE)
    assert entry is not None
    queue.record_run(first, entry.lease_token, "run-1")
    others = [queue.enqueue("t", {"n": number}) for number in range(3)]
    rows = pages(holdwatch, "queue", harness.url, "--state", "queued")
    assert [row["entry_id"] for row in rows] == others
    assert {row["entry_id"] for row in pages(holdwatch, "queue", harness.url)} == {first, *others}
    assert {row["entry_id"] for row in pages(holdwatch, "queue", harness.url, "--thread", "t")} == {
        first,
        *others,
    }
    (leased,) = pages(holdwatch, "queue", harness.url, "--tenant", "acme")
    assert (leased["state"], leased["input"], leased["last_run_id"]) == ("leased", {"n": BIG}, "run-1")
    found = holdwatch.json("queue", harness.url, "--entry", first)
    assert (found["run_ids"], found["row"]["entry_id"]) == (["run-1"], first)
    depth = holdwatch.json("queue", harness.url, "--depth")
    assert [depth[name]["count"] for name in ("queued", "due", "leased", "lapsed")] == [3, 3, 1, 0]
    assert depth["oldest_due_seconds"] > 0
    assert depth["oldest_lapsed_seconds"] is None
    assert f'{{"n":{BIG}}}' in holdwatch("queue", harness.url, "--entry", first).out
    assert holdwatch("queue", harness.url, "--depth").lines[0].split() == ["queued", "3"]


def test_numbers_pass_through_exactly(store: Store, harness: Harness, holdwatch: Command) -> None:
    store.queue.enqueue("t", {"big": 2**70, "small": 0.1 + 0.2})
    said = holdwatch("queue", harness.url, "--json")
    assert '"input":{"big":1180591620717411303424,"small":0.30000000000000004}' in said.out
    assert said.out.isascii()
    assert json.loads(said.out)["rows"][0]["input"]["big"] == 2**70
