"""What is typed after `/` and `:`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from console import commands, filters
from console.commands import GoTo, OpenThread, Perform, ShowList, Wear
from console.model import EventQuery, ThreadQuery, ThreadState


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", ThreadQuery()),
        ("thr_01", ThreadQuery(prefix="thr_01")),
        ("a-b:c", ThreadQuery(prefix="a-b:c")),
        ("status:running,failed", ThreadQuery(states=frozenset({ThreadState.RUNNING, ThreadState.FAILED}))),
        ("!status:completed", ThreadQuery(states=frozenset(ThreadState) - {ThreadState.COMPLETED})),
        ("stuck", ThreadQuery(states=frozenset({ThreadState.IDLE}))),
        ("tenant:-  holder:worker-1", ThreadQuery(tenant=None, holder="worker-1")),
        ("tenant:acme since:10m", ThreadQuery(tenant="acme", since=timedelta(minutes=10))),
        ("tenant:a:b", ThreadQuery(tenant="a:b")),
    ],
)
def test_thread_filters(text: str, query: ThreadQuery) -> None:
    assert filters.threads(text) == query


@pytest.mark.parametrize(
    ("text", "names"),
    [("stat:idle", "status:"), ("status:lost", "idle"), ("since:soon", "10m"), ("tenant:", "needs a value")],
)
def test_a_filter_that_means_nothing_says_what_would(text: str, names: str) -> None:
    with pytest.raises(filters.FilterError, match=names):
        filters.threads(text)


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
