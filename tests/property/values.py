"""Strategies for what callers may put into a store, and for what they may not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

THOROUGHLY = settings(max_examples=settings().max_examples * 8)
"""For properties of plain functions, which cost next to nothing."""

ANY_CHARACTER = st.characters(exclude_categories=())
"""Lone surrogates and U+0000 among them."""
AWKWARD = st.sampled_from(
    [
        "\\",
        '"',
        "'",
        "{",
        "}",
        ",",
        "NULL",
        "null",
        "%s",
        "%(now)s",
        ":now",
        "\n",
        "\t",
        "\x7f",
        "é",
        "𝄞",
        "\u202e",
        " ",
    ]
)
"""Pieces that mean something to a quoting rule somewhere between here and the disk."""

MAX_ID_BYTES = 512
VALID_IDS = (
    st.lists(AWKWARD | st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20).map(
        "".join
    )
    | st.builds("{0}{1}".format, st.just("x" * (MAX_ID_BYTES - 2)), st.sampled_from(["", "ab", "é"]))
).filter(lambda text: len(text.encode()) <= MAX_ID_BYTES)
INVALID_IDS = st.one_of(
    st.builds("{0}\0{1}".format, VALID_IDS, VALID_IDS),
    st.builds("{0}{1}{2}".format, VALID_IDS, st.characters(categories=["Cs"]), VALID_IDS),
    st.builds("{0}{1}".format, st.just("é" * (MAX_ID_BYTES // 2)), st.text("aé𝄞", min_size=1, max_size=5)),
)

BIG = 2**63
EDGES = st.sampled_from([edge + by for edge in (0, 2**31, BIG, 2**100) for by in (-1, 0, 1)])
WHOLE = st.integers() | EDGES | EDGES.map(lambda number: -number)
"""Integers, with those about where a column ends."""

SCALARS = st.one_of(
    st.none(), st.booleans(), WHOLE, st.floats(allow_nan=False, allow_infinity=False), st.text(), AWKWARD
)
HUGE = st.integers(1, 30_000).map(lambda bits: 2**bits)
"""Up to 9,031 digits: more than Python reads back without being told to."""
BROKEN = st.floats().filter(lambda number: number - number != 0) | st.text(ANY_CHARACTER, min_size=1) | HUGE
"""NaN, infinities, lone surrogates, numbers of thousands of digits, and some text that is fine."""


def json_of(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """JSON data with those scalars and keys."""
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


JSON = json_of(SCALARS, st.text() | AWKWARD)
ALMOST_JSON = json_of(SCALARS | BROKEN, st.text(ANY_CHARACTER))


def nested(depth: int, inner: Any = 0) -> Any:
    """Lists and mappings in each other, so many levels of them."""
    value = inner
    for level in range(depth):
        value = {"]}": value, "[": '{[\\"'} if level % 2 else [value, []][: 1 + level % 3]
    return value


ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
INSTANTS = st.datetimes(timezones=ZONES | st.just(UTC))
NAIVE = st.datetimes()
STORABLE = st.datetimes(datetime(1678, 1, 2), datetime(2261, 12, 30), timezones=ZONES | st.just(UTC))  # noqa: DTZ001
