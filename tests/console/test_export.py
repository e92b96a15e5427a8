"""The window as a file: exact times and numbers, a name that is asked for, nothing overwritten (row 73, key `E`)."""

from __future__ import annotations

import csv
import io
import json
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from console import export
from console.export import ExportError, Form
from console.model import ThreadRow
from console.widgets.prompt import Prompt
from tests.console.fake import FakeGateway, event_row, thread_row
from tests.console.test_pilot import drive, said
from tests.console.test_pilot_lists import command, listed
from tests.console.test_present import HOSTILE
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

AT = datetime(2026, 3, 29, 1, 59, 59, 999_999, tzinfo=UTC)


def rows_of(text: str) -> list[dict[str, str]]:
    """A CSV text, read back."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_report_73_times_in_a_csv_equal_the_stores_to_the_microsecond() -> None:
    zone = timedelta(hours=5, minutes=45)
    times = [AT, AT.replace(microsecond=0), AT + timedelta(microseconds=1), (AT + zone) - zone]
    rows = [replace(thread_row(number), updated_at=at) for number, at in enumerate(times)]
    written = [each["updated_at"] for each in rows_of(export.text_of(Form.CSV, rows))]
    assert written[:2] == ["2026-03-29T01:59:59.999999Z", "2026-03-29T01:59:59.000000Z"]
    assert [datetime.fromisoformat(each) for each in written] == times
    lines = export.text_of(Form.JSONL, rows).splitlines()
    assert [datetime.fromisoformat(json.loads(line)["updated_at"]) for line in lines] == times


def test_every_field_is_there_and_durations_are_seconds() -> None:
    row = replace(thread_row(2), lease_left=timedelta(seconds=-192, microseconds=7), holder=None)
    (written,) = rows_of(export.text_of(Form.CSV, [row]))
    assert written["id"] == row.id
    assert written["lease_left_seconds"] == "-191.999993"
    assert written["holder"] == ""
    assert written["state"] == "IDLE"
    assert set(written) >= {"tenant", "token", "events", "checkpoint", "run", "age_seconds"}


def test_numbers_are_whole_in_both_forms() -> None:
    payload = '{"micro": 9007199254740993}'
    row = replace(event_row(1), payload=payload, size=len(payload), seq=2**62 + 1)
    (line,) = export.text_of(Form.JSONL, [row]).splitlines()
    assert json.loads(line)["payload"] == {"micro": 9007199254740993}
    assert json.loads(line)["seq"] == 2**62 + 1
    (written,) = rows_of(export.text_of(Form.CSV, [row]))
    assert (written["seq"], written["payload"]) == (str(2**62 + 1), payload)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_a_csv_moves_a_terminal_and_json_is_exact(text: str) -> None:
    row = replace(thread_row(0), id=text)
    written = export.text_of(Form.CSV, [row])
    assert not any(ord(letter) < 32 and letter not in "\r\n" for letter in written)
    assert "\x1b" not in written
    assert "\u202e" not in written
    (line,) = export.text_of(Form.JSONL, [row]).splitlines()
    assert line.isascii()
    assert json.loads(line)["id"].encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


def test_records_within_records_have_their_names_before_them() -> None:
    rows = FakeGateway().holds()
    (first, *_) = rows_of(export.text_of(Form.CSV, rows))
    assert first["address.kind"] == rows[0].address.kind.value
    assert first["address.id"] == rows[0].address.id


def test_rows_with_other_fields_share_one_heading() -> None:
    cut = replace(event_row(0), payload='{"a', size=9_000)
    written = rows_of(export.text_of(Form.CSV, [event_row(1), cut]))
    assert written[0]["payload"]
    assert (written[1]["payload"], written[1]["payload_text"]) == ("", '{"a')


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(ExportError, match="is there already"):
        export.write(path, Form.CSV, [thread_row(0)])
    assert path.read_text(encoding="utf-8") == "precious"
    with pytest.raises(ExportError, match="give another name"):
        export.write(tmp_path / "no" / "such.csv", Form.CSV, [])


def test_a_link_to_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(ExportError, match="is there already"):
        export.write(tmp_path / "link.csv", Form.CSV, [])
    assert not (tmp_path / "elsewhere.csv").exists()


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    written = export.write(tmp_path / "rows.jsonl", Form.JSONL, [thread_row(0)])
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["", "rows", "rows.txt", ".csv", "rows.csv.gz"])
def test_a_name_says_its_form(name: str) -> None:
    with pytest.raises(ExportError, match=r"\.csv or \.jsonl"):
        export.file_of(name)


async def type_name(pilot: Pilot[None], name: str) -> None:
    """Another name in place of the one that is suggested."""
    line = pilot.app.screen.query_one(Prompt).query_one("Input")
    line.value = name  # type: ignore[attr-defined]
    await pilot.press("enter")


def test_e_writes_the_window_and_asks_the_store_nothing(tmp_path: Path) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("p")
        gateway.asked.clear()
        await pilot.press("E")
        suggested = pilot.app.screen.query_one(Prompt).query_one("Input").value  # type: ignore[attr-defined]
        assert suggested == "holdwatch-threads-20260504T140322Z.csv"
        await type_name(pilot, str(tmp_path / "rows.csv"))
        await until(pilot, lambda: "100 rows of this window, no others, are in" in said(pilot))
        assert str(tmp_path / "rows.csv")[:40] in said(pilot).replace("\n", "")
        written = rows_of((tmp_path / "rows.csv").read_text(encoding="utf-8"))
        assert [each["id"] for each in written] == [row.id for row in gateway.rows[:100]]
        assert gateway.asked == []
        await pilot.press("E")
        await type_name(pilot, str(tmp_path / "rows.csv"))
        await until(pilot, lambda: "is there already" in said(pilot).replace("\n", " "))

    drive(scene)


def test_a_refused_name_keeps_the_prompt_open(tmp_path: Path) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("E")
        await type_name(pilot, str(tmp_path / "rows.doc"))
        await pilot.pause()
        assert pilot.app.screen.query_one(Prompt).is_open
        assert ".csv or .jsonl" in said(pilot).replace("\n", " ")
        await pilot.press("escape")
        assert not pilot.app.screen.query_one(Prompt).is_open
        assert list(tmp_path.iterdir()) == []

    drive(scene)


def test_the_command_names_the_form_and_marked_rows_can_be_written_alone(tmp_path: Path) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j", "space", "space", "m")
        await command(pilot, "export jsonl")
        await type_name(pilot, str(tmp_path / "two.jsonl"))
        await until(pilot, lambda: "2 rows of this window" in said(pilot))
        lines = (tmp_path / "two.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["id"] for line in lines] == [row.id for row in gateway.rows[1:3]]
        await command(pilot, "export xml")
        assert "there are csv and jsonl" in said(pilot)
        assert isinstance(listed(pilot).main_widget().window.rows[0], ThreadRow)

    drive(scene)


def test_events_are_exported_as_well(tmp_path: Path) -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("5")
        await ready(pilot)
        await pilot.press("E")
        await type_name(pilot, str(tmp_path / "events.jsonl"))
        await until(pilot, lambda: "500 rows of this window" in said(pilot))

    drive(scene)
