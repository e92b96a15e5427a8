"""Several processes on one store: cases 14, 30, 31, 49 and 117 of checkpoints.md.

The processes read the machine's or the server's clock, so leases are short and really run out.
"""

from __future__ import annotations

import time
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlalchemy import text

from engine import open_store
from engine.checkpoints import Commit, Fence
from engine.database.migrations import SCHEMA_VERSION
from engine.errors import EngineError, StaleClaim, ThreadBusy
from tests.support.background import until
from tests.support.builders import chain, claim, emit, ev, fresh_id, latest_id, seqs
from tests.support.processes import Answer, Program, answers, barrier
from tests.support.refusals import named, refused

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier

    from engine.checkpoints import RunClaim
    from tests.support.harness import Harness

LONG = timedelta(minutes=5)
BRIEF = timedelta(milliseconds=300)
RACERS = 6
ROUNDS = 10


def commit_pairs(url: str, start: Barrier, t: str, token: int, count: int) -> list[list[int]]:
    """So many commits of two events each; the numbers they got."""
    with open_store(url) as store:
        start.wait()
        return [emit(store.checkpoints, t, token, "a", "b") for _ in range(count)]


def test_core_14_processes_share_a_token_and_numbers_stay_whole(harness: Harness) -> None:
    store = harness.open(clock=None)
    t, start = fresh_id(), barrier(4)
    token = claim(store, t, ttl=LONG).token
    chain(store.checkpoints, t, token, ["c1"])
    before = len(seqs(store.checkpoints, t))

    programs = [Program(commit_pairs, harness.url, start, t, token, 50) for _ in range(4)]
    pairs = [pair for answer in answers(programs) for pair in answer.value]

    assert len(pairs) == 200
    assert all(second - first == 1 for first, second in pairs)
    assert sorted(number for pair in pairs for number in pair) == list(range(before + 1, before + 401))
    assert [record.seq for record in store.checkpoints.events_after(t, before, 1000)] == list(
        range(before + 1, before + 401)
    )
    assert all(first < second for one in programs_in_order(pairs, 4) for first, second in pairwise(one))


def programs_in_order(pairs: list[list[int]], programs: int) -> list[list[int]]:
    """The first number of each commit, by program, in the order in which it was made."""
    share = len(pairs) // programs
    return [[pair[0] for pair in pairs[n * share : (n + 1) * share]] for n in range(programs)]


def claim_each(url: str, start: Barrier, holder: str, threads: list[str]) -> list[RunClaim | EngineError]:
    """Claim every thread in turn, each at the same moment as the other processes do."""
    outcomes: list[RunClaim | EngineError] = []
    with open_store(url) as store:
        for t in threads:
            start.wait()
            try:
                outcomes.append(claim(store, t, holder, ttl=LONG))
            except ThreadBusy as error:
                outcomes.append(error)
    return outcomes


def race(harness: Harness, threads: list[str]) -> list[tuple[RunClaim, list[EngineError]]]:
    """Let RACERS processes claim each thread together: the claim granted, and what the others were told."""
    start = barrier(RACERS)
    programs = [Program(claim_each, harness.url, start, f"run-{n}", threads) for n in range(RACERS)]
    columns = [answer.value for answer in answers(programs)]
    rounds = []
    for outcomes in zip(*columns, strict=True):
        granted = [outcome for outcome in outcomes if not isinstance(outcome, EngineError)]
        assert len(granted) == 1
        rounds.append((granted[0], [outcome for outcome in outcomes if isinstance(outcome, EngineError)]))
    return rounds


def test_core_30_of_processes_claiming_a_new_thread_one_is_granted(harness: Harness) -> None:
    threads = [fresh_id() for _ in range(ROUNDS)]
    for t, (granted, refusals) in zip(threads, race(harness, threads), strict=True):
        assert granted.taken_over_from is None
        assert refusals == [ThreadBusy(t, None, named(granted.holder))] * (RACERS - 1)


def test_core_31_of_processes_claiming_a_lapsed_thread_one_is_granted(harness: Harness) -> None:
    store = harness.open(clock=None)
    threads = [fresh_id() for _ in range(ROUNDS)]
    tokens = {}
    for t in threads:
        tokens[t] = claim(store, t, "first", ttl=BRIEF).token
        chain(store.checkpoints, t, tokens[t], ["c1"])
    time.sleep(BRIEF.total_seconds())

    for t, (granted, refusals) in zip(threads, race(harness, threads), strict=True):
        assert granted.token > tokens[t]
        assert granted.taken_over_from == "first"
        assert refusals == [ThreadBusy(t, "c1", named(granted.holder))] * (RACERS - 1)
        late = Commit(tokens[t], events=[ev("late")])
        refused(StaleClaim(t, tokens[t], granted.token), store.checkpoints.commit, t, late)
        assert emit(store.checkpoints, t, granted.token, "next") == [2]


def fenced_commits(
    url: str, child: str, token: int, fence: Fence
) -> tuple[list[int], list[tuple[int, EngineError]]]:
    """Commit on the child until the fence refused twenty times: starts of what landed, and the refusals."""
    landed: list[int] = []
    refusals: list[tuple[int, EngineError]] = []
    deadline = time.monotonic() + 30
    with open_store(url) as store:
        while len(refusals) < 20 and time.monotonic() < deadline:
            began = time.monotonic_ns()
            try:
                store.checkpoints.commit(child, Commit(token, events=[ev("fenced")], fence=fence))
                landed.append(began)
            except StaleClaim as error:
                refusals.append((began, error))
    return landed, refusals


def test_core_49_after_a_takeover_no_fenced_commit_lands(harness: Harness) -> None:
    store = harness.open(clock=None)
    parent, child = fresh_id(), fresh_id()
    old = claim(store, parent, "old", ttl=BRIEF).token
    token = claim(store, child, "child", ttl=LONG).token
    program = Program(fenced_commits, harness.url, child, token, Fence(parent, old))
    until(lambda: len(store.checkpoints.events_after(child, 0, 30)) == 30, "commits are under way")
    time.sleep(BRIEF.total_seconds())

    new = claim(store, parent, "new").token
    taken = time.monotonic_ns()
    numbers = last_number(harness, child)

    landed, refusals = program.answer().value
    assert all(began <= taken for began in landed)
    assert len(refusals) == 20
    assert {error for _, error in refusals} == {StaleClaim(parent, old, new)}
    assert last_number(harness, child) == numbers == len(landed)
    assert emit(store.checkpoints, child, token, "unfenced") == [numbers + 1]


def last_number(harness: Harness, t: str) -> int:
    """The newest event number of the thread."""
    with harness.raw() as connection:
        found = connection.execute(text("SELECT max(seq) FROM event WHERE thread_id = :t"), {"t": t})
        return int(found.scalar_one())


def open_each(start: Barrier, urls: list[str]) -> int:
    """Open every store in turn, each at the same moment as the other processes do; how many could be used."""
    usable = 0
    for url in urls:
        start.wait()
        with open_store(url) as store:
            usable += latest_id(store.checkpoints, "t") is None
    return usable


def test_core_117_processes_open_a_new_store_together(harness: Harness) -> None:
    urls, openers = [harness.fresh_url() for _ in range(8)], 4
    start = barrier(openers)

    programs = [Program(open_each, start, urls) for _ in range(openers)]

    assert answers(programs) == [Answer(value=len(urls))] * openers
    for url in urls:
        with harness.raw(url) as connection:
            rows = connection.execute(text("SELECT schema_version, reclamation_mark FROM meta")).all()
        assert [tuple(row) for row in rows] == [(SCHEMA_VERSION, 1)]
