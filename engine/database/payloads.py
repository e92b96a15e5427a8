"""A hint on the wire: ASCII JSON `[sender, [thread ids]]`, or `[sender, null]` for every thread."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PAYLOAD: Final = 7_900
"""Bytes; PostgreSQL takes less than 8,000."""
MAX_PAYLOADS: Final = 4
"""Payloads of one sending; ids that need more become one hint for every thread."""


@dataclass(frozen=True, slots=True)
class Hint:
    """`threads` changed, or with None any of them; `sender` is the store that says so."""

    sender: str
    threads: tuple[str, ...] | None


def encode(sender: str, threads: Iterable[str] | None) -> list[str]:
    """The payloads that name these threads, each within `MAX_PAYLOAD`."""
    if threads is None:
        return [json.dumps([sender, None])]
    room = MAX_PAYLOAD - len(json.dumps([sender, []]))
    groups: list[list[str]] = []
    left = 0
    for thread in threads:
        size = len(json.dumps(thread)) + 2
        if not groups or size > left:
            groups.append([])
            left = room
        groups[-1].append(thread)
        left -= size
    if len(groups) > MAX_PAYLOADS:
        return encode(sender, None)
    return [json.dumps([sender, group]) for group in groups]


def decode(payload: str) -> Hint:
    """The hint again; whatever another program sent on the channel counts as "anything may have changed"."""
    try:
        sender, threads = json.loads(payload)
    except (ValueError, TypeError, RecursionError):
        return Hint("", None)
    if not isinstance(sender, str) or not isinstance(threads, list):
        return Hint(str(sender), None)
    return Hint(sender, tuple(str(thread) for thread in threads))
