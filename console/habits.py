"""What the operator chose with a key and wants to find again: a small file of this machine beside the memory of
contexts (console.md F7, row 70).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from console.memory import LARGEST, write_whole
from console.times import Telling

if TYPE_CHECKING:
    from pathlib import Path

_TIME: Final = "time"


class Habits:
    """The file's content. Both verbs block shortly; a file that cannot be read says nothing."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def telling(self) -> Telling | None:
        """How times were last told by choice; None where nothing was chosen."""
        found = self._read().get(_TIME)
        return Telling(found) if found in list(Telling) else None

    def keep(self, telling: Telling | None) -> None:
        """Remember a choice, or with None that it is left to the configuration again; raises OSError."""
        content = self._read()
        if telling is None:
            content.pop(_TIME, None)
        else:
            content[_TIME] = telling.value
        write_whole(self.file, content)

    def _read(self) -> dict[str, Any]:
        try:
            with self.file.open("rb") as file:
                content: Any = json.loads(file.read(LARGEST))
        except (OSError, ValueError):
            return {}  # not there yet, or written by something else: then nothing was chosen
        return content if isinstance(content, dict) else {}


def default_habits() -> Habits:
    """The habits of this user on this machine."""
    from platformdirs import user_state_path

    return Habits(user_state_path("holdwatch") / "habits.json")
