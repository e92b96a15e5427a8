"""Opaque keyset cursors and page limits. A cursor is a position, not an identity: it survives its row."""

from __future__ import annotations

import base64
import binascii
import json

from engine.arguments import of_kind, whole
from engine.errors import ValidationError

MAX_NUMBER = 2**63 - 1  # that a stored key can hold

Key = tuple[int | str, ...]


def encode_cursor(*key: int | str) -> str:
    """The opaque text of a key's parts."""
    raw = json.dumps(key, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decode_cursor(cursor: str, *kinds: type) -> Key:
    """The parts again; ValidationError unless the text decodes to exactly these kinds."""
    of_kind("after", cursor, str)
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        key = json.loads(raw)
        json.dumps(key, ensure_ascii=False).encode()
    except (ValueError, binascii.Error, RecursionError):
        key = None
    if (
        not isinstance(key, list)
        or [type(part) for part in key] != list(kinds)
        or not all(map(_storable, key))
    ):
        raise ValidationError("after", ("is not a cursor of this listing; start again without one",))
    return tuple(key)


def _storable(part: int | str) -> bool:
    return "\0" not in part if isinstance(part, str) else abs(part) <= MAX_NUMBER


def check_limit(limit: int, most: int) -> int:
    """The limit itself, or ValidationError when it lies outside 1 to `most`."""
    if not 1 <= whole("limit", limit) <= most:
        raise ValidationError("limit", (f"must lie between 1 and {most}, not {limit}",))
    return limit
