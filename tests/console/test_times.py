"""Times are told in one way at a time: UTC, local by TZ, or as ages (console.md F7, rows 69 to 71, 75)."""

from __future__ import annotations

import csv
import io
import re
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from console import claim_facts, export, present, times
from console.export import Form
from console.lists.claims import renewal
from console.times import TOLD, Telling
from console.widgets.columns import Scene
from tests.console.fake import thread_row
from tests.console.fake_claims import claim_row
from tests.console.fake_moment import T0
from tests.tidy.sources import sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Zone = Callable[[str], None]

TELLS_TIME = re.compile(r"strftime|isoformat\(|astimezone\(|:%[HYMdS]|%H:%M|fromtimestamp|ctime\(")
TELLERS = {
    "console/times.py": "the formatter",
    "console/read/documents.py": "documents of scripts and exports: UTC always",
    "console/act/sending.py": "what a script says: UTC always",
    "console/acting/equivalent.py": "the word of a command that says the same, for machines",
    "console/acting/observed.py": "a time that was typed, read; the audit's in UTC",
    "console/acting/sweep_form.py": "a time that was typed, read",
    "console/memory.py": "a file of this machine, for machines",
    "console/export.py": "a file's name, in UTC",
    "console/acting/plan_commands.py": "the word of a command that says the same, for machines",
    "console/screens/planned.py": "a file's name, in UTC",
    "console/screens/windowed.py": "a file's name, in UTC",
    "console/money_filters.py": "a day that was typed, read back",
    "console/goals.py": "a time that was typed, read",
    "console/shots.py": "no page",
}
"""The only files of the console that may, and why."""


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets TZ, as the shell does before a program starts; taken back afterwards."""

    def put(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield put
    monkeypatch.undo()
    time.tzset()


def told(telling: Telling, now: datetime | None = None) -> None:
    """Tell times so from now on."""
    TOLD.telling, TOLD.now = telling, now


def test_report_69_no_other_code_formats_time() -> None:
    found = {
        source.path
        for source in sources("console")
        if not source.path.startswith("console/demo/")
        and any(TELLS_TIME.search(line) for line in source.lines)
    }
    assert found <= TELLERS.keys(), "a time is told outside of console/times.py: use console.present"
    assert "console/times.py" in found


def test_report_69_only_the_one_formatter_is_asked() -> None:
    asking = re.compile(r"\btimes\.(instant|clock|stamp|page|titled|rounded)\(")
    found = {source.path for source in sources("console") for line in source.lines if asking.search(line)}
    assert found == {"console/present.py"}


def test_report_70_exports_are_utc_to_the_microsecond_however_the_page_is_told(zone: Zone) -> None:
    zone("Asia/Kathmandu")
    row = thread_row(3)
    utc = export.text_of(Form.CSV, [row])
    for telling in Telling:
        told(telling, row.updated_at)
        assert export.text_of(Form.CSV, [row]) == utc
    cell = next(csv.DictReader(io.StringIO(utc)))["updated_at"]
    assert cell.endswith("Z")
    assert datetime.fromisoformat(cell) == row.updated_at
    assert re.search(r"\.\d{6}Z$", cell)


GOLDEN = """
Europe/Berlin    2026-03-29T00:59:59.500Z  2026-03-29 01:59:59.500+01:00  01:59+0100  01:59:59+0100
Europe/Berlin    2026-03-29T01:00:00.000Z  2026-03-29 03:00:00.000+02:00  03:00:00    03:00:00.000
Europe/Berlin    2026-10-25T00:30:00.000Z  2026-10-25 02:30:00.000+02:00  02:30+0200  02:30:00+0200
Europe/Berlin    2026-10-25T01:30:00.000Z  2026-10-25 02:30:00.000+01:00  02:30:00    02:30:00.000
Asia/Kathmandu   2026-05-04T14:03:22.118Z  2026-05-04 19:48:22.118+05:45  19:48:22    19:48:22.118
Asia/Kathmandu   2026-05-04T18:14:59.000Z  2026-05-04 23:59:59.000+05:45  23:59:59    23:59:59.000
Asia/Kathmandu   2026-05-04T18:15:00.000Z  2026-05-05 00:00:00.000+05:45  2026-05-05  00:00:00.000
Pacific/Chatham  2026-04-04T13:44:00.000Z  2026-04-05 03:29:00.000+13:45  03:29+1345  03:29:00+1345
Pacific/Chatham  2026-04-04T14:15:00.000Z  2026-04-05 03:00:00.000+12:45  03:00:00    03:00:00.000
America/New_York 2026-05-04T14:03:22.118Z  2026-05-04 10:03:22.118-04:00  10:03:22    10:03:22.118
UTC              2026-05-04T14:03:22.118Z  2026-05-04 14:03:22.118+00:00  14:03:22    14:03:22.118
"""
"""Zone, instant; then how a pane, a column of ten cells and an event's line tell it, late on the same day."""
LATE = {
    date(2026, 3, 29): datetime(2026, 3, 29, 20, tzinfo=UTC),
    date(2026, 10, 25): datetime(2026, 10, 25, 20, tzinfo=UTC),
    date(2026, 5, 4): datetime(2026, 5, 4, 17, tzinfo=UTC),
    date(2026, 4, 4): datetime(2026, 4, 5, 3, tzinfo=UTC),
}
"""The store's time of the page, by the instant's day in UTC."""


@pytest.mark.parametrize("line", GOLDEN.strip().splitlines(), ids=lambda line: "-".join(line.split()[:2]))
def test_report_71_local_follows_tz_through_changes_of_the_clocks(line: str, zone: Zone) -> None:
    name, written, *pane, column, event = line.split()
    zone(name)
    at = datetime.fromisoformat(written)
    as_of = LATE[at.date()]
    told(Telling.LOCAL, as_of)
    assert present.instant(at) == " ".join(pane)
    assert present.clock(at, as_of) == column
    assert present.stamp(at) == event
    assert len(present.clock(at, as_of)) <= 10
    assert len(present.stamp(at)) <= 13


def test_report_71_utc_is_told_whatever_tz_says(zone: Zone) -> None:
    zone("Asia/Kathmandu")
    at = datetime(2026, 5, 4, 18, 30, 0, 118_999, tzinfo=UTC)
    assert present.instant(at) == "2026-05-04 18:30:00.118Z"
    assert present.clock(at, at) == "18:30:00Z"
    assert present.stamp(at) == "18:30:00.118Z"
    assert present.page_time(at) == "18:30:00Z"


def test_report_71_a_time_that_is_typed_is_read_as_the_page_tells_it(zone: Zone) -> None:
    zone("Asia/Kathmandu")
    as_of = datetime(2026, 5, 4, 14, 3, 22, tzinfo=UTC)
    at = times.at_time(as_of, 19, 0, 0, Telling.LOCAL)
    assert at == datetime(2026, 5, 4, 13, 15, tzinfo=UTC)
    assert times.at_time(as_of, 20, 0, 0, Telling.LOCAL) == datetime(2026, 5, 3, 14, 15, tzinfo=UTC)
    assert times.at_time(as_of, 14, 0, 0, Telling.UTC) == datetime(2026, 5, 4, 14, tzinfo=UTC)
    assert times.at_time(as_of, 15, 0, 0, Telling.RELATIVE) == datetime(2026, 5, 3, 15, tzinfo=UTC)


def test_a_typed_time_before_the_clocks_changed_is_that_of_its_own_day(zone: Zone) -> None:
    zone("Europe/Berlin")
    as_of = datetime(2026, 3, 29, 6, tzinfo=UTC)  # 08:00, the clocks were put forward in the night
    found = times.at_time(as_of, 23, 30, 0, Telling.LOCAL)
    assert found == datetime(2026, 3, 28, 22, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "shown"),
    [(0, "0s ago"), (9, "9s ago"), (41, "40s ago"), (200, "3m ago"), (90_000, "1d01h ago"), (-42, "in 40s")],
)
def test_relative_is_told_from_the_store_s_clock(before: int, shown: str) -> None:
    now = datetime(2026, 5, 4, 14, tzinfo=UTC)
    told(Telling.RELATIVE, now)
    at = now - timedelta(seconds=before)
    assert {present.instant(at), present.clock(at, now), present.stamp(at)} == {shown}


def test_the_oldest_age_fits_into_its_column() -> None:
    told(Telling.RELATIVE, datetime(2026, 5, 4, tzinfo=UTC))
    for days in (1, 99, 100, 999, 9_999):
        at = datetime(2026, 5, 4, tzinfo=UTC) - timedelta(days=days, hours=23)
        assert len(present.clock(at, at)) <= 10


def test_instants_beyond_the_local_calendar_are_said_to_be(zone: Zone) -> None:
    zone("Asia/Kathmandu")
    told(Telling.LOCAL)
    for at in (datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)):
        assert present.instant(at)
    zone("America/New_York")
    assert present.clock(datetime.min.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)) == "clock?"


def test_report_75_an_age_below_zero_is_a_clock_s_fault() -> None:
    assert present.age(timedelta(seconds=-1)) == "clock?"
    assert present.span(timedelta(seconds=-90)) == "clock?"


def test_report_76_silence_is_told_as_a_fact_and_grows_in_sight() -> None:
    row = claim_row(thread_row(2))
    silent = timedelta(minutes=3, seconds=12)
    for waited, shown in ((0, "3m12s"), (60, "4m12s")):
        scene = Scene(T0, timedelta(seconds=waited))
        lines = claim_facts.verdict(replace(row, silent=silent), scene, 120)
        assert f"no renewal for {shown}" in "".join(cell.text for line in lines for cell in line)
    assert renewal(silent).text == "none for 3m"
    assert renewal(timedelta(hours=2)).text == "none for 2h00m"


def test_the_key_goes_through_all_ways_and_comes_back() -> None:
    way, seen = Telling.UTC, []
    for _ in Telling:
        seen.append(way)
        way = way.following
    assert (seen, way) == ([Telling.UTC, Telling.LOCAL, Telling.RELATIVE], Telling.UTC)
