"""Evidence as one option gives it: `kind=provider console,ref=req_1,observed=5m ago,shows=not spent`.

Then `covers=` since when the source has records, and `file=` one that was looked at: kept by its SHA-256.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

from console.acting.evidence_file import digest
from console.acting.observed import seen_at
from console.acting.resolving import Evidence, EvidenceKind, Shows

if TYPE_CHECKING:
    from datetime import datetime
    from enum import StrEnum

    from console.acting.resolving import EvidenceFile

    Word = TypeVar("Word", bound="StrEnum")

NEEDED: Final = ("kind", "ref", "observed", "shows")
FIELDS: Final = (*NEEDED, "covers", "file")
_NEXT: Final = re.compile(rf",(?=(?:{'|'.join(FIELDS)})=)")
"""A comma ends a value only where another field begins: references hold commas."""


def evidence_of(text: str, now: datetime) -> Evidence:
    """One item; ValueError with what is wrong. `now` is the store's time; reads the file, and blocks meanwhile."""
    parts = _parts(text)
    missing = [name for name in NEEDED if not parts.get(name, "").strip()]
    if missing:
        raise ValueError(f"{missing[0]}= is missing; write {','.join(f'{name}=...' for name in NEEDED)}")
    return Evidence(
        _word("kind", parts["kind"], EvidenceKind),
        parts["ref"].strip(),
        _at("observed", parts["observed"], now),
        _word("shows", parts["shows"], Shows),
        _at("covers", parts["covers"], now) if "covers" in parts else None,
        _file(parts["file"]) if "file" in parts else None,
    )


def _parts(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in _NEXT.split(text):
        name, equals, value = part.partition("=")
        if not equals or name not in FIELDS:
            raise ValueError(
                f"{part[:60]!r} is no field; there are {', '.join(f'{each}=' for each in FIELDS)}"
            )
        if name in found:
            raise ValueError(f"{name}= stands there twice")
        found[name] = value
    return found


def _word(name: str, text: str, words: type[Word]) -> Word:
    plain = text.strip().lower().replace("-", " ").replace("_", " ")
    for each in words:
        if plain == each.value:
            return each
    raise ValueError(f"{name}={text[:60]}: there are {', '.join(words)}")


def _at(name: str, text: str, now: datetime) -> datetime:
    try:
        return seen_at(text, now)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _file(path: str) -> EvidenceFile:
    try:
        return digest(path)
    except ValueError as error:
        raise ValueError(f"file: {path[:200]} {error}") from error
