"""A cursor is opaque text: what was encoded comes back, anything else is refused, whatever a caller sends."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.errors import ValidationError
from engine.paging import check_limit, decode_cursor, encode_cursor
from tests.property.values import ANY_CHARACTER, JSON, THOROUGHLY, VALID_IDS, WHOLE

if TYPE_CHECKING:
    from engine.paging import Key

PARTS = st.lists(st.integers(-(2**63) + 1, 2**63 - 1) | VALID_IDS, min_size=1, max_size=4).map(tuple)
KINDS = st.lists(st.sampled_from([int, str]), max_size=4)


def as_cursor(value: object) -> str:
    """What a forger would send."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@THOROUGHLY
@given(key=PARTS)
def test_a_key_comes_back_whole(key: Key) -> None:
    cursor = encode_cursor(*key)
    assert decode_cursor(cursor, *map(type, key)) == key
    assert cursor.isascii()
    assert not set(cursor) & set("+/=&?# ")


@THOROUGHLY
@given(first=PARTS, second=PARTS)
def test_two_keys_have_two_cursors(first: Key, second: Key) -> None:
    assert (encode_cursor(*first) == encode_cursor(*second)) is (first == second)


@THOROUGHLY
@given(key=PARTS, kinds=KINDS)
def test_a_cursor_of_another_listing_is_refused(key: Key, kinds: list[type]) -> None:
    if list(map(type, key)) == kinds:
        assert decode_cursor(encode_cursor(*key), *kinds) == key
        return
    with pytest.raises(ValidationError) as caught:
        decode_cursor(encode_cursor(*key), *kinds)
    assert caught.value.field == "after"


@THOROUGHLY
@given(cursor=st.text(ANY_CHARACTER) | st.text("ABCabc019-_=+/") | JSON.map(as_cursor), kinds=KINDS)
@example(cursor=as_cursor([2**64]), kinds=[int])
@example(cursor=as_cursor([True]), kinds=[int])
@example(cursor=as_cursor(["\ud800"]), kinds=[str])
@example(cursor=as_cursor(["\0"]), kinds=[str])
@example(cursor=as_cursor("ab"), kinds=[str, str])
@example(cursor=base64.urlsafe_b64encode(b"[" * 9000).decode(), kinds=[int])
@example(cursor=base64.urlsafe_b64encode(b"[" + b"9" * 5000 + b"]").decode(), kinds=[int])
def test_garbage_is_refused_or_is_a_key_that_a_statement_can_take(cursor: str, kinds: list[type]) -> None:
    try:
        key = decode_cursor(cursor, *kinds)
    except ValidationError:
        return  # Refused, as most garbage is.
    assert list(map(type, key)) == kinds
    for part in key:
        if isinstance(part, str):
            assert "\0" not in part
            part.encode()
        else:
            assert -(2**63) <= part < 2**63


@THOROUGHLY
@given(limit=WHOLE, most=st.integers(1, 1000))
def test_a_limit_is_between_one_and_the_most(limit: int, most: int) -> None:
    if 1 <= limit <= most:
        assert check_limit(limit, most) == limit
        return
    with pytest.raises(ValidationError) as caught:
        check_limit(limit, most)
    assert caught.value.field == "limit"
