"""JSON for reading: exact numbers, repeated keys, no JSON, too much of it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from console import jsontext
from tests.console.test_present import is_harmless


def shown(text: str, whole: int | None = None) -> str:
    """The lines as text."""
    lines = jsontext.lines(text, len(text.encode("utf-8", "surrogatepass")) if whole is None else whole)
    return "\n".join("".join(cell.text for cell in line) for line in lines)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_what_is_laid_out_is_the_same_json(value: object) -> None:
    text = shown(json.dumps(value))
    assert is_harmless(text.replace("\n", ""))
    if "<U+" not in text:
        assert json.loads(text) == value


def test_numbers_are_the_stored_digits() -> None:
    assert shown('{"a": 9007199254740993, "b": 0.10, "c": 1E400, "d": -0}').split("\n")[1:-1] == [
        '  "a": 9007199254740993,',
        '  "b": 0.10,',
        '  "c": 1E400,',
        '  "d": -0',
    ]


def test_repeated_keys_are_all_shown() -> None:
    assert shown('{"a": 1, "a": 2}').count('"a"') == 2


def test_control_characters_are_visible() -> None:
    text = shown(json.dumps("\x1b[2J \u202e \x9b"))
    assert text == '"\\u001b[2J <U+202E> <U+009B>"'


def test_what_is_no_json_is_shown_as_it_is() -> None:
    assert shown("{nope\nnext") == "not JSON; as stored\n{nope\nnext"


def test_a_beginning_says_that_it_is_one() -> None:
    assert shown('{"a": [1, 2', 50_000).split("\n")[0] == "shows the first 11 B of 50 kB"
    cut = "\n".join(
        "".join(cell.text for cell in line)
        for line in jsontext.lines("x" * 16_384, 50_000, "; enter reads on")
    )
    assert cut.startswith("shows the first 16 kB of 50 kB; enter reads on\nxx")
    assert cut.count("x") == 16_384


def test_depth_and_length_are_bounded() -> None:
    deep = shown("[" * 500 + "]" * 500)
    assert "1 deeper" in deep
    assert deep.count("\n") < 3 * jsontext.DEPTH_LIMIT
    assert shown("[" * 200_000).startswith("not JSON")
    long = shown(json.dumps(list(range(20_000)))).split("\n")
    assert len(long) == jsontext.LINE_LIMIT + 1
    assert long[-1] == "only the first 5,000 lines are shown"


def test_a_huge_body_is_not_parsed() -> None:
    text = shown(json.dumps("x" * 2_000_000))
    assert text.startswith("2,000 kB are too much to lay out; shows the first 200 kB\n")
    assert text.count("x") == jsontext.AS_IS_LIMIT - 1
