"""What is typed after `/` and `:`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from console import commands, filters
from console.claims_model import ClaimQuery, ClaimState, HolderQuery, Stored
from console.commands import GoTo, OpenThread, Perform, ShowList, Wear
from console.model import EventQuery, IncompleteQuery, ThreadQuery, ThreadState, TombstoneQuery
from console.queue_model import QueueQuery, QueueState


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", ThreadQuery()),
        ("thr_01", ThreadQuery(prefix="thr_01")),
        ("a-b:c", ThreadQuery(prefix="a-b:c")),
        ("status:running,failed", ThreadQuery(states=frozenset({ThreadState.RUNNING, ThreadState.FAILED}))),
        ("!status:completed", ThreadQuery(states=frozenset(ThreadState) - {ThreadState.COMPLETED})),
        ("state:idle", ThreadQuery(states=frozenset({ThreadState.IDLE}))),
        ("id:status:x", ThreadQuery(prefix="status:x")),
        ('meta.title:"quarterly report"', ThreadQuery(metadata=("title", "quarterly report"))),
        ("meta.a:b:c tenant:acme", ThreadQuery(tenant="acme", metadata=("a", "b:c"))),
        ("stuck", IncompleteQuery()),
        ("tenant:- state:stuck", IncompleteQuery(tenant=None)),
        ("state:tombstone", TombstoneQuery()),
        ("state:claim-only holder:w", ClaimQuery(holder="w", stored=Stored.CLAIM_ONLY)),
        ("tenant:-  holder:worker-1", ThreadQuery(tenant=None, holder="worker-1")),
        ("tenant:acme since:10m", ThreadQuery(tenant="acme", since=timedelta(minutes=10))),
        ("tenant:a:b", ThreadQuery(tenant="a:b")),
    ],
)
def test_thread_filters(text: str, query: filters.ThreadsQuestion) -> None:
    assert filters.threads(text) == query


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("stat:idle", "status:"),
        ("status:lost", "idle"),
        ("since:soon", "10m"),
        ("tenant:", "needs a value"),
        ("meta.:x", "meta.KEY:VALUE"),
        ("meta.a:1 meta.b:2", "one pair"),
        ('meta.a:"1', "quotation mark"),
        ("stuck holder:x", "tenant: only"),
        ("stuck state:tombstone", "two lists"),
        ("state:tombstone tenant:x", "goes with since: only"),
        ("state:claim-only id:x", "claim filter"),
    ],
)
def test_a_filter_that_means_nothing_says_what_would(text: str, names: str) -> None:
    with pytest.raises(filters.FilterError, match=names):
        filters.threads(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", ClaimQuery()),
        ("state:expired tenant:-", ClaimQuery(tenant=None, state=ClaimState.EXPIRED)),
        ("holder:worker-1 state:live", ClaimQuery(state=ClaimState.LIVE, holder="worker-1")),
        ("state:claim-only", ClaimQuery(stored=Stored.CLAIM_ONLY)),
        ("by:holder", HolderQuery()),
    ],
)
def test_claim_filters(text: str, query: filters.ClaimsQuestion) -> None:
    assert filters.claims(text) == query


@pytest.mark.parametrize("text", ["state:over", "by:holder tenant:x", "worker-1", "by:name", "holder:"])
def test_claim_filters_that_mean_nothing(text: str) -> None:
    with pytest.raises(filters.FilterError, match=r"holder|expired"):
        filters.claims(text)


def test_queue_filters() -> None:
    assert filters.queue("") == QueueQuery()
    assert filters.queue("state:dead tenant:acme thread:t") == QueueQuery("acme", QueueState.DEAD, "t")
    with pytest.raises(filters.FilterError, match="cancelled"):
        filters.queue("state:open")


def test_a_value_with_blanks_reads_back() -> None:
    assert filters.claims(f"holder:{filters.quoted('run 7')}") == ClaimQuery(holder="run 7")


def test_event_filters() -> None:
    assert filters.events("kind:a,b tenant:acme thread:t1") == EventQuery("t1", "acme", frozenset({"a", "b"}))
    with pytest.raises(filters.FilterError, match="kind:VALUE"):
        filters.events("status:idle")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("q", Perform("quit")),
        ("refresh", Perform("refresh")),
        ("threads", Perform("threads")),
        ("thr status:idle", OpenThread("status:idle")),
        ("threads status:idle", ShowList("threads", "status:idle")),
        ("events kind:a", ShowList("events", "kind:a")),
        ("thr:a:b", OpenThread("a:b")),
        ("thread t 1", OpenThread("t 1")),
        (" at  14:03 ", GoTo("14:03")),
        ("theme day", Wear("day")),
        ("theme", Perform("theme")),
        ("thr /stuck tenant:a", ShowList("threads", "stuck tenant:a")),
        ("claims state:expired", ShowList("claims", "state:expired")),
        ("clm", Perform("claims")),
        ("queue state:dead", ShowList("queue", "state:dead")),
        ("incomplete", ShowList("threads", "stuck")),
        ("incomplete tenant:a", ShowList("threads", "stuck tenant:a")),
        ("tombstones", ShowList("threads", "state:tombstone")),
        ("holders", ShowList("claims", "by:holder")),
    ],
)
def test_commands(line: str, command: commands.Command) -> None:
    assert commands.parse(line) == command


@pytest.mark.parametrize("line", ["frob", "quit now", "at", "__init__", "do_quit"])
def test_what_is_no_command_is_refused(line: str) -> None:
    with pytest.raises(commands.CommandError):
        commands.parse(line)


def test_an_address_is_a_command() -> None:
    assert commands.parse("thr:thr_1") == OpenThread("thr_1")
    assert commands.parse("threads status:idle tenant:a") == ShowList("threads", "status:idle tenant:a")
