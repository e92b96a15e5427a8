"""What is typed and said about jobs: filters, addresses, the bar, the report, and who may be asked in a job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from console import job_facts, job_filters
from console.act.carrying import progress
from console.acting import job_words, removed
from console.acting.job_report import MOST_PAGES, MOST_REASONS, PAGE, report_of
from console.acting.jobs import ItemOutcome, JobQuery, JobState, JobView
from console.acting.names import object_of
from console.commands import (
    CommandError,
    OpenJob,
    OpenOperation,
    OpenPlan,
    OpenReservation,
    OpenThread,
    Perform,
    ShowList,
    parse,
)
from console.config import ConfigError, load
from console.filter_words import FilterError
from console.money_words import Address, Kind
from console.widgets.columns import Scene
from tests.console.fake import FakeGateway
from tests.console.fake_acting import audit_row, job_item, job_row
from tests.console.fake_moment import T0

if TYPE_CHECKING:
    from pathlib import Path

    from console.commands import Command


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("jobs", Perform("jobs")),
        ("job", Perform("jobs")),
        ("jobs state:paused", ShowList("jobs", "state:paused")),
        ("plans", ShowList("jobs", "plans")),
        ("job j1", OpenJob("j1")),
        ('job "j 1" outcome:failed', OpenJob("j 1", "outcome:failed")),
        ("plan p1", OpenPlan("p1")),
        ("operation o1", OpenOperation("o1")),
    ],
)
def test_an_address_is_typed_and_read(line: str, command: Command) -> None:
    assert parse(line) == command


def test_filters_mean_one_thing_or_are_refused() -> None:
    assert job_filters.jobs("state:interrupted") == JobQuery(JobState.INTERRUPTED)
    assert job_filters.jobs("plans") == job_filters.PlansQuery()
    assert job_filters.items("") is None
    assert job_filters.items("outcome:failed") is ItemOutcome.FAILED
    for read, text, told in (
        (job_filters.jobs, "state:odd", "there are ready"),
        (job_filters.jobs, "plans state:done", "stands alone"),
        (job_filters.items, "outcome:failed outcome:skipped", "one outcome at a time"),
        (job_filters.items, "thread:t", "is no item filter"),
    ):
        with pytest.raises(FilterError, match=told):
            read(text)


@pytest.mark.parametrize("cells", [4, 12, 18, 40, 60])
def test_the_bar_never_takes_more_than_its_room_and_is_full_only_at_the_end(cells: int) -> None:
    for done in (0, 1, 59, 60):
        bar = job_words.bar(replace(job_row(0), done=done), cells)
        assert len(bar) <= cells
        if "[" in bar:
            assert ("." not in bar) is (done == 60)
    assert job_words.bar(replace(job_row(0), done=0, total=0), 40).endswith("100% 0/0")


@pytest.mark.parametrize("rows", [0, 1_500])
def test_F10_rows_of_the_item_at_hand_are_told_on_the_screen_and_by_the_command(rows: int) -> None:
    """One item may be a whole table: until its end nothing else would move."""
    view = JobView(job_row(0, done=0, total=1), 0.0, None, T0, rows)
    told = "1,500 rows of item 1 so far"
    head = job_facts.head(view, Scene(T0), 100, here=True)
    assert (told in progress(view), any(told in cell.text for line in head for cell in line)) == (
        bool(rows),
        bool(rows),
    )


@pytest.mark.parametrize("state", JobState)
def test_every_state_says_what_to_do_next(state: JobState) -> None:
    assert job_words.next_step(job_row(0, state=state), here=False)


def test_the_reasons_of_a_report_are_counted_and_their_reading_is_bounded() -> None:
    items = [replace(job_item(2), n=n, why=f"reason {n % 7}") for n in range(PAGE * MOST_PAGES + 1)]
    gateway = FakeGateway(results=items)
    row = job_row(3, skipped=len(items), failed=0)
    found = report_of(gateway, JobView(row, 0.0, None, T0))
    assert found is not None
    assert len(found.reasons) == MOST_REASONS
    assert found.more
    assert report_of(gateway, JobView(job_row(0), 1.0, None, T0)) is None, "it is not over"


def test_a_sweep_is_told_in_rows_as_well_as_in_items() -> None:
    details: list[dict[str, object]] = [
        {"after": {"removed": 1_000}},
        {"after": {"removed": 3, "kept": 1, "events": 200}},
        {"after": {"reclaimed": True}},
        {"why": "given up", "removed": 37},
    ]
    outcomes = [ItemOutcome.APPLIED] * 3 + [ItemOutcome.FAILED]
    items = [
        replace(job_item(n), outcome=outcome, detail=detail)
        for n, (outcome, detail) in enumerate(zip(outcomes, details, strict=True))
    ]
    row = job_row(3, state=JobState.DONE, deed="sweep", applied=3, skipped=0, failed=1, total=4, done=4)
    view, gateway = JobView(row, 0.0, None, T0), FakeGateway(results=items)
    found = report_of(gateway, view)
    assert found is not None
    lines = ["".join(cell.text for cell in line) for line in job_facts.report(view, found, 80)]
    assert "applied 3 items, removed 1,240 rows" in lines
    other = report_of(gateway, replace(view, row=replace(row, deed="release")))
    assert other is not None
    assert other.removed is None


def test_the_rows_of_a_long_sweep_are_told_as_a_least_number() -> None:
    one = replace(job_item(0), detail={"after": {"removed": 2}})
    items = [replace(one, n=n) for n in range(PAGE * MOST_PAGES + 1)]
    row = job_row(3, state=JobState.DONE, deed="sweep", applied=len(items), skipped=0, failed=0)
    found = removed.removed_by(FakeGateway(results=items), row)
    assert found == removed.Removed(2 * PAGE * MOST_PAGES, more=True)
    assert "removed at least 2,000 rows" in removed.words(row, found)


@pytest.mark.parametrize("why", ["tree changed: plan again", "why not: that is why the tree changed", None])
def test_what_stopped_a_job_is_told_whole(why: str | None) -> None:
    row = job_row(3, state=JobState.STOPPED)
    body = {"deed": "delete", "state": "stopped"} | ({} if why is None else {"why": why})
    entries = [audit_row(seq, operation=row.id, body=body if seq == 2 else {"why": "no"}) for seq in (1, 2)]
    found = report_of(FakeGateway(entries=entries), JobView(row, 0.0, None, T0))
    assert found is not None
    assert found.stopped == why


@pytest.mark.parametrize(
    ("kind", "name", "command"),
    [
        ("thread", "t", OpenThread("t")),
        ("claim", "t", OpenThread("t")),
        ("reservation", "day:r1", OpenReservation(Address(Kind.DAY, "", "r1"))),
        ("reservation", "meter:api:op:1", OpenReservation(Address(Kind.METER, "api", "op:1"))),
        ("reservation", "odd", None),
        ("table", "ledger", ShowList("reservations", "table:ledger")),
        ("job", "j", OpenJob("j")),
        ("store", "s", None),
    ],
)
def test_an_object_is_found_where_it_is_shown(kind: str, name: str, command: Command | None) -> None:
    assert object_of(kind, name) == command


def test_the_configuration_says_who_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[resolvers]\nday = "ours.money:ask"\n"meter:api" = "ours.units:ask"\n')
    found = load(file).resolvers
    assert {name: path.value for name, path in found.items()} == {
        "day": "ours.money:ask",
        "meter:api": "ours.units:ask",
    }
    for text, told in (('year = "a:b"', "no kind of reservation"), ('day = "ask"', "module:function")):
        file.write_text(f"[resolvers]\n{text}\n")
        with pytest.raises(ConfigError, match=told):
            load(file)


def test_a_job_needs_an_id_whose_quotation_marks_close() -> None:
    with pytest.raises(CommandError):
        parse('job "j1')
