"""The file that a SQLite store was opened on: its path may come to name another one, and SQLite does not look.

A connection to a file that was removed or replaced goes on working, and what it commits is lost with the file; a new
connection beside it would see the other file.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from engine.errors import ValidationError

_GONE: Final = "the file was removed or replaced while it was open: close this store and open it again"


class Anchor:
    """A path, and from the first connection on the one file that it must go on naming."""

    def __init__(self, path: str) -> None:
        self.path = absolute(path)
        self._file: tuple[int, int] | None = None

    def check(self) -> None:
        """sqlite3.OperationalError once the path names another file, or none."""
        if self._file is not None and self._named() != self._file:
            raise sqlite3.OperationalError(_GONE)

    def hold(self) -> None:
        """A connection stands: from now on it must be this file."""
        if self._file is None:
            self._file = self._named()

    def _named(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)  # noqa: PTH116 - a Path costs ten times as much, and every write asks
        except OSError:
            return None
        return found.st_dev, found.st_ino


def absolute(path: str) -> str:
    """The path as it reads now: neither a later change of folder nor SQLite's names for other things move it."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ValidationError("url", ("names no file: it holds a lone surrogate",)) from error
    if "\0" in path:
        raise ValidationError("url", ("names no file: it holds U+0000",))
    try:
        return os.path.join(Path.cwd(), path)  # noqa: PTH118 - verbatim behind the folder: a Path would tidy it
    except FileNotFoundError as error:
        raise ValidationError("url", ("is a relative path, and the present folder is gone",)) from error
