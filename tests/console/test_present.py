"""The sanitiser and the formatters (console.md F7, F11): hostile text is only text, numbers are exact."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from wcwidth import wcwidth

from console import present
from console.model import Counted, ThreadState
from console.queue_model import QueueState

HOSTILE = (
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[2J\x1b[H",
    "\x9b31m",
    "\x00\x07\x08\r\n\t\x7f",
    "[/]",
    "[red]x[/red]",
    "[[",
    "\u202egnp.exe",
    "\u2066\u2067\u2069\u061c\u200e",
    "\u200b\u200c\u200d\u2060\ufeff\u00ad",
    "\ud800\udfff",
    "e\u0301" + "\u0301" * 40,
    "\u0301leading",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1eb\U0001f1f7",
    "\u2764\ufe0f",
    "\U0001f44d\U0001f3fd",
    "漢字かな",
    "\u3164\u2800\u115f",
    "\u2028\u2029\u00a0\u2003",
    "\U000e0041\U000e007f",
)
FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

texts = st.one_of(
    st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF)),
    st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=5))).map("".join),
)


def is_harmless(text: str) -> bool:
    """No character that a terminal obeys, hides or reorders by."""
    return all(unicodedata.category(character) not in FORBIDDEN for character in text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_visible(text: str) -> None:
    shown = present.safe(text)
    assert is_harmless(shown)
    assert shown
    shown.encode()


@given(texts)
def test_safe_text_is_harmless_and_as_wide_as_the_toolkit_thinks(text: str) -> None:
    shown = present.safe(text, 400)
    assert is_harmless(shown)
    assert present.width(shown) == cell_len(shown)
    assert shown == present.safe(shown, 10_000) or wcwidth(shown[0]) <= 0


@given(texts, st.integers(min_value=0, max_value=60))
def test_cut_text_never_exceeds_its_cells(text: str, cells: int) -> None:
    shown = present.safe(text)
    assert present.width(present.clip(shown, cells)) <= cells
    assert present.width(present.middle(shown, cells)) <= cells
    assert present.width(present.pad(shown, cells)) == cells
    assert present.width(present.pad(present.middle(shown, cells), cells, right=True)) == cells


@given(texts, st.integers(min_value=2, max_value=60))
def test_wrapping_loses_nothing_but_blanks(text: str, cells: int) -> None:
    shown = present.safe(text)
    lines = present.wrap(shown, cells)
    assert all(present.width(line) <= cells for line in lines)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


def test_plain_text_stays_as_it_is() -> None:
    assert present.safe("thr_01J8[x] Größe 漢字") == "thr_01J8[x] Größe 漢字"


def test_escapes_name_the_character() -> None:
    assert present.safe("a\x1b[2Jb") == "a<U+001B>[2Jb"
    assert present.safe("\ud800") == "<U+D800>"


def test_marks_pile_up_to_a_bound() -> None:
    assert present.safe("e" + "\u0301" * 5) == "e\u0301\u0301\u0301<U+0301><U+0301>"


def test_a_ten_megabyte_line_is_bounded_and_says_so() -> None:
    assert present.safe("x" * 10_000_000, 200) == "x" * 200 + "..(+9,999,800)"


def test_ids_are_cut_in_their_middle() -> None:
    cut = present.middle(present.safe("thr_01J8QZ4W7K2P9R8M"), 14)
    assert cut.startswith("thr_..")
    assert cut.endswith("9R8M")


def test_numbers_are_exact() -> None:
    assert present.number(9_007_199_254_740_993) == "9,007,199,254,740,993"
    assert present.number(None) == "-"
    assert present.counted(Counted(10_000, more=True)) == "10,000+"


@pytest.mark.parametrize(
    ("micro", "shown"),
    [
        (0, "0.000000"),
        (300_000, "0.300000"),
        (-1, "-0.000001"),
        (9_007_199_254_740_993, "9,007,199,254.740993"),
    ],
)
def test_money_is_exact(micro: int, shown: str) -> None:
    assert present.usd(micro) == shown


@given(st.integers(min_value=-(10**24), max_value=10**24))
def test_money_reads_back(micro: int) -> None:
    whole, _, rest = present.usd(micro).replace(",", "").lstrip("-").partition(".")
    assert int(whole) * 1_000_000 + int(rest) == abs(micro)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (9.9, "9s"),
        (10, "10s"),
        (59.9, "50s"),
        (60, "1m"),
        (3_599, "59m"),
        (3_600, "1h00m"),
        (90_000, "1d01h"),
        (-1, "clock?"),
    ],
)
def test_ages(seconds: float, shown: str) -> None:
    assert present.age(timedelta(seconds=seconds)) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(9, "+9s"), (19, "+10s"), (-192, "-3m"), (-59, "-50s"), (0, "+0s"), (360_000, "+4d04h"), (-0.4, "-0s")],
)
def test_leases(seconds: float, shown: str) -> None:
    assert present.lease(timedelta(seconds=seconds)) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (59.9, "59s"), (192, "3m12s"), (3_599, "59m59s"), (7_500, "2h05m"), (-1, "clock?")],
)
def test_one_length_of_time_is_told_to_the_second(seconds: float, shown: str) -> None:
    assert present.span(timedelta(seconds=seconds)) == shown


def test_a_lapsed_lease_is_told_from_a_running_one() -> None:
    running, over = (present.queue_state(QueueState.LEASED, lapsed=lapsed) for lapsed in (False, True))
    assert (running.text, over.text) == ("o LEASED", "X LAPSED")
    assert len({present.QUEUE_STATES[state].glyph for state in QueueState}) == len(QueueState)


def test_instants_are_utc_whatever_zone_they_come_in() -> None:
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    at = datetime(2026, 10, 25, 6, 30, 15, 123_456, tzinfo=kathmandu)
    assert present.instant(at) == "2026-10-25 00:45:15.123Z"
    assert present.clock(at, datetime(2026, 10, 25, 23, tzinfo=UTC)) == "00:45:15Z"
    assert present.clock(at, datetime(2026, 10, 26, 1, tzinfo=UTC)) == "2026-10-25"


def test_every_state_has_a_glyph_of_its_own() -> None:
    glyphs = [present.STATES[state].glyph for state in ThreadState]
    assert len(set(glyphs)) == len(ThreadState)
