"""The prefix that names a meter's tables (spend.md 1.2)."""

from __future__ import annotations

import re
from typing import Final

from engine.errors import ValidationError

DEFAULT_PREFIX: Final = "agentos_spend"
_PATTERN: Final = re.compile(r"[a-z][a-z0-9_]{0,37}", re.ASCII)
_TAKEN: Final = "spend"  # its index names would be the default prefix's


def check_prefix(prefix: str) -> str:
    """The prefix itself; ValidationError naming `table_prefix`, before any SQL text exists."""
    if not isinstance(prefix, str) or not _PATTERN.fullmatch(prefix):
        raise ValidationError(
            "table_prefix",
            (f"must be a lower-case letter and up to 37 letters, digits or underscores, not {prefix!r:.60}",),
        )
    if prefix == _TAKEN:
        raise ValidationError(
            "table_prefix", (f"must not be {_TAKEN!r}: the default's indexes have its names",)
        )
    return prefix
