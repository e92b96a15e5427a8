"""What each context was connected to when last seen: a small file of this machine, without secrets."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from console.identity import Seen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LARGEST: Final = 1_048_576
"""Bytes of the file; a larger one is not ours."""


class Memory:
    """The file's content. `read` and `note` block shortly; a file that cannot be read is an empty one."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def read(self) -> dict[str, Seen]:
        """What was seen, by the contexts' names."""
        try:
            with self.file.open("rb") as file:
                content: Any = json.loads(file.read(LARGEST))
            return {name: _seen(entry) for name, entry in content.items()}
        except (OSError, ValueError, AttributeError, KeyError, TypeError):
            return {}  # not there yet, or written by something else: then nothing was seen

    def note(self, name: str, seen: Seen) -> None:
        """Remember what a context is connected to now; raises OSError where that cannot be written."""
        write_whole(self.file, _document({**self.read(), name: seen}))


def write_whole(file: Path, content: Mapping[str, Any]) -> None:
    """Put a document in the place of a file, in one step or not at all; raises OSError. Blocks shortly."""
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_name(f"{file.name}.{uuid4().hex}")
    try:
        written.write_text(json.dumps(content, indent=1), encoding="utf-8")
        os.replace(written, file)  # noqa: PTH105 - in one step, or not at all
    finally:
        with suppress(FileNotFoundError):  # it stands under its own name now
            written.unlink()


def default_memory() -> Memory:
    """The memory of this user on this machine."""
    from platformdirs import user_state_path

    return Memory(user_state_path("holdwatch") / "contexts.json")


def _document(entries: Mapping[str, Seen]) -> dict[str, dict[str, str]]:
    return {
        name: {
            "server": seen.server,
            "database": seen.database,
            "role": seen.role,
            "at": seen.at.isoformat(),
        }
        for name, seen in entries.items()
    }


def _seen(entry: Any) -> Seen:
    at = datetime.fromisoformat(entry["at"])
    if at.tzinfo is None:
        raise ValueError("a time without its zone")
    return Seen(str(entry["server"]), str(entry["database"]), str(entry["role"]), at)
