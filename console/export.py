"""The rows of a window as a file of this machine: CSV or JSON lines.

Every field of a row is written, not only the columns shown. Times are ISO-8601 in UTC to the microsecond, durations
seconds with six decimals, integers whole. JSON lines are exact to the byte; in CSV what a terminal could obey
stands as a visible escape, for such files end up on one.
"""

from __future__ import annotations

import csv
import io
import os
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.present import safe
from console.read.documents import Raw, as_json, document, instant, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from console.read.documents import Document

_OWNER_ONLY = 0o600


class Form(StrEnum):
    """A file's form, as the end of its name says."""

    CSV = ".csv"
    JSONL = ".jsonl"


class ExportError(ValueError):
    """No file was written; the message says why and what would do."""


def suggestion(name: str, form: Form, as_of: datetime) -> str:
    """A name to begin with."""
    return f"holdwatch-{name}-{as_of:%Y%m%dT%H%M%SZ}{form.value}"


def file_of(text: str) -> tuple[Path, Form]:
    """The file that a typed name means; ExportError for one that is no form of ours."""
    path = Path(text.strip()).expanduser()
    if path.suffix not in list(Form) or not path.stem:
        raise ExportError(f"{text.strip()!r} must end in {' or '.join(Form)}; the end says the form")
    return path.absolute(), Form(path.suffix)


def write(path: Path, form: Form, rows: Sequence[Any]) -> Path:
    """Write the rows to a file that is not there yet, for its owner alone; ExportError if that cannot be. Blocks."""
    return write_text(path, text_of(form, rows))


def write_text(path: Path, text: str) -> Path:
    """The same, of a text that is made already."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        with open(descriptor, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - of a descriptor
            file.write(text)
    except FileExistsError as error:
        raise ExportError(f"{path} is there already and is left as it is; give another name") from error
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror}; give another name") from error
    return path


def text_of(form: Form, rows: Sequence[Any]) -> str:
    """The file's whole text."""
    documents = [document(row) for row in rows]
    if form is Form.JSONL:
        return "".join(f"{as_json(each)}\n" for each in documents)
    flat = [dict(_flat(each)) for each in documents]
    titles = list(dict.fromkeys(title for each in flat for title in each))
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(titles)
    writer.writerows([each.get(title, "") for title in titles] for each in flat)
    return lines.getvalue()


def _flat(made: Document, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Field by field; a record within a record gives its fields, with its name and a dot before them."""
    for name, value in made.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _cell(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, timedelta):
        return seconds(value)
    if isinstance(value, Raw):
        return _harmless(value.text)
    if isinstance(value, str):
        return _harmless(value)
    return as_json(value)


def _harmless(text: str) -> str:
    return safe(text, len(text))
