"""Documents of records, and their exact ASCII JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pytest

from console.read.documents import Raw, as_json, document, instant, seconds, stored_text

if TYPE_CHECKING:
    from collections.abc import Mapping

AT = datetime(2026, 3, 29, 1, 2, 3, 4, tzinfo=UTC)


class Word(StrEnum):
    """A closed set's word."""

    ONE = "one"


@dataclass(frozen=True, slots=True)
class Inner:
    """A part of a record."""

    at: datetime
    left: timedelta | None


@dataclass(frozen=True, slots=True)
class Record:
    """A record with a field of every kind."""

    name: str
    word: Word
    inner: Inner
    parts: tuple[Inner, ...]
    pairs: Mapping[str, str]
    payload: str
    size: int
    nothing: str | None = None


def record(payload: str, size: int | None = None) -> Record:
    """A record of a stored text."""
    inner = Inner(AT, timedelta(microseconds=-1))
    return Record("n", Word.ONE, inner, (inner,), {"k": "v"}, payload, len(payload) if size is None else size)


def test_a_record_becomes_a_document_under_its_own_names() -> None:
    made = document(record('{"n":9007199254740993.10,"n":1e400}'))
    part = '{"at":"2026-03-29T01:02:03.000004Z","left_seconds":-0.000001}'
    assert as_json(made) == (
        f'{{"name":"n","word":"one","inner":{part},"parts":[{part}],"pairs":{{"k":"v"}},'
        '"payload":{"n":9007199254740993.10,"n":1e400},"size":35,"nothing":null}'
    )


@pytest.mark.parametrize("text", ['{"cut', "", "NaN", "[Infinity]", "[" * 100_000])
def test_what_is_no_json_stands_as_text(text: str) -> None:
    made = document(record(text))
    assert "payload" not in made
    assert json.loads(as_json(made))["payload_text"] == text


def test_a_beginning_stands_as_text_even_where_it_parses() -> None:
    assert stored_text("payload", "12", 3) == {"payload_text": "12"}
    assert stored_text("payload", "12", 2) == {"payload": Raw("12")}


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ('{\n\t"a" :\r 1}', '{  "a" :  1}'),
        ('"\u00e9\u202e\x7f\U0001f600\x9b"', '"\\u00e9\\u202e\\u007f\\ud83d\\ude00\\u009b"'),
        ('"\\u001b[2J"', '"\\u001b[2J"'),
    ],
)
def test_a_document_is_one_line_of_ascii(stored: str, shown: str) -> None:
    text = as_json({"v": Raw(stored)})
    assert text == f'{{"v":{shown}}}'
    assert json.loads(text)["v"] == json.loads(stored)


@pytest.mark.parametrize("value", ["\x1b]52;c;eA==\x07", "[/]", "\u202e", "\ud800", "\U0001f600", "\x7f"])
def test_text_of_every_kind_comes_back_as_it_was(value: str) -> None:
    text = as_json({value: [value]})
    assert json.loads(text) == {value: [value]}
    assert text.isascii()
    assert "\x1b" not in text


def test_instants_are_utc_to_the_microsecond() -> None:
    assert instant(AT.astimezone(timezone(timedelta(hours=5, minutes=45)))) == "2026-03-29T01:02:03.000004Z"
    assert instant(datetime(1700, 1, 1, tzinfo=UTC)) == "1700-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(0), "0.000000"),
        (timedelta(microseconds=-1), "-0.000001"),
        (timedelta(seconds=-90, microseconds=500_000), "-89.500000"),
        (timedelta(days=40_000, microseconds=1), "3456000000.000001"),
    ],
)
def test_durations_are_exact(span: timedelta, text: str) -> None:
    assert seconds(span) == text


@pytest.mark.parametrize("value", [True, None, 2**80, -1, "", [], {}, [[1], {"a": [None]}]])
def test_plain_values(value: Any) -> None:
    assert json.loads(as_json(value)) == value


def test_a_float_is_refused() -> None:
    with pytest.raises(TypeError):
        as_json({"x": 0.1})
