"""`holdwatch events`: the newest, the next, and every one as it comes - also to a reader that goes away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from console.cli import Exit
from console.gateway.waits import held_by
from engine import open_store
from engine.checkpoints import Checkpoint, CheckpointStatus, ClaimRequest, Commit, EventDraft
from engine.checkpoints.commits import commit
from engine.checkpoints.gaps import Held
from tests.support.commands import Command
from tests.tidy.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine import Store
    from tests.support.harness import Harness

LEASE = timedelta(minutes=5)
SECONDS = 30.0
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


def claimed(store: Store, thread: str, tenant: str | None = None) -> int:
    """A thread with a checkpoint; the token of its claim."""
    token = store.checkpoints.claim(thread, ClaimRequest("w", LEASE, tenant)).token
    made = Checkpoint("c", thread, "w", CheckpointStatus.RUNNING, {}, tenant=tenant)
    store.checkpoints.commit(thread, Commit(token, made))
    return token


def emit(store: Store, thread: str, token: int, *kinds: str, payload: Any = None) -> None:
    """One event for each kind."""
    drafts = [EventDraft(kind, {"big": BIG} if payload is None else payload, "w") for kind in kinds]
    store.checkpoints.commit(thread, Commit(token, events=drafts))


def test_the_newest_come_oldest_first(store: Store, harness: Harness, holdwatch: Command) -> None:
    a, b = claimed(store, "a", "acme"), claimed(store, "b")
    emit(store, "a", a, "one", "two")
    emit(store, "b", b, "three")
    found = holdwatch("events", harness.url, "--json", "--limit", "2").documents
    assert [(row["thread_id"], row["seq"], row["kind"]) for row in found] == [
        ("a", 2, "two"),
        ("b", 1, "three"),
    ]
    assert [row["tenant"] for row in found] == ["acme", None]
    assert [row["payload"] for row in found] == [{"big": BIG}] * 2
    said = holdwatch("events", harness.url)
    assert (said.code, said.err, len(said.lines)) == (Exit.OK, "", 3)
    assert said.lines[0].endswith(f'token {a}  {{"big":{BIG}}}')


FILTERS: list[tuple[list[str], list[str]]] = [
    (["--tenant", "acme"], ["one", "two"]),
    (["--no-tenant"], ["three"]),
    (["--all-tenants"], ["one", "two", "three"]),
    (["--thread", "a"], ["one", "two"]),
    (["--kind", "two", "--kind", "three"], ["two", "three"]),
    (["--thread", "a", "--kind", "two"], ["two"]),
    (["--thread", "nobody"], []),
]


@pytest.mark.parametrize(("options", "kinds"), FILTERS)
def test_every_filter_both_ways(
    store: Store, harness: Harness, holdwatch: Command, options: list[str], kinds: list[str]
) -> None:
    a, b = claimed(store, "a", "acme"), claimed(store, "b")
    emit(store, "a", a, "zero")
    whole = holdwatch("events", harness.url, "--json", *options[: 2 * ("--thread" in options)]).documents
    store.checkpoints.compact_events("a", 2)
    emit(store, "a", a, "one", "two")
    emit(store, "b", b, "three")
    newest = holdwatch("events", harness.url, "--json", *options).documents
    assert [row["kind"] for row in newest] == kinds
    if whole:
        after = holdwatch("events", harness.url, "--json", *options, "--after", whole[-1]["position"])
        assert [row["kind"] for row in after.documents] == kinds


def test_the_next_ones_leave_none_out(store: Store, harness: Harness, holdwatch: Command) -> None:
    token = claimed(store, "t")
    emit(store, "t", token, *map(str, range(7)))
    for scope in ([], ["--thread", "t"]):
        (first,) = holdwatch("events", harness.url, "--json", "--limit", "1", *scope).documents
        assert first["kind"] == "6"
        seen, after = [], ""
        for number in range(7, 12):
            emit(store, "t", token, str(number))
        after = first["position"]
        while True:
            found = holdwatch(
                "events", harness.url, "--json", "--limit", "2", "--after", after, *scope
            ).documents
            if not found:
                break
            seen += [row["kind"] for row in found]
            after = found[-1]["position"]
        assert seen == [str(number) for number in range(7, 12)]
        store.checkpoints.delete_thread("t", token)
        token = claimed(store, "t")
        emit(store, "t", token, "6")


def test_a_long_payload_comes_whole(store: Store, harness: Harness, holdwatch: Command) -> None:
    token = claimed(store, "t")
    emit(store, "t", token, "long", payload={"x": "\u00e9" * 20_000, "n": 2**70})
    said = holdwatch("events", harness.url, "--json")
    assert said.out.isascii()
    (row,) = said.documents
    assert row["payload"] == {"x": "\u00e9" * 20_000, "n": 2**70}
    assert len(holdwatch("events", harness.url).lines[0]) < 5_000


def test_hostile_kinds_and_payloads_are_only_text(store: Store, harness: Harness, holdwatch: Command) -> None:
    token = claimed(store, "t\x1b[2J")
    emit(store, "t\x1b[2J", token, "k\x9b\u202e", payload={"x": "\x1b]0;title\x07"})
    for options in ([], ["--json"]):
        said = holdwatch("events", harness.url, *options)
        assert not set(said.out) & set("\x1b\x9b\u202e\x07")


def test_questions_that_are_refused(store: Store, harness: Harness, holdwatch: Command) -> None:
    for options in (["--after", "nowhere"], ["--tenant", "x" * 600], ["--thread", "x" * 600]):
        said = holdwatch("events", harness.url, *options)
        assert (said.code, said.out) == (Exit.REFUSED, "")
    for options in (["--limit", "0"], ["--limit", "501"], ["--tenant", "a", "--no-tenant"]):
        assert holdwatch("events", harness.url, *options).code == Exit.USAGE


def test_a_commit_under_way_is_waited_for_and_named(
    postgres_harness: Harness, holdwatch: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.read.events.PATIENCE", 0.1)
    with open_store(postgres_harness.url) as store, store.engine.connect() as connection:
        slow, fast = claimed(store, "slow"), claimed(store, "fast")
        with connection.begin():
            commit(connection, "slow", Commit(slow, events=[EventDraft("slow", {}, "w")]))
            emit(store, "fast", fast, "fast")
            said = holdwatch("events", postgres_harness.url, "--json")
            assert (said.code, said.out) == (Exit.OK, "")
            assert "events from #1 on wait for" in said.err
        assert [row["kind"] for row in holdwatch("events", postgres_harness.url, "--json").documents] == [
            "slow",
            "fast",
        ]


def test_a_wait_is_told_in_words() -> None:
    assert held_by(None) is None
    assert (
        held_by(Held(1_234, 0.5, None)) == "events from #1,234 on wait for a transaction that has not ended"
    )
    assert held_by(Held(7, 3.0, 4242)) == "events from #7 on wait for server process 4242"


@contextmanager
def following(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`holdwatch events` in a process of its own, killed in the end if it still lives."""
    process = subprocess.Popen(
        [sys.executable, "-m", "console", "events", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=SECONDS)


def read_one(process: subprocess.Popen[str]) -> Any:
    """The next document of a process."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate(timeout=SECONDS)
    return json.loads(line)


@pytest.mark.parametrize("scope", [[], ["--thread", "t"], ["--tenant", "acme", "--kind", "k"]])
def test_a_follower_prints_what_comes_until_it_is_told_to_stop(
    store: Store, harness: Harness, scope: list[str]
) -> None:
    token = claimed(store, "t", "acme")
    emit(store, "t", token, "k", payload=0)
    with following(harness.url, "--follow", "--json", *scope) as process:
        assert read_one(process)["payload"] == 0
        for number in range(1, 4):
            emit(store, "t", token, "k", payload=number)
            event = read_one(process)
            assert (event["payload"], event["seq"]) == (number, number + 1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
        assert (process.returncode, out, err) == (Exit.INTERRUPTED, "", "")


def test_a_follower_begins_on_an_empty_store_and_after_a_position(store: Store, harness: Harness) -> None:
    token = claimed(store, "t")
    with following(harness.url, "--follow", "--json", "--limit", "1") as process:
        emit(store, "t", token, "one")
        first = read_one(process)
        assert first["kind"] == "one"
        emit(store, "t", token, "two")
        assert read_one(process)["kind"] == "two"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=SECONDS) == Exit.OK
    with following(harness.url, "--follow", "--json", "--after", first["position"]) as process:
        assert read_one(process)["kind"] == "two"


@pytest.mark.parametrize("options", [["--json"], ["--json", "--follow"], []])
def test_a_reader_that_goes_away_ends_it_without_a_word(
    store: Store, harness: Harness, options: list[str]
) -> None:
    token = claimed(store, "t")
    emit(store, "t", token, *(f"{number:05}" for number in range(500)), payload="x" * 400)
    with following(harness.url, "--limit", "500", *options) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.stdout.close()
        emit(store, "t", token, "more")
        assert process.wait(timeout=SECONDS) == Exit.OK
        assert process.stderr is not None
        assert process.stderr.read() == ""
