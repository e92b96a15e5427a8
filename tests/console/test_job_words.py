"""What is typed and said about jobs: filters, addresses, the bar, the report, and who may be asked in a job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from console import job_filters
from console.acting import job_words
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
from tests.console.fake import FakeGateway
from tests.console.fake_acting import job_item, job_row
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
