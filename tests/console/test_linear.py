"""Patterns over a window: what Python's own engine finds is found, in time that no pattern stretches."""

from __future__ import annotations

import contextlib
import re
import time
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console import sieve
from console.filter_words import FilterError
from console.linear import LONGEST, Pattern, PatternError
from console.lists import fields
from console.model import GatewayError
from console.present import Cell, own, safe
from console.widgets.columns import Column

ATOMS = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", r"\d", r"\.", "(?:ab)", "(a|b)", "^", "$", "é", "]", "[]a]", "-"]
)
REPEATS = st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "*?", "{x"])
PATTERNS = st.lists(st.tuples(ATOMS, REPEATS), min_size=1, max_size=5).map(
    lambda parts: "".join(f"{atom}{repeat if atom not in '^$' else ''}" for atom, repeat in parts)
)
TEXTS = st.text(alphabet="abAé.1]-{x}", max_size=8)


@given(PATTERNS, PATTERNS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_what_pythons_engine_finds_is_found(one: str, other: str, text: str) -> None:
    pattern = f"{one}|({other})"
    assert Pattern(pattern).found_in(text) is (
        re.search(pattern, text, re.IGNORECASE | re.DOTALL) is not None
    )


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|a)*b", "(a*)*b", "(.*a){12}b", "(?:a?){30}a{30}b", "(a|ab|abc)*x", ".*.*.*.*.*b"],
)
def test_a_catastrophic_pattern_takes_no_time(pattern: str) -> None:
    began, compiled = time.monotonic(), Pattern(pattern)
    for _ in range(100):
        compiled.found_in("a" * 200 + "!")
    assert time.monotonic() - began < 1.0, "keys would wait for this"


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("", "needs a pattern"),
        ("[a", "unterminated"),
        ("a**", "multiple repeat"),
        ("(a", "is no pattern"),
        (r"(a)\1", "not searched for here"),
        ("(?=a)", "looks around"),
        ("(?P<n>a)", "looks around, names"),
        ("a*+", "gives nothing back"),
        ("a" * (LONGEST + 1), "201 characters"),
        ("(a{100}){100}", "count less"),
        (r"\bword", "not searched"),
    ],
)
def test_a_pattern_that_is_refused_says_why(pattern: str, says: str) -> None:
    with pytest.raises(PatternError, match=re.escape(says)):
        Pattern(pattern)


@given(st.text(max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_pattern_or_is_refused(text: str) -> None:
    with contextlib.suppress(PatternError):  # a refusal is an answer; anything else it raises fails the test
        Pattern(text).found_in("thr_01 worker-1")


# Rows


@dataclass(frozen=True)
class Row:
    """A row as a list has it."""

    id: str
    tenant: str | None = None
    holder: str | None = None


COLUMNS: tuple[Column[Row], ...] = (
    Column(own("ID"), 4, lambda row, _: Cell(safe(row.id))),
    Column(own("COUNT"), 4, lambda _row, _: Cell(own("777")), by=lambda _row: 777),
)
ROWS = (Row("thr-1", "acme", "w-1"), Row("thr-2", None, "w-2"), Row("run-3", "globex"))


def kept(text: str) -> list[str]:
    """The ids that the window's words of a filter leave."""
    _, words = sieve.parted(text, ("!status",))
    return [row.id for row in sieve.sieve_of(words, COLUMNS, fields.THREADS).sift(ROWS)]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("~THR", ["thr-1", "thr-2"]),
        ("~^thr-[12]$ !tenant:-", ["thr-1"]),
        ("~777", []),
        ("!tenant=acme", ["thr-2", "run-3"]),
        ("!holder:w-1,w-2", ["run-3"]),
        ("!id:thr", ["run-3"]),
        ('~"run|thr-2"', ["thr-2", "run-3"]),
        ("status:idle", ["thr-1", "thr-2", "run-3"]),
    ],
)
def test_words_for_the_window_leave_rows_out(text: str, ids: list[str]) -> None:
    assert kept(text) == ids


def test_what_the_store_answers_is_left_to_it() -> None:
    text = '!status:idle ~"a b" tenant:acme meta.title:"x y" !holder:w'
    left, words = sieve.parted(text, ("!status",))
    assert left == '!status:idle tenant:acme meta.title:"x y"'
    assert words == ("~a b", "!holder:w")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("!tenent:a", "did you mean tenant"),
        ("!since:5m", "there are !tenant: !holder: !id:"),
        ("!tenant:", "needs a value"),
        ("~(a", "is no pattern"),
        ("~", "needs a pattern"),
        ("~a ~b ~c ~d ~e ~f", "5 is the most"),
    ],
)
def test_a_word_for_the_window_that_means_nothing_says_what_would(text: str, says: str) -> None:
    with pytest.raises(FilterError, match=re.escape(says)):
        kept(text)


def test_a_window_is_searched_for_a_bounded_time() -> None:
    ticks = iter(range(1_000))
    words = sieve.sieve_of(("~x",), COLUMNS, fields.THREADS)
    with pytest.raises(GatewayError, match="write a shorter pattern"):
        words.sift(ROWS * 100, lambda: next(ticks) / 10)
